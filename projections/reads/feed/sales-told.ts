import type { Address, Hex } from "viem";
import { seaport } from "../../../abis/deployments.ts";
import type {
  FulfilledOrder,
  OrdersMatched,
  OrderTransaction,
  ReceivedItem,
  SeaportVersion,
  SpentItem,
} from "../../exchanges/seaport/order-facts.ts";
import { type Sale, translateSales } from "../../exchanges/seaport/trades.ts";
import { factKind } from "../../log/fact-kind.ts";
import type { Told } from "./event.ts";
import type { FeedFact } from "./fact.ts";
import { placeOf } from "./told.ts";

type Payload = {
  zone: Address;
  offer: SpentItem[];
  consideration: ReceivedItem[];
  sender: Address;
  calldataTail: Hex | null;
};

const versions = new Map<Address | null, SeaportVersion>();
for (const version of ["1.1", "1.4", "1.5", "1.6"] as const)
  versions.set(seaport[version], version);

export type SalesRules = {
  /** This market's, by which its sales are known. */
  readonly feeRecipient: Address;
  /** The NFT contract that an adapter stands for. */
  readonly standsFor: (chainId: number, contract: Address) => Address;
};

/**
 * The sales that order facts of one transaction make. What cannot be translated makes none: the projection puts such a
 * fact aside, and the feed goes on.
 */
export function tellSales(facts: readonly FeedFact[], rules: SalesRules): Told[] {
  const sorted = facts.toSorted((one, other) => (one.logIndex ?? 0) - (other.logIndex ?? 0));
  const fulfilled = sorted.filter(({ kind }) => kind === factKind.order_fulfilled);
  const [first] = fulfilled;
  if (first === undefined) return [];
  try {
    const transaction = transactionOf(sorted, first);
    return translateSales(transaction, rules.feeRecipient).map((sale) => {
      return tellSale(sale, first, rules);
    });
  } catch {
    return [];
  }
}

function transactionOf(facts: readonly FeedFact[], first: FeedFact): OrderTransaction {
  const { sender, calldataTail } = first.payload as Payload;
  if (first.txHash === null) throw new Error(`fact ${first.position} names no transaction`);
  return {
    chainId: first.chainId,
    hash: first.txHash,
    sender,
    calldataTail,
    orders: facts.filter(({ kind }) => kind === factKind.order_fulfilled).map(orderOf),
    matches: facts.filter(({ kind }) => kind === factKind.orders_matched).map(matchOf),
  };
}

function orderOf(fact: FeedFact): FulfilledOrder {
  const { contract: exchange, from: offerer, to: recipient, logIndex, orderHash } = fact;
  const version = versions.get(exchange);
  if (!version || !exchange || !offerer || !recipient || logIndex === null || !orderHash)
    throw new Error(`fact ${fact.position} is no fill of a known exchange`);
  const { zone, offer, consideration } = fact.payload as Payload;
  return { logIndex, orderHash, exchange, version, offerer, recipient, zone, offer, consideration };
}

function matchOf(fact: FeedFact): OrdersMatched {
  const { contract: exchange, logIndex } = fact;
  if (!exchange || logIndex === null) throw new Error(`fact ${fact.position} has no place`);
  return { logIndex, exchange, orderHashes: (fact.payload as { orderHashes: Hex[] }).orderHashes };
}

function tellSale(sale: Sale, fact: FeedFact, { standsFor }: SalesRules): Told {
  const { saleId, side, marketplace, bundle } = sale;
  return {
    ...placeOf(fact),
    type: "sale",
    contract: standsFor(fact.chainId, sale.contract),
    tokenId: BigInt(sale.tokenId),
    quantity: sale.quantity,
    from: sale.seller,
    to: sale.buyer,
    priceWei: sale.priceWei,
    totalWei: sale.totalWei,
    currency: sale.currency,
    orderHash: sale.orderHash,
    sale: { saleId, side, marketplace, bundleSize: bundle?.size ?? null },
    logIndex: sale.logIndex,
  };
}
