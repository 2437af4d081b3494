import { isRejection, type Rejection, reject } from "#projections/domain/rejection.ts";
import { orderParameters, orderQuantity } from "#projections/domain/seaport/fill.ts";
import type { Fulfillment, Partner } from "#jobs/partners/partner.ts";
import { encodePurchase, type Purchase } from "./buy-calldata.ts";
import type { BuyRequest } from "./buy-request.ts";
import type { BuyableListing } from "./find-buyable-listings.ts";
import { validateUnits } from "./validate-units.ts";

type Code =
  | "buyer_required"
  | "bad_amount"
  | "unavailable"
  | "unsupported_order"
  | "unsupported_marketplace"
  | "order_mismatch"
  | "upstream_error"
  | "partner_rate_limited";

/**
 * The call by which `buyer` buys a listing whose partner has to authorize each fill. The partner's fulfillment is
 * accepted only if it fills exactly that order at its price.
 */
export async function buyFromPartner(
  partner: Partner | undefined,
  { row, order }: BuyableListing,
  request: Omit<BuyRequest, "maxWei"> & { tag: Purchase["data"] },
): Promise<Purchase | Rejection<Code>> {
  const { chainId, buyer, caller, units: requested, tag } = request;
  if (partner?.fetchFulfillment === undefined) {
    return reject(
      "unsupported_marketplace",
      `Listings of ${row.marketplace} cannot be bought here`,
    );
  }
  if (buyer === null) {
    const message = `${row.marketplace} authorizes a purchase for a named buyer only`;
    return reject("buyer_required", `buyer: ${message}`, [{ field: "buyer", message }]);
  }
  const units = requested ?? row.fillable;
  const { orderHash, components } = order;
  const refused = validateUnits(units, row.fillable, components);
  if (refused !== null) return refused;
  const { counter } = components;
  const asked = { orderHash, counter, buyer, units, caller };
  const fulfillment = await partner.fetchFulfillment(chainId, asked);
  if (isRejection(fulfillment)) return fulfillment;
  const priceWei = row.unitPriceWei * units;
  if (!fillsUnits(fulfillment, units) || fulfillment.value !== priceWei) {
    return reject("order_mismatch", "The partner's fulfillment does not match the listing");
  }
  const { numerator, denominator, signature, extraData, fulfillerConduitKey } = fulfillment;
  const parameters = orderParameters(fulfillment.components);
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
    validUntil: fulfillment.validUntil,
  };
}

/** Whether the fraction of the order that is filled equals `units`. */
function fillsUnits({ components, numerator, denominator }: Fulfillment, units: bigint): boolean {
  return denominator > 0n && orderQuantity(components) * numerator === units * denominator;
}
