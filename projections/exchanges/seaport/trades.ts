import type { Address } from "viem";
import type { ExchangeTransaction } from "../model/exchange.ts";
import type { Trade } from "../model/trade.ts";
import { type Flow, groupOrders } from "./flows.ts";
import type { FulfilledOrder, OrderTransaction } from "./order-facts.ts";
import { type PricedFlows, priceGroup, sellerOf } from "./pricing.ts";
import { orderTransaction } from "./read-orders.ts";
import { settlements } from "./settlements.ts";

/** Seaport's trades of a transaction, in the order of their makers' logs. */
export function tradesOf(facts: ExchangeTransaction): Trade[] {
  const transaction = orderTransaction(facts);
  return transaction === null ? [] : tradesOfOrders(transaction);
}

export function tradesOfOrders(transaction: OrderTransaction): Trade[] {
  return settlements(transaction.orders, transaction.matches)
    .flatMap(groupOrders)
    .flatMap(priceGroup)
    .filter((priced) => !isMint(priced))
    .map((priced) => tradeOf(priced, transaction.sender))
    .sort((one, other) => one.logIndex - other.logIndex);
}

/** A contract that offers its own tokens through Seaport mints them. */
function isMint({ flows }: PricedFlows): boolean {
  return flows.some((flow) => sellerOf(flow) === flow.token);
}

function tradeOf({ flows, currency, totalWei, fees }: PricedFlows, sender: Address): Trade {
  const { maker, side } = makerOf(flows, sender);
  return {
    items: flows.map((flow) => ({
      contract: flow.token,
      tokenId: flow.identifier,
      standard: flow.standard,
      units: flow.units,
      seller: sellerOf(flow),
      buyer: flow.recipient,
    })),
    currency,
    totalWei,
    fees,
    side,
    exchange: maker.exchange,
    protocolVersion: maker.version,
    orderHash: maker.orderHash,
    logIndex: maker.logIndex,
    zones: flows
      .flatMap(({ giver, taker }) => [giver, taker])
      .flatMap((order) => (order === null ? [] : [order.zone])),
  };
}

/** Of two matched orders the maker's is the one that is not the caller's, else the earlier in the log. */
function makerOf(
  flows: readonly Flow[],
  sender: Address,
): { maker: FulfilledOrder; side: Trade["side"] } {
  const [flow] = flows;
  const maker = flow?.giver ?? flow?.taker;
  if (!flow || !maker) throw new Error("a trade without an order");
  const { giver, taker } = flow;
  if (!giver || !taker || giver === taker) return { maker, side: giver ? "ask" : "bid" };
  const isCallers = (order: FulfilledOrder) =>
    order.offerer === order.recipient || order.offerer === sender;
  const giverIsMaker =
    isCallers(giver) === isCallers(taker) ? giver.logIndex < taker.logIndex : isCallers(taker);
  return giverIsMaker ? { maker: giver, side: "ask" } : { maker: taker, side: "bid" };
}
