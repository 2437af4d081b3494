import { maxUint256 } from "viem";
import type { IntakeCode } from "../../../../projections/domain/orders/intake-codes.ts";
import { judgeFees } from "../../../../projections/domain/orders/judge-fees.ts";
import type { MarketTerms } from "../../../../projections/domain/orders/market-terms.ts";
import {
  recognizeBid,
  recognizeListing,
} from "../../../../projections/domain/orders/recognize-order.ts";
import type { RecognizedOrder } from "../../../../projections/domain/orders/recognized-order.ts";
import { isRejection, type Rejection, reject } from "../../../../projections/domain/rejection.ts";
import type { Royalty } from "../../../../projections/domain/royalty.ts";
import type { OrderComponents } from "../../../../projections/domain/seaport/order-components.ts";
import { unanswered } from "../checks/check-order.ts";
import { type Division, divide, draftOrder, type Wish } from "./draft.ts";

/** A wish whose token standard may be unknown: then there is nothing to sign. */
export type UnpricedWish = Omit<Wish, "standard"> & { standard: Wish["standard"] | null };

export type PricedItem = {
  /** Undefined: the chain did not say, so nobody knows how the price divides. */
  royalty: Royalty | null | undefined;
  division: Division | null;
  /** To be signed, once times, salt and counter are filled in; null: nothing can be. */
  components: OrderComponents | null;
};

/** What a price divides into, and the order that says so. */
export function priceItem(
  wish: UnpricedWish,
  terms: MarketTerms,
  royalty: Royalty | null | undefined,
  counter?: bigint,
): PricedItem {
  if (royalty === undefined) return { royalty, division: null, components: null };
  const { standard, unitPriceWei, quantity } = wish;
  const division = divide(unitPriceWei, terms, royalty);
  const fits = division.sellerNetWei > 0n && unitPriceWei * quantity <= maxUint256;
  const components =
    standard !== null && fits ? draftOrder({ ...wish, standard }, terms, royalty, counter) : null;
  return { royalty, division, components };
}

/** The checks of intake on shape and fees, of the order that the maker would sign. */
export function judgeDraft(
  { side, contract, unitPriceWei }: UnpricedWish,
  { royalty, division, components }: PricedItem,
  terms: MarketTerms,
): RecognizedOrder | Rejection<IntakeCode> {
  if (royalty === undefined || division === null) return unanswered();
  if (unitPriceWei === 0n) return reject("zero_price", "The price is 0");
  if (division.sellerNetWei <= 0n) {
    return reject("fees_too_high", "Fee and royalty leave nothing of the price to the seller");
  }
  if (unitPriceWei > terms.bounds.maxPriceWei) {
    return reject("price_too_high", `The price of a unit exceeds ${terms.bounds.maxPriceWei} wei`);
  }
  if (components === null) {
    return reject("unknown_collection", `${contract} is no token contract that is served`);
  }
  const body = { components, signature: "0x", totalOriginalConsiderationItems: null } as const;
  const order = side === "ask" ? recognizeListing(body, terms) : recognizeBid(body, terms);
  if (isRejection(order)) return order;
  const fees = judgeFees(order, terms, royalty);
  return isRejection(fees) ? fees : order;
}
