import { type Address, zeroAddress } from "viem";
import { z } from "zod";
import type { BodyLimits } from "#api/http/body.ts";
import type { PricedItem } from "#api/orders/price-item.ts";
import { type IntakeCode, intakeCodes } from "#projections/domain/intake-codes.ts";
import { fixedParts } from "#projections/domain/orders/order-params.ts";
import type { TradeFee } from "#projections/domain/orders/order-terms.ts";
import type { Rejection } from "#projections/domain/rejection.ts";
import type { Royalty } from "#projections/domain/royalty.ts";
import { uint256 } from "../parameters.ts";
import { address, standardName, uint256Text } from "../wire.ts";

/** An item of an order, as signed. */
export const offerItem = z
  .object({
    itemType: z.int().min(0).max(5),
    token: address,
    identifierOrCriteria: uint256Text,
    startAmount: uint256Text,
    endAmount: uint256Text,
  })
  .meta({ id: "OfferItem" });

export const considerationItem = offerItem
  .extend({ recipient: address })
  .meta({ id: "ConsiderationItem" });

const makerPlaceholder =
  "null: to be replaced by the maker's address, which the request does not contain.";

const unsignedItem = offerItem
  .extend({ recipient: address.nullable().meta({ description: makerPlaceholder }) })
  .meta({ id: "UnsignedConsiderationItem" });

const leg = z
  .object({
    kind: z.enum(["seller", "service", "royalty"]),
    recipient: address.nullable().meta({
      description: "null: the seller, who is not known yet.",
    }),
    unitWei: uint256Text.meta({ description: "For one unit." }),
    wei: uint256Text.meta({ description: "For the whole order." }),
  })
  .meta({ id: "PriceLeg", description: "One payment of a price." });

const royalty = z
  .object({
    royaltyWei: uint256Text.meta({ description: "For one unit." }),
    royaltyRecipient: address.nullable().meta({ description: "null: no royalty." }),
    bps: z.int().min(0).meta({ description: "Of the price, rounded." }),
    source: z.enum(["partner", "erc2981", "configured", "none"]),
  })
  .meta({ id: "OrderRoyalty" });

const sellerNetWei = uint256Text.meta({
  description: "What the seller receives for one unit, after fee and royalty.",
});

/** The fields of an order that depend on its item and price. */
export const pricedFields = {
  royalty: royalty
    .nullable()
    .meta({ description: "null: no price was given, or the royalty is unknown." }),
  legs: z.array(leg).nullable(),
  sellerNetWei: sellerNetWei.nullable(),
  orderType: z.int().min(0).max(1).nullable().meta({
    description:
      "0 is FULL_OPEN, 1 PARTIAL_OPEN. null, like `offer` and `consideration`: nothing can be signed.",
  }),
  offer: z.array(offerItem).nullable(),
  consideration: z
    .array(unsignedItem)
    .nullable()
    .meta({ description: "To be signed without changes." }),
};

/** The seller of a listing is its maker; the seller of a bid is not known yet. */
type Traded = {
  side: "ask" | "bid";
  maker: Address | null;
  quantity: bigint;
  unitPriceWei: bigint;
};

export function presentPriced(item: PricedItem | null, traded: Traded) {
  return {
    royalty: item?.royalty === undefined ? null : presentRoyalty(item.royalty, traded),
    ...presentSplit(item?.split ?? null, traded),
    ...presentSigned(item?.components ?? null),
  };
}

function presentRoyalty(due: Royalty | null, { unitPriceWei }: Traded): z.output<typeof royalty> {
  if (due === null) return { royaltyWei: "0", royaltyRecipient: null, bps: 0, source: "none" };
  const { royaltyWei, recipient, source } = due;
  const bps = Number((royaltyWei * 20_000n + unitPriceWei) / (2n * unitPriceWei));
  return { royaltyWei: String(royaltyWei), royaltyRecipient: recipient, bps, source };
}

function presentSplit(split: PricedItem["split"], { side, maker, quantity }: Traded) {
  if (split === null || split.sellerNetWei < 0n) return { legs: null, sellerNetWei: null };
  const seller = {
    kind: "seller" as const,
    recipient: side === "ask" ? maker : null,
    unitWei: split.sellerNetWei,
  };
  const paid: (Omit<TradeFee, "kind" | "recipient"> &
    Pick<z.output<typeof leg>, "kind" | "recipient">)[] = [seller, ...split.fees];
  return {
    legs: paid.map(({ kind, recipient, unitWei }) => ({
      kind,
      recipient,
      unitWei: String(unitWei),
      wei: String(unitWei * quantity),
    })),
    sellerNetWei: String(split.sellerNetWei),
  };
}

function presentSigned(components: PricedItem["components"]) {
  if (components === null) return { orderType: null, offer: null, consideration: null };
  const { header, offer, consideration } = fixedParts(components);
  return {
    orderType: header.orderType,
    offer,
    consideration: consideration.map((item) => ({
      ...item,
      recipient: item.recipient === zeroAddress ? null : item.recipient,
    })),
  };
}

/** Rejection codes of the endpoints that return what to sign. */
export const requirementRefusals = {
  bad_structure: 422,
  unsupported_chain: 422,
  rpc_unavailable: 422,
} as const;

/** Enough for the maximum number of items. */
export const itemsBodyLimits = { maxBytes: 64 * 1024, maxValues: 1_000 } satisfies BodyLimits;

export const units = z
  .int()
  .min(1)
  .transform(BigInt)
  .meta({ description: "Units; 1 for ERC-721.", override: { type: "integer", minimum: 1 } });

export const wei = uint256.meta({
  description: "For one unit, decimal.",
  override: { type: "string", pattern: "^(0|[1-9][0-9]*)$" },
});

const codes = Object.keys(intakeCodes) as [IntakeCode, ...IntakeCode[]];
/** Why an order is refused. */
export const intakeCode = z.enum(codes).meta({ id: "OrderRefusalCode" });
const retries = [...new Set(Object.values(intakeCodes).map(({ retry }) => retry))];

/** Why an order would be refused, if it would be. */
export const blockedFields = {
  blocked: intakeCode.nullable().meta({
    description:
      "The code that submitting the order would be rejected with, even with the required approval.",
  }),
  message: z.string().nullable(),
  retry: z.enum(retries).nullable().meta({ description: "What the maker can do about it." }),
};

/** Fields of the requirements of one item, on both sides. */
export const requirementFields = {
  contract: address,
  quantity: z.int().min(1),
  standard: standardName.nullable(),
  ...pricedFields,
  ...blockedFields,
};

/** Fields of the requirements as a whole, on both sides. */
export const marketFields = {
  maker: address,
  seaport: address.meta({ description: "The exchange." }),
  feeRecipient: address,
  feeBps: z.int().min(0),
  counter: uint256Text.meta({ description: "The maker's, to be signed." }),
};

/** What the requirements of one item have in common on both sides. */
export function presentRequirement(
  requirement: PricedItem & { blocked: Rejection<IntakeCode> | null },
  priced: Parameters<typeof presentPriced>[1],
) {
  return { ...presentPriced(requirement, priced), ...presentBlocked(requirement.blocked) };
}

export function presentBlocked(blocked: Rejection<IntakeCode> | null) {
  return {
    blocked: blocked?.rejected ?? null,
    message: blocked?.message ?? null,
    retry: blocked === null ? null : intakeCodes[blocked.rejected].retry,
  };
}
