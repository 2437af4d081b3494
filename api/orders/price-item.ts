import { type Address, maxUint256, zeroAddress } from "viem";
import { chainUnavailable } from "#jobs/orders/evaluate-order.ts";
import type { IntakeCode } from "#projections/domain/intake-codes.ts";
import type {
  MarketTerms,
  ParsedOrder,
  TradeFee,
  TradeTerms,
} from "#projections/domain/orders/order-terms.ts";
import { parseBid, parseListing } from "#projections/domain/orders/parse-order.ts";
import { validateFees } from "#projections/domain/orders/validate-terms.ts";
import { isRejection, type Rejection, reject } from "#projections/domain/rejection.ts";
import type { Royalty } from "#projections/domain/royalty.ts";
import {
  draftBidComponents,
  draftListingComponents,
  type Price,
  priceLegs,
} from "#projections/domain/seaport/draft-components.ts";
import type { OrderComponents } from "#projections/domain/seaport/order-components.ts";

/** An intent whose token standard may be unknown: then there is nothing to sign. */
type UnpricedIntent = Omit<DraftIntent, "standard"> & {
  standard: DraftIntent["standard"] | null;
};

export type PricedItem = {
  /** Undefined: unknown, so that the price cannot be split. */
  royalty: Royalty | null | undefined;
  split: PriceSplit | null;
  /** To be signed once times, salt and counter are filled in; null: nothing can be signed. */
  components: OrderComponents | null;
};

/** Splits a price into seller's net and fees, and drafts the order. */
export function priceItem(
  intent: UnpricedIntent,
  terms: MarketTerms,
  royalty: Royalty | null | undefined,
  counter?: bigint,
): PricedItem {
  if (royalty === undefined) return { royalty, split: null, components: null };
  const { standard, unitPriceWei, quantity } = intent;
  const split = splitPrice(unitPriceWei, terms, royalty);
  const fits = split.sellerNetWei > 0n && unitPriceWei * quantity <= maxUint256;
  const components =
    standard !== null && fits ? draftOrder({ ...intent, standard }, terms, royalty, counter) : null;
  return { royalty, split, components };
}

/** Validates shape and fees of the order that the maker would sign, like intake. */
export function validateDraft(
  { side, contract, unitPriceWei, criteria }: UnpricedIntent,
  { royalty, split, components }: PricedItem,
  terms: MarketTerms,
): ParsedOrder | Rejection<IntakeCode> {
  if (royalty === undefined || split === null) return chainUnavailable();
  if (unitPriceWei === 0n) return reject("zero_price", "The price is 0");
  if (split.sellerNetWei <= 0n) {
    return reject("fees_too_high", "Service fee and royalty leave the seller nothing of the price");
  }
  if (unitPriceWei > terms.bounds.maxPriceWei) {
    return reject("price_too_high", `The price of a unit exceeds ${terms.bounds.maxPriceWei} wei`);
  }
  if (components === null) {
    return reject("unknown_collection", `${contract} is not an indexed token contract`);
  }
  const body = { components, signature: "0x", totalOriginalConsiderationItems: null } as const;
  const order =
    side === "ask" ? parseListing(body, terms) : parseBid(body, terms, criteria ?? null);
  if (isRejection(order)) return order;
  const fees = validateFees(order, terms, royalty);
  return isRejection(fees) ? fees : order;
}

/** What a maker wants to sell or buy, and the price per unit. */
type DraftIntent = Pick<
  TradeTerms,
  "side" | "contract" | "standard" | "tokenId" | "criteria" | "quantity" | "unitPriceWei"
> & {
  /** Null: unknown; the order then holds the zero address as a placeholder. */
  maker: Address | null;
};

/** The order without the values its maker chooses: times, salt and an unknown counter are 0. */
function draftOrder(
  intent: DraftIntent,
  terms: MarketTerms,
  royalty: Royalty | null,
  counter = 0n,
): OrderComponents {
  const { contract, standard, tokenId, quantity } = intent;
  const maker = intent.maker ?? zeroAddress;
  const placeholders = { maker, startTime: 0n, endTime: 0n, salt: 0n, counter };
  const price = priceOf(intent.unitPriceWei, terms, royalty);
  if (intent.side === "bid") {
    const criteria = BigInt(intent.criteria?.root ?? 0n);
    const nft =
      tokenId === null ? { standard, contract, criteria } : { standard, contract, tokenId };
    return draftBidComponents({ ...placeholders, nft, quantity, price, currency: terms.currency });
  }
  if (tokenId === null) throw new TypeError("A listing is of one token");
  return draftListingComponents({
    ...placeholders,
    nft: { standard, contract, tokenId },
    quantity,
    price,
  });
}

/** Wei per unit: the fees deducted from a price, and the seller's net. */
type PriceSplit = { sellerNetWei: bigint; fees: readonly TradeFee[] };

function splitPrice(unitPriceWei: bigint, terms: MarketTerms, royalty: Royalty | null): PriceSplit {
  const { sellerNetWei, feeLegs } = priceLegs(priceOf(unitPriceWei, terms, royalty));
  const services = feeLegs.length - (royalty !== null && royalty.royaltyWei > 0n ? 1 : 0);
  const fees = feeLegs.map((leg, index) => ({
    ...leg,
    kind: index < services ? ("service" as const) : ("royalty" as const),
  }));
  return { sellerNetWei, fees };
}

function priceOf(unitPriceWei: bigint, { fee }: MarketTerms, royalty: Royalty | null): Price {
  return { unitPriceWei, fee, royalty };
}
