import { isRejection, type Rejection, reject } from "../../../../projections/domain/rejection.ts";
import { orderParameters, orderQuantity } from "../../../../projections/domain/seaport/fill.ts";
import type { Fulfillment, Partner } from "../../marketplaces/partner.ts";
import { encodePurchase, type Purchase } from "./buy-calldata.ts";
import type { BuyRequest } from "./buy-request.ts";
import type { Offered } from "./find-offered.ts";

type Code =
  | "buyer_required"
  | "bad_amount"
  | "unavailable"
  | "unsupported_order"
  | "unsupported_marketplace"
  | "order_mismatch"
  | "upstream_error";

/**
 * What `buyer` sends to buy a listing whose partner has to allow each fill: fetched at this moment, and taken only where
 * it fills exactly that order, for its price.
 */
export async function buyFromPartner(
  partner: Partner | undefined,
  { row, order }: Offered,
  { chainId, buyer, units: asked, tag }: Omit<BuyRequest, "maxWei"> & { tag: Purchase["data"] },
): Promise<Purchase | Rejection<Code>> {
  if (partner?.fetchFulfillment === undefined) {
    return reject(
      "unsupported_marketplace",
      `Listings of ${row.marketplace} cannot be bought here`,
    );
  }
  if (buyer === null) {
    const message = `${row.marketplace} lets nobody but the buyer it is told fill the listing`;
    return reject("buyer_required", `buyer: ${message}`, [{ field: "buyer", message }]);
  }
  const units = asked ?? row.fillable;
  if (units > row.fillable) {
    return reject("bad_amount", `amount: ${row.fillable} units can be bought now, not ${units}`);
  }
  const { orderHash, components } = order;
  const { counter } = components;
  const handed = await partner.fetchFulfillment(chainId, { orderHash, counter, buyer, units });
  if (isRejection(handed)) return handed;
  const priceWei = row.unitPriceWei * units;
  if (!fills(handed, units) || handed.value !== priceWei) {
    return reject("order_mismatch", "The partner fills something else than the listing shown");
  }
  const { numerator, denominator, signature, extraData, fulfillerConduitKey } = handed;
  const parameters = orderParameters(handed.components);
  const advanced = { parameters, numerator, denominator, signature, extraData };
  const fill = { order: advanced, fulfillerConduitKey, recipient: buyer };
  return {
    ...fill,
    units,
    data: encodePurchase(fill, tag),
    valueWei: priceWei,
    priceWei,
    currency: null,
    payment: null,
    validUntil: handed.validUntil,
  };
}

/** Whether the part of the order that is filled is so many of its units. */
function fills({ components, numerator, denominator }: Fulfillment, units: bigint): boolean {
  return denominator > 0n && orderQuantity(components) * numerator === units * denominator;
}
