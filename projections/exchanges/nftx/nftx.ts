import { type Address, zeroAddress } from "viem";
import {
  nftxFactories,
  nftxFactoryEvents,
  nftxNamedVaultEvents,
  nftxV2VaultEvents,
  nftxV3VaultEvents,
} from "#abis/nftx.ts";
import {
  type Exchange,
  type ExchangeTransaction,
  eventsOf,
  type Fill,
  type PlacedEvent,
  sourceOf,
  type TokenTransfer,
  type Trade,
  translateEvents,
  UnresolvableEvent,
} from "../model/exchange.ts";
import { type LogRange, nftTransfers, payments, sumOfAmounts } from "../model/payments.ts";

/** NFTs put into a vault or taken out of it, where the vault's coins were sold or bought in the same transaction. */
function tradesOf(transaction: ExchangeTransaction): Fill[] {
  const { transfers } = transaction;
  const events = eventsOf(transaction);
  return translateEvents(transaction, (event) => {
    const version = event.source === "NftxV2" ? "2" : "3";
    if (event.factory !== nftxFactories[version]) throw new UnresolvableEvent("unknown_pool");
    const isSale = event.event === "Redeemed";
    const price = swapOf(transfers, event.contract, isSale);
    if (price === null) return null;
    // One swap may pay for several changes of a vault: no log tells which part.
    const changes = events.filter(({ contract }) => contract === event.contract);
    if (changes.length > 1) throw new UnresolvableEvent("price_unknown");
    return {
      items: itemsOf(event, isSale, transfers),
      ...price,
      fees: [],
      side: isSale ? "ask" : "bid",
      exchange: event.contract,
      protocolVersion: version,
      orderHash: null,
      logIndex: event.logIndex,
      zones: [],
    };
  });
}

const all: LogRange = { after: -1, before: Number.POSITIVE_INFINITY };

/**
 * What was paid for the vault's coins, or with them: who gave such coins to somebody, or took them, and was paid, or
 * paid, in another coin for it. The vault makes and destroys them too, which is no trade.
 */
function swapOf(
  transfers: readonly TokenTransfer[],
  vault: Address,
  isSale: boolean,
): Pick<Trade, "currency" | "totalWei"> | null {
  const coins = payments(transfers, { ...all, currency: vault }).filter(
    ({ from, to }) => ![from, to].some((party) => party === zeroAddress || party === vault),
  );
  for (const market of new Set(coins.map(({ from, to }) => (isSale ? from : to)))) {
    const paid = payments(transfers, { ...all, ...(isSale ? { to: market } : { from: market }) });
    const [first] = paid.filter(({ contract }) => contract !== vault);
    if (first === undefined) continue;
    const inCoin = paid.filter(({ contract }) => contract === first.contract);
    return { currency: first.contract, totalWei: sumOfAmounts(inCoin) };
  }
  return null;
}

/** The NFTs that moved out of the vault, or into it from whoever had them before the transaction. */
function itemsOf(
  { args, contract: vault, logIndex }: PlacedEvent,
  isSale: boolean,
  transfers: readonly TokenTransfer[],
): Trade["items"] {
  const { nftIds } = args as { nftIds: string[] };
  const ofVault = nftTransfers(transfers, {
    after: -1,
    before: isSale ? Infinity : logIndex,
  }).filter(({ from, to, tokenId }) => (isSale ? from : to) === vault && nftIds.includes(tokenId));
  if (ofVault.length < nftIds.length) throw new UnresolvableEvent("transfer_missing");
  return ofVault.map((transfer) => {
    const { contract, tokenId, amount, to: buyer } = transfer;
    const seller = isSale ? vault : firstHolder(transfer, transfers);
    return { contract, tokenId, units: BigInt(amount), seller, buyer, transfer };
  });
}

/** Who had a token before it went from hand to hand. */
function firstHolder(last: TokenTransfer, transfers: readonly TokenTransfer[]): Address {
  let holder = last.from;
  for (const one of transfers.slice(0, transfers.indexOf(last)).toReversed()) {
    const isOfToken = one.contract === last.contract && one.tokenId === last.tokenId;
    if (isOfToken && one.to === holder && one.from !== zeroAddress) holder = one.from;
  }
  return holder;
}

/** Vaults change NFTs into coins of their own and back: a sale where such coins are bought or sold with it. */
export const nftx: Exchange = {
  protocol: "nftx",
  marketplace: "nftx",
  sources: [
    sourceOf("nftx", "NftxV2Factory", nftxFactoryEvents, []),
    sourceOf("nftx", "NftxV2", nftxV2VaultEvents),
    sourceOf("nftx", "NftxV3Factory", nftxFactoryEvents, []),
    sourceOf("nftx", "NftxV3NamedFactory", nftxNamedVaultEvents, []),
    sourceOf("nftx", "NftxV3", nftxV3VaultEvents),
  ],
  tradesOf,
};
