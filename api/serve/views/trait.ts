import { z } from "zod";
import type { CollectionRef } from "#projections/collections/find-collection.ts";
import { maxValuesOfType, type TraitRow, type TraitTypeRows } from "#projections/traits/read-traits.ts";
import { listingId } from "#api/orders/order-id.ts";
import { displayPrice } from "#jobs/prices/price.ts";
import { LinkedCollection, presentLinkedCollection } from "./linked-collection.ts";
import { displayAmount } from "./money.ts";
import type { Site } from "./urls.ts";
import { uint256Text } from "./wire.ts";

/** Count and listings of the tokens with one value of a trait. */
const TraitValue = z
  .object({
    value: z.string(),
    count: z.int().min(1).meta({ description: "Token ids that are not burned." }),
    listed: z.int().min(0).meta({ description: "Token ids with an active listing." }),
    floor: z
      .number()
      .nullable()
      .meta({ description: "The cheapest active listing, per unit, in the chain's currency." }),
    floorWei: uint256Text.nullable(),
    askId: z.string().nullable().meta({ description: "Of the cheapest listing." }),
    usd: z.number().nullable().meta({ description: "`floor` at the current price of the coin." }),
  })
  .meta({ id: "TraitValue" });

export const TraitTypes = z
  .object({
    collection: LinkedCollection,
    traitTypes: z.array(
      z.object({
        type: z.string(),
        values: z
          .array(TraitValue)
          .max(maxValuesOfType)
          .meta({ description: "Cheapest first, unlisted last." }),
        truncated: z.boolean().meta({
          description: "Whether the type has further values: ask with `type` for pages of them.",
        }),
      }),
    ),
  })
  .meta({ id: "TraitTypes" });

/** `next_cursor` of the traits: the next values of the type that was asked for, else the next types. */
export const traitsMeta = z
  .object({
    next_cursor: z.string().nullable().meta({
      description:
        "Further types, or with `type` further values of it; null: none. A page of values may be short, with more to follow.",
    }),
  })
  .meta({ id: "TraitsMeta" });

export type TraitType = z.output<typeof TraitTypes>["traitTypes"][number];

export function presentTraits(
  collection: CollectionRef,
  site: Site,
  traitTypes: TraitType[],
): z.output<typeof TraitTypes> {
  return { collection: presentLinkedCollection(collection, site), traitTypes };
}

/** `coinPriceE8`: 10⁻⁸ USD, null: unknown. */
export function presentTraitTypes(
  types: readonly TraitTypeRows[],
  prefix: string,
  coinPriceE8: bigint | null,
): TraitType[] {
  return types.map(({ type, values, next }) => ({
    type,
    values: values.map((row) => presentValue(row, prefix, coinPriceE8)),
    truncated: next !== null,
  }));
}

function presentValue(
  { value, count, listed, floorWei, orderHash, marketplace }: TraitRow,
  prefix: string,
  coinPriceE8: bigint | null,
): z.output<typeof TraitValue> {
  const isListed = orderHash !== null && marketplace !== null;
  const isPriced = floorWei !== null && coinPriceE8 !== null;
  return {
    value,
    count: Number(count),
    listed: Number(listed),
    floor: floorWei === null ? null : displayAmount(floorWei),
    floorWei: floorWei === null ? null : String(floorWei),
    askId: isListed ? listingId(prefix, { marketplace, orderHash }) : null,
    usd: isPriced ? displayPrice((floorWei * coinPriceE8) / 10n ** 18n) : null,
  };
}
