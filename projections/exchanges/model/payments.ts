import type { Address } from "viem";
import { type FeePayment, type TokenTransfer, UnresolvableEvent } from "./exchange.ts";

/** Logs of a transaction, without both ends. */
export type LogRange = { readonly after: number; readonly before: number };

type PaymentFilter = LogRange & {
  readonly currency?: Address;
  readonly from?: Address;
  readonly to?: Address;
};

/** Transfers of coins in a range of a transaction's logs. */
export function payments(
  transfers: readonly TokenTransfer[],
  { after, before, currency, from, to }: PaymentFilter,
): TokenTransfer[] {
  return transfers.filter(
    (one) =>
      one.tokenId === null &&
      one.logIndex > after &&
      one.logIndex < before &&
      (currency === undefined || one.contract === currency) &&
      (from === undefined || one.from === from) &&
      (to === undefined || one.to === to),
  );
}

/** Transfers of NFTs in a range of a transaction's logs. */
export function nftTransfers(
  transfers: readonly TokenTransfer[],
  { after, before }: LogRange,
): (TokenTransfer & { tokenId: string })[] {
  return transfers.filter(
    (one): one is TokenTransfer & { tokenId: string } =>
      one.tokenId !== null && one.logIndex > after && one.logIndex < before,
  );
}

export function sumOfAmounts(transfers: readonly TokenTransfer[]): bigint {
  return transfers.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
}

type Payment = {
  readonly buyer: Address;
  readonly seller: Address;
  readonly currency: Address;
  /** What the event says: without the fees that the buyer pays on top. */
  readonly wei: bigint;
};

/**
 * What the buyer pays in coins in all, and the fees in it: his transfers that follow the one to the seller. The event's
 * amount where no log tells, which is so of ether.
 */
export function withFeesOnTop(
  transfers: readonly TokenTransfer[],
  range: LogRange,
  { buyer, seller, currency, wei }: Payment,
): { totalWei: bigint; fees: FeePayment[] } {
  const paid = payments(transfers, { ...range, currency, from: buyer });
  const first = paid.findIndex(({ to, amount }) => to === seller && BigInt(amount) === wei);
  if (first < 0) return { totalWei: wei, fees: [] };
  const onTop = paid.slice(first + 1).filter(({ to }) => to !== seller);
  return {
    totalWei: wei + sumOfAmounts(onTop),
    fees: onTop.map(({ to, amount }) => ({ recipient: to, wei: BigInt(amount) })),
  };
}

type WantedTransfer = {
  readonly contract: Address;
  /** Decimal. */
  readonly tokenId: string;
  readonly from?: Address;
  readonly to?: Address;
  /** The event's log. */
  readonly logIndex: number;
};

/** Pairs a transaction's fills with its transfers, each of which delivers one fill. */
export type TransferMatcher = {
  /** The nearest unused transfer of the token before the event. Throws `transfer_missing` or `transfer_mismatch`. */
  readonly before: (wanted: WantedTransfer) => TokenTransfer;
  /** The nearest one after it. */
  readonly after: (wanted: WantedTransfer) => TokenTransfer;
};

export function createTransferMatcher(transfers: readonly TokenTransfer[]): TransferMatcher {
  const used = new Set<TokenTransfer>();
  const take = (wanted: WantedTransfer, candidates: readonly TokenTransfer[]): TokenTransfer => {
    const unused = candidates.filter((one) => isOfToken(one, wanted) && !used.has(one));
    const found = unused.find((one) => isBetween(one, wanted));
    if (found === undefined) {
      throw new UnresolvableEvent(unused.length > 0 ? "transfer_mismatch" : "transfer_missing");
    }
    used.add(found);
    return found;
  };
  return {
    before: (wanted) =>
      take(wanted, transfers.filter(({ logIndex }) => logIndex < wanted.logIndex).toReversed()),
    after: (wanted) =>
      take(
        wanted,
        transfers.filter(({ logIndex }) => logIndex > wanted.logIndex),
      ),
  };
}

function isOfToken(transfer: TokenTransfer, { contract, tokenId }: WantedTransfer): boolean {
  return transfer.contract === contract && transfer.tokenId === tokenId;
}

function isBetween(transfer: TokenTransfer, { from, to }: WantedTransfer): boolean {
  return (from === undefined || transfer.from === from) && (to === undefined || transfer.to === to);
}
