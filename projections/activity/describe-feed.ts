import { type Address, zeroAddress } from "viem";
import { z } from "zod";
import { burnAddresses } from "../domain/burn-address.ts";
import { type ExchangeFact, exchangeTransaction } from "../exchanges/model/exchange.ts";
import { type TranslatedSale, translateSales } from "../exchanges/translate-sales.ts";
import { factKind } from "../log/fact-kinds.ts";
import type { EventContent, FeedFact, KnownOrder } from "./feed-events.ts";

/** The event of a transfer, a cancel, changed metadata or a submitted order. `orders` are submitted orders that a cancel may be of. */
export function describeFact(fact: FeedFact, orders: readonly KnownOrder[]): EventContent {
  switch (fact.kind) {
    case factKind.order_submitted:
      return describeOrder(fact);
    case factKind.token_metadata_fetched:
    case factKind.contract_metadata_fetched:
      return {
        ...commonContent(fact),
        type: "metadata",
        contract: fact.contract,
        tokenId: fact.tokenId,
      };
    case factKind.order_cancelled:
    case factKind.counter_incremented:
      return describeCancel(fact, orders);
    default:
      return describeTransfer(fact);
  }
}

/** The fields that every event takes from its fact; the others are null. */
function commonContent(fact: FeedFact): Omit<EventContent, "type"> {
  return {
    chainId: fact.chainId,
    contract: null,
    tokenId: null,
    quantity: null,
    from: fact.from,
    to: null,
    priceWei: null,
    totalWei: null,
    currency: null,
    orderHash: null,
    sale: null,
    order: null,
    startsAt: null,
    expiresAt: null,
    txHash: fact.txHash,
    logIndex: fact.logIndex,
    subIndex: fact.logIndex === null ? null : (fact.subIndex ?? 0),
    blockNumber: fact.blockNumber,
    blockHash: fact.blockHash,
    timestamp: fact.timestamp,
  };
}

function describeTransfer(fact: FeedFact): EventContent {
  const { contract, tokenId, to } = fact;
  const quantity = fact.kind === factKind.erc721_transfer ? 1n : fact.amount;
  return { ...commonContent(fact), type: transferType(fact), contract, tokenId, quantity, to };
}

function transferType({ from, to }: FeedFact): EventContent["type"] {
  if (from === zeroAddress) return "mint";
  return to !== null && burnAddresses.has(to) ? "burn" : "transfer";
}

/** Contract and token are known of orders that the log held before the cancel. */
function describeCancel(fact: FeedFact, orders: readonly KnownOrder[]): EventContent {
  const order = orders.find(
    ({ position, chainId, orderHash }) =>
      orderHash === fact.orderHash && chainId === fact.chainId && position < fact.position,
  );
  return {
    ...commonContent(fact),
    type: "cancel",
    contract: order?.contract ?? null,
    tokenId: order?.tokenId ?? null,
    orderHash: fact.orderHash,
  };
}

const item = z.object({ token: z.string().transform((token) => token as Address) });

/** The part of an order's payload that the feed shows. */
const submitted = z.object({
  components: z.object({
    offer: z.array(item),
    consideration: z.array(item),
    startTime: z.string(),
    endTime: z.string(),
  }),
  terms: z.object({ side: z.enum(["ask", "bid"]), unitPriceWei: z.string() }),
});

function describeOrder(fact: FeedFact): EventContent {
  const { components, terms } = submitted.parse(fact.payload);
  const isAsk = terms.side === "ask";
  const [paid] = isAsk ? components.consideration : components.offer;
  const priceWei = BigInt(terms.unitPriceWei);
  return {
    ...commonContent(fact),
    type: isAsk ? "listing" : "offer",
    contract: fact.contract,
    tokenId: fact.tokenId,
    quantity: fact.amount,
    priceWei,
    totalWei: priceWei * (fact.amount ?? 1n),
    currency: paid?.token ?? null,
    orderHash: fact.orderHash,
    startsAt: dateOf(components.startTime),
    expiresAt: dateOf(components.endTime),
  };
}

const latestMs = 8.64e15;

export function dateOf(seconds: string): Date {
  return new Date(Math.min(Number(seconds) * 1_000, latestMs));
}

export type SalesRules = {
  /** This market's, by which its sales are known. */
  readonly feeRecipient: Address;
  /** The NFT contract that an adapter stands for. */
  readonly standsFor: (chainId: number, contract: Address) => Address;
};

/**
 * The sales that sale facts of one transaction make. Facts that cannot be translated make none: the projection
 * quarantines them, and the feed continues.
 */
export function describeSales(facts: readonly FeedFact[], rules: SalesRules): EventContent[] {
  const sorted = facts.toSorted((one, other) => (one.logIndex ?? 0) - (other.logIndex ?? 0));
  const [first] = sorted;
  if (first === undefined || first.txHash === null) return [];
  const { chainId, txHash: hash } = first;
  try {
    const transaction = exchangeTransaction(chainId, hash, sorted.map(exchangeFact));
    return translateSales(transaction, rules.feeRecipient).map((sale) =>
      describeSale(sale, first, rules),
    );
  } catch {
    return [];
  }
}

function exchangeFact({ contract, logIndex, ...fact }: FeedFact): ExchangeFact {
  if (contract === null || logIndex === null) {
    throw new Error(`fact ${fact.position} has no contract or log index`);
  }
  const { kind, from, to, orderHash, payload } = fact;
  return { kind, logIndex, contract, from, to, orderHash, payload };
}

function describeSale(
  sale: TranslatedSale,
  fact: FeedFact,
  { standsFor }: SalesRules,
): EventContent {
  const { saleId, side, marketplace, via, bundle } = sale;
  const protocol = { name: sale.protocol, version: sale.protocolVersion, address: sale.exchange };
  return {
    ...commonContent(fact),
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
    sale: { saleId, side, marketplace, protocol, via, bundleSize: bundle?.size ?? null },
    logIndex: sale.logIndex,
    subIndex: null,
  };
}
