import { z } from "zod";
import { commonConduit, seaportAddresses } from "#abis/deployments.ts";
import { callerOfInput } from "#api/http/limit.ts";
import {
  type ListingRequirement,
  readListingRequirements,
} from "#api/orders/listing-requirements.ts";
import { type CrossListingDraft, partnerOrderForm } from "#api/orders/partner-terms.ts";
import { fixedParts } from "#projections/domain/orders/order-params.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import { route } from "../context.ts";
import { requiredBodyChainId, tokenId, wallet } from "../parameters.ts";
import { address, chainIdValue, hash, uint256Text } from "../wire.ts";
import {
  considerationItem,
  itemsBodyLimits,
  marketFields,
  offerItem,
  presentRequirement,
  requirementFields,
  requirementRefusals,
  units,
  wei,
} from "./order-terms.ts";

const fee = z.object({
  recipient: address,
  bps: z.int().min(0),
  required: z.boolean(),
  kind: z.enum(["service", "royalty"]),
});

/** The partner's requirements of a cross-listing, and what to sign at the listing's price. */
const CrossListingRequirement = z
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

function presentCrossListingRequirement(
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

const item = z.strictObject({ contract: wallet, tokenId, quantity: units, unitPriceWei: wei });

const row = z
  .object({
    ...requirementFields,
    tokenId: uint256Text,
    unitPriceWei: uint256Text,
    heldUnits: uint256Text
      .nullable()
      .meta({ description: "Units that the maker holds; null: unknown." }),
    opensea: CrossListingRequirement.nullable().meta({
      description:
        "What a cross-listing for opensea must contain; null: not available, or temporarily unknown.",
    }),
    owned: z
      .boolean()
      .nullable()
      .meta({ description: "Whether the maker holds enough units; null: unknown." }),
    approval: z
      .object({
        needed: z.boolean().nullable().meta({ description: "null: unknown." }),
        operator: address,
        token: address,
      })
      .meta({
        description: "`setApprovalForAll(operator, true)` on `token`, once per collection.",
      }),
  })
  .meta({ id: "ListingRequirement" });

const ListingRequirements = z
  .object({
    chainId: chainIdValue,
    ...marketFields,
    conduitKey: hash,
    conduit: address.meta({ description: "The operator to approve on each collection." }),
    items: z.array(row).meta({ description: "In the order of the request." }),
  })
  .meta({ id: "ListingRequirements" });

export const listingRequirements = route(
  {
    method: "post",
    path: "/v1/listings/requirements",
    operationId: "getListingRequirements",
    tag: "Listings",
    loadClass: "orders",
    summary: "What to sign and approve for up to 100 listings, checked against the chain",
    body: z.strictObject({
      chainId: requiredBodyChainId,
      maker: wallet,
      items: z.array(item).min(1).max(100),
    }),
    data: ListingRequirements,
    refuses: requirementRefusals,
    bodyLimits: itemsBodyLimits,
  },
  async ({ body, ...from }, { market, now }) => {
    const { chainId, maker } = body;
    const asked = { market, chainId, maker, now: now(), caller: callerOfInput(from) };
    const found = await readListingRequirements(asked, body.items);
    if (isRejection(found)) return found;
    const { fee } = market.terms(chainId);
    return {
      data: {
        chainId,
        maker,
        seaport: seaportAddresses["1.6"],
        conduitKey: commonConduit.key,
        conduit: commonConduit.address,
        feeRecipient: fee.recipient,
        feeBps: fee.bps,
        counter: String(found.counter),
        items: found.items.map((requirement) => presentRow(requirement, maker)),
      },
    };
  },
);

function presentRow(
  requirement: ListingRequirement,
  maker: z.output<typeof wallet>,
): z.output<typeof row> {
  const { item, heldUnits, isApproved, standard } = requirement;
  return {
    contract: item.contract,
    tokenId: String(item.tokenId),
    quantity: Number(item.quantity),
    unitPriceWei: String(item.unitPriceWei),
    standard,
    heldUnits: heldUnits === null ? null : String(heldUnits),
    owned: heldUnits === null ? null : heldUnits >= item.quantity,
    approval: {
      needed: isApproved === null ? null : !isApproved,
      operator: commonConduit.address,
      token: item.contract,
    },
    opensea: presentCrossListingRequirement(requirement.crossListing),
    ...presentRequirement(requirement, { ...item, side: "ask", maker }),
  };
}
