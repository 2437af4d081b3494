import { z } from "zod";
import { fixedParts } from "../../../projections/domain/orders/order-params.ts";
import type { TwinDraft } from "../../work/orders/cross-listings/draft-twin.ts";
import { twinForm } from "../../work/orders/cross-listings/twin-terms.ts";
import { considerationItem, offerItem } from "./order-terms.ts";
import { address, hash, uint256Text } from "./wire.ts";

const fee = z.object({
  recipient: address,
  bps: z.int().min(0),
  required: z.boolean(),
  kind: z.enum(["service", "royalty"]),
});

/** What the twin of a listing must be for its partner to take it, and what to sign at the listing's price. */
export const TwinRequirement = z
  .object({
    fees: z.array(fee).meta({ description: "Shares of the twin's own price." }),
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
      description: "At the price of the item; a twin at another price has other amounts.",
    }),
  })
  .meta({ id: "TwinRequirement" });

export function presentTwinRequirement(
  twin: TwinDraft | null,
): z.output<typeof TwinRequirement> | null {
  if (twin === null) return null;
  const { header, offer, consideration } = fixedParts(twin.components);
  return {
    fees: twin.fees.map(({ recipient, bps, isRequired, isService }) => ({
      ...{ recipient, bps, required: isRequired },
      kind: isService ? "service" : "royalty",
    })),
    ...header,
    maximumSeconds: twinForm.maximumSeconds,
    sellerNetWei: String(twin.sellerNetWei),
    offer,
    consideration,
  };
}
