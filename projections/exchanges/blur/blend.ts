import { type Address, zeroAddress } from "viem";
import { blur } from "#abis/blur.ts";
import type { TokenTransfer } from "#projections/facts/token-transfer.ts";
import type { ExchangeTransaction } from "../model/exchange.ts";
import { createTransferMatcher } from "../model/match-transfers.ts";
import type { Fill, Trade } from "../model/trade.ts";
import { type EmittedEvent, eventsOf, translateEvents } from "../model/translate-events.ts";

type BuyLocked = { collection: Address; buyer: Address; seller: Address; tokenId: string };

/** Purchases of tokens out of their loans: the only sales of the lending protocol. */
export function tradesOfBlend(transaction: ExchangeTransaction): Fill[] {
  const { transfers } = transaction;
  const matcher = createTransferMatcher(transfers);
  const places = eventsOf(transaction).map(({ logIndex }) => logIndex);
  return translateEvents(transaction, (event) => {
    const { collection: contract, tokenId, buyer, seller } = event.args as BuyLocked;
    const { logIndex } = event;
    // The lending protocol holds the token, and hands it over after the event.
    const transfer = matcher.after({ contract, tokenId, logIndex, from: blur.blend, to: buyer });
    const item = { contract, tokenId, units: 1n, seller, buyer, transfer };
    return { ...priceOf(event, paymentsOf(event, places, transfers)), items: [item] };
  });
}

/**
 * What left the buyer in the pool's coin: fees before the event, then the debt and the rest after it. Of several
 * purchases each is paid between its event and the next one.
 */
function paymentsOf(
  { logIndex, args }: EmittedEvent,
  places: readonly number[],
  transfers: readonly TokenTransfer[],
): TokenTransfer[] {
  const index = places.indexOf(logIndex);
  const from = index === 0 ? -1 : logIndex;
  const to = places[index + 1] ?? Number.POSITIVE_INFINITY;
  const { buyer } = args as BuyLocked;
  return transfers.filter(
    (one) =>
      one.contract === blur.pool &&
      one.standard === "erc20" &&
      one.from === buyer &&
      one.logIndex > from &&
      one.logIndex < to,
  );
}

function priceOf(
  { contract: exchange, logIndex, args }: EmittedEvent,
  payments: readonly TokenTransfer[],
): Omit<Trade, "items"> {
  const { seller } = args as BuyLocked;
  const fees = payments.filter((one) => one.logIndex < logIndex && one.to !== seller);
  return {
    currency: zeroAddress,
    totalWei: payments.reduce((sum, { amount }) => sum + BigInt(amount), 0n),
    fees: fees.map(({ to, amount }) => ({ recipient: to, wei: BigInt(amount) })),
    side: "ask",
    exchange,
    logIndex,
    protocolVersion: "1",
    orderHash: null,
    zones: [],
  };
}
