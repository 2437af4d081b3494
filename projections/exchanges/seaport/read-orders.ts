import type { Address, Hex } from "viem";
import { seaport } from "#abis/deployments.ts";
import { factKind } from "#projections/log/fact-kinds.ts";
import type { ExchangeFact, ExchangeTransaction } from "../model/exchange.ts";
import type { FulfilledOrder, OrdersMatched, OrderTransaction, ReceivedItem, SeaportVersion, SpentItem } from "./order-facts.ts";

export const versions: ReadonlyMap<Address, SeaportVersion> = new Map(
  (["1.1", "1.4", "1.5", "1.6"] as const).map((version) => [seaport[version], version]),
);

type FulfilledPayload = {
  zone: Address;
  offer: SpentItem[];
  consideration: ReceivedItem[];
  sender: Address;
  calldataTail: Hex | null;
};

/** Null for a match without its fulfilments, which are recorded later. */
export function orderTransaction({
  chainId,
  hash,
  facts,
}: ExchangeTransaction): OrderTransaction | null {
  const fulfilled = facts.filter(({ kind }) => kind === factKind.order_fulfilled);
  const [first] = fulfilled;
  if (first === undefined) return null;
  const { sender, calldataTail } = first.payload as FulfilledPayload;
  const matched = facts.filter(({ kind }) => kind === factKind.orders_matched);
  return {
    chainId,
    hash,
    sender,
    calldataTail,
    orders: fulfilled.map(fulfilledOrder),
    matches: matched.map(ordersMatched),
  };
}

function fulfilledOrder(fact: ExchangeFact): FulfilledOrder {
  const { contract: exchange, from: offerer, to: recipient, logIndex, orderHash } = fact;
  const version = versions.get(exchange);
  if (version === undefined) throw new Error(`no Seaport known at ${exchange}`);
  if (!offerer || !recipient || !orderHash) throw new Error(`incomplete fill at log ${logIndex}`);
  const { zone, offer, consideration } = fact.payload as FulfilledPayload;
  return { logIndex, orderHash, exchange, version, offerer, recipient, zone, offer, consideration };
}

function ordersMatched({ logIndex, contract, payload }: ExchangeFact): OrdersMatched {
  const { orderHashes } = payload as { orderHashes: Hex[] };
  return { logIndex, exchange: contract, orderHashes };
}
