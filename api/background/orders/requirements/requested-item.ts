import type { Address } from "viem";
import type { ChainId } from "#chains/index.ts";
import type { IntakeCode } from "#projections/domain/intake-codes.ts";
import type { MarketTerms, ParsedOrder, TradeTerms } from "#projections/domain/orders/order-terms.ts";
import type { Rejection } from "#projections/domain/rejection.ts";
import { readKnownContracts } from "#projections/collections/find-collection.ts";
import type { ChainResults } from "#jobs/chain/query-chain.ts";
import type { Market } from "../market/market.ts";
import { type RoyaltyCase, readRoyaltyCases, royaltyFrom } from "../market/royalty.ts";
import { type PricedItem, priceItem, validateDraft } from "./price-item.ts";
import { type RequestedToken, standardOf } from "./requested-token.ts";

export type RequirementsRequest = { market: Market; chainId: ChainId; maker: Address; now: Date };

type Item = {
  contract: Address;
  tokenId: bigint | null;
  quantity: bigint;
  unitPriceWei: bigint;
};

/** An item to list or to bid on, with what is stored about its contract. */
export type RequestedItem<Requested extends Item> = Requested &
  RequestedToken & { maker: Address; royaltyCase: RoyaltyCase };

/** The items in their order. */
export async function readRequestedItems<Requested extends Item>(
  { market: { writer }, chainId, maker }: RequirementsRequest,
  items: readonly Requested[],
): Promise<RequestedItem<Requested>[]> {
  const contracts = items.map(({ contract }) => contract);
  const [known, cases] = await Promise.all([
    readKnownContracts(writer, chainId, contracts),
    readRoyaltyCases(writer, chainId, items),
  ]);
  return items.flatMap((item, index) => {
    const royaltyCase = cases[index];
    return royaltyCase ? [{ ...item, maker, known: known.get(item.contract), royaltyCase }] : [];
  });
}

export type PricedRequest = PricedItem & { standard: TradeTerms["standard"] | null };

/** Prices an item, and validates the order that its maker would sign. */
export function priceRequestedItem(
  side: TradeTerms["side"],
  item: RequestedItem<Item>,
  { results, terms, counter }: { results: ChainResults; terms: MarketTerms; counter: bigint },
): { priced: PricedRequest; order: ParsedOrder | Rejection<IntakeCode> } {
  const standard = standardOf(item, results);
  const intent = { ...item, side, standard };
  const priced = priceItem(intent, terms, royaltyFrom(item.royaltyCase, results), counter);
  return { priced: { standard, ...priced }, order: validateDraft(intent, priced, terms) };
}
