import { z } from "zod";
import { fixedParts } from "#projections/domain/orders/order-params.ts";
import { type CrossListingDraft, partnerOrderForm } from "#api/orders/partner-terms.ts";
import { address, hash, uint256Text } from "../wire.ts";
import { considerationItem, offerItem } from "./order-terms.ts";

const fee = z.object({
  recipient: address,
  bps: z.int().min(0),
  required: z.boolean(),
  kind: z.enum(["service", "royalty"]),
});

/** The partner's requirements of a cross-listing, and what to sign at the listing's price. */
export const CrossListingRequirement = z
  .object({
    fees: z.array(fee).meta({ description: "Shares of the cross-listing's own price." }),
    zone: address,
    zoneHash: hash,
    conduitKey: hash,
    orderType: z.int().min(2).max(3).meta({
      description: "2 is FULL_RESTRICTED, 3 PARTIAL_RESTRICTED.",
    }),
    maximumSeconds: z.int().meta({ description: "From the start of the order to its end." }),
    sellerNetWei: uint256Text.meta({ description: "For one unit." }),
    offer: z.array(offerItem),
    consideration: z.array(considerationItem).meta({
      description: "At the price of the item; at another price the amounts differ.",
    }),
  })
  .meta({ id: "TwinRequirement" });

export function presentCrossListingRequirement(
  draft: CrossListingDraft | null,
): z.output<typeof CrossListingRequirement> | null {
  if (draft === null) return null;
  const { header, offer, consideration } = fixedParts(draft.components);
  return {
    fees: draft.fees.map(({ recipient, bps, isRequired, isService }) => ({
      recipient,
      bps,
      required: isRequired,
      kind: isService ? "service" : "royalty",
    })),
    ...header,
    maximumSeconds: partnerOrderForm.maximumSeconds,
    sellerNetWei: String(draft.sellerNetWei),
    offer,
    consideration,
  };
}
