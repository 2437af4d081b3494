import type { Address, Hex } from "viem";
import { archipelagoEvents } from "#abis/archipelago.ts";
import {
  type Exchange,
  type ExchangeTransaction,
  eventsOf,
  type Fill,
  sourceOf,
  translateEvents,
  UnresolvableEvent,
} from "../model/exchange.ts";

type Traded = {
  tradeId: Hex;
  buyer: Address;
  seller: Address;
  /** What the buyer pays; `price` is without the buyer's share of the royalties. */
  cost: string;
  currency: Address;
};
type TokenTraded = { tradeId: Hex; token: Address; tokenId: string };
type Royalty = { tradeId: Hex; recipient: Address; amount: string };

/** Three events with one `tradeId`: royalties, then the trade, then its token. Who sent the transaction took the order. */
function tradesOf(transaction: ExchangeTransaction): Fill[] {
  const events = eventsOf(transaction);
  const named = <Args extends { tradeId: Hex }>(name: string, tradeId: Hex): Args[] =>
    events
      .filter(({ event }) => event === name)
      .map(({ args }) => args as Args)
      .filter((args) => args.tradeId === tradeId);
  return translateEvents(transaction, ({ event, args, contract, logIndex, sender }) => {
    if (event !== "Trade") return null;
    const { tradeId, buyer, seller, cost, currency } = args as Traded;
    const [traded] = named<TokenTraded>("TokenTrade", tradeId);
    if (traded === undefined) throw new UnresolvableEvent("undecodable");
    return {
      items: [{ contract: traded.token, tokenId: traded.tokenId, units: 1n, seller, buyer }],
      currency,
      totalWei: BigInt(cost),
      fees: named<Royalty>("RoyaltyPayment", tradeId).map(({ recipient, amount }) => {
        return { recipient, wei: BigInt(amount) };
      }),
      side: sender === seller ? "bid" : "ask",
      exchange: contract,
      protocolVersion: "1",
      orderHash: null,
      logIndex,
      zones: [],
    };
  });
}

export const archipelago: Exchange = {
  protocol: "archipelago",
  marketplace: "archipelago",
  sources: [sourceOf("archipelago", "Archipelago", archipelagoEvents, ["Trade"])],
  tradesOf,
};
