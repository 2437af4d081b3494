import { z } from "zod";
import { type CursorScope, cursorInteger, encodeCursor, parseCursorKey } from "#api/http/page.ts";
import { timedCache } from "#api/http/reads/cache.ts";
import { listingId } from "#api/orders/order-id.ts";
import { type ChainId, chainById } from "#chains/index.ts";
import { displayPrice } from "#jobs/prices/price.ts";
import type { CollectionRef } from "#projections/collections/find-collection.ts";
import { isRejection, type Rejection, reject } from "#projections/domain/rejection.ts";
import type { Database } from "#projections/log/database.ts";
import type { Moment } from "#projections/past/moment.ts";
import { pastTraits } from "#projections/past/past-traits.ts";
import { readPriceAt } from "#projections/prices/read-prices.ts";
import {
  maxValuesOfType,
  readTraits,
  type TraitRow,
  type TraitsSlice,
  type TraitTypeRows,
} from "#projections/traits/read-traits.ts";
import {
  contractsOfReference,
  LinkedCollection,
  presentLinkedCollection,
  referTo,
  rejectUnknownCollection,
} from "../collection-reference.ts";
import { route } from "../context.ts";
import { atOfOrders, momentMeta, momentOfFigures, momentScope } from "../moment.ts";
import { chainId, chainRefusals, collectionKey, text } from "../parameters.ts";
import { foldPast, pointMeta, pointRefusals } from "../point.ts";
import type { Site } from "../urls.ts";
import { displayAmount, uint256Text } from "../wire.ts";

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
const traitsMeta = z
  .object({
    next_cursor: z.string().nullable().meta({
      description:
        "Further types, or with `type` further values of it; null: none. A page of values may be short, with more to follow.",
    }),
    at: pointMeta.optional(),
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
function presentTraitTypes(
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

const maxTraitsAgeSeconds = 60;
/** Characters of JSON in the cache, of all collections, with the keys, which callers make. */
const maxCachedLength = 32 * 1_024 * 1_024;

/** Query parameters of traits. */
export const traitsFields = {
  type: text(200).optional().meta({
    description: "Only this type, case-insensitive. Purely numeric types are not included.",
  }),
  cursor: z.string().optional().meta({
    description: "`next_cursor` of the previous page, with the same `type`.",
  }),
};

type TraitsQuery = { type?: string | undefined; cursor?: string | undefined };
type Traits = {
  chainId: ChainId;
  contractIds: readonly number[];
  prefix: string;
  now: Date;
  /** Of another time than now. */
  moment?: Moment | null;
};
type TraitsRequest = Traits & { slice: TraitsSlice };

/** Of a type or a value: what the database compares with, however long, and no text that it refuses. */
const key = text(500);
const typesAfter = z.tuple([key]);
/** The last is the start of a hash, in the form of a UUID but without a UUID's version. */
const valuesAfter = z.tuple([cursorInteger(79), key, z.guid()]);

/** Types with their first values, or values of the type asked for; null: no token has the type. */
export async function traitsPage(db: Database, traits: Traits, { type, cursor }: TraitsQuery) {
  const ids = traits.contractIds.join();
  const asked = type ?? null;
  // A cursor is good for all spellings of its type.
  const typeKey = asked === null ? null : asked.replaceAll(/\s+/g, "").toLowerCase();
  const scope = { list: "traits", ids, typeKey, ...momentScope(traits.moment ?? null) };
  const slice = sliceOf(scope, asked, cursor);
  if (isRejection(slice)) return slice;
  const key = JSON.stringify([ids, asked, cursor ?? null]);
  const request = { ...traits, slice };
  const { value, maxAgeSeconds } = await (traits.moment
    ? readPage(db, request).then((read) => ({ value: read, maxAgeSeconds: maxTraitsAgeSeconds }))
    : cachedTraits(db, key, request));
  const { types, next } = value;
  if (type !== undefined && types.length === 0) return null;
  const meta = { next_cursor: next === null ? null : encodeCursor(scope, next) };
  return { types, meta, maxAgeSeconds };
}

function sliceOf(
  scope: CursorScope,
  type: string | null,
  cursor: string | undefined,
): TraitsSlice | Rejection<"invalid_cursor"> {
  if (type === null) {
    if (cursor === undefined) return { afterTypeKey: null };
    const key = parseCursorKey(cursor, scope, typesAfter);
    return isRejection(key) ? key : { afterTypeKey: key[0] };
  }
  if (cursor === undefined) return { typeKey: type, after: null };
  const key = parseCursorKey(cursor, scope, valuesAfter);
  if (isRejection(key)) return key;
  const [floor, prefix, matchKey] = key;
  return { typeKey: type, after: { floor, prefix, matchKey } };
}

const cachedTraits = timedCache({
  seconds: () => maxTraitsAgeSeconds,
  read: readPage,
  maxSize: maxCachedLength,
  sizeOf: (value, key) => key.length + JSON.stringify(value).length,
});

async function readPage(db: Database, request: TraitsRequest) {
  const { chainId, contractIds, prefix, slice, moment = null } = request;
  const now = moment?.clock ?? request.now;
  const coinPriceE8 = await readPriceAt(db, chainById(chainId).coin, now);
  const past = moment === null ? undefined : pastTraits(contractIds, moment);
  const { types, nextTypeKey } = await readTraits(db, contractIds, now, slice, past);
  const place = "typeKey" in slice ? (types[0]?.next ?? null) : null;
  const ofType = place && [String(place.floor), place.prefix, place.matchKey];
  const ofTypes = nextTypeKey === null ? null : [nextTypeKey];
  const next = "typeKey" in slice ? ofType : ofTypes;
  return { types: presentTraitTypes(types, prefix, coinPriceE8), next };
}

export const traits = route(
  {
    method: "get",
    path: "/v1/collections/{collection}/traits",
    operationId: "listTraits",
    tag: "Collections",
    loadClass: "lists",
    summary:
      "Traits of a collection's tokens: count, listings and floor price of each value. At most a minute old, the caller's cache included",
    params: z.object({ collection: collectionKey }),
    plansOnceWith: ["chainId", "cursor"],
    query: z.object({
      chainId,
      ...traitsFields,
      at: atOfOrders("Tokens and listings as they were then, with today's traits of the tokens."),
    }),
    data: TraitTypes,
    meta: traitsMeta,
    refuses: { not_found: 404, ...chainRefusals, ...pointRefusals, invalid_cursor: 422 },
    maxAgeSeconds: maxTraitsAgeSeconds,
  },
  async ({ params, query }, { db, siteUrl, market, now }) => {
    const collection = await referTo(db, query.chainId, params.collection);
    if (collection === null) return rejectUnknownCollection(query.chainId, params.collection);
    const contractIds = contractsOfReference(collection);
    const moment = await momentOfFigures(db, query, now());
    if (isRejection(moment)) return moment;
    const asked = { chainId: query.chainId, contractIds, moment };
    const named = { ...asked, prefix: market.prefix, now: now() };
    const page = await foldPast(() => traitsPage(db, named, query));
    if (page === null) {
      return reject(
        "not_found",
        `No trait ${query.type} in ${params.collection} on chain ${query.chainId}`,
      );
    }
    if (isRejection(page)) return page;
    const { types, meta, maxAgeSeconds } = page;
    const data = presentTraits(collection, { siteUrl, chainId: query.chainId }, types);
    return { data, meta: { ...meta, ...momentMeta(moment) }, maxAgeSeconds };
  },
);
