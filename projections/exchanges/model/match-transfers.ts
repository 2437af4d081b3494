import type { Address } from "viem";
import type { TokenTransfer } from "#projections/facts/token-transfer.ts";
import { UnresolvableEvent } from "./unresolved-event.ts";

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
