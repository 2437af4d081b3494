import type { Address } from "viem";
import { type ExchangeFact, exchangeTransaction } from "#projections/exchanges/model/exchange.ts";
import { type Sale, translateSales } from "#projections/exchanges/translate-sales.ts";
import { commonContent } from "./describe-fact.ts";
import type { EventContent } from "./event.ts";
import type { FeedFact } from "./fact.ts";

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

function describeSale(sale: Sale, fact: FeedFact, { standsFor }: SalesRules): EventContent {
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
