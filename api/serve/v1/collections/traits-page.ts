import { z } from "zod";
import { type ChainId, chainById } from "#chains/index.ts";
import type { Database } from "#projections/log/database.ts";
import { isRejection, type Rejection } from "#projections/domain/rejection.ts";
import { readPriceAt } from "#projections/prices/read-prices.ts";
import { type TraitsSlice, readTraits } from "#projections/traits/read-traits.ts";
import { type CursorScope, encodeCursor, cursorInteger, parseCursorKey } from "#api/http/page.ts";
import { timedCache } from "#api/http/reads/cache.ts";
import { presentTraitTypes } from "#api/serve/views/trait.ts";
import { text } from "../routing/parameters.ts";

export const maxTraitsAgeSeconds = 60;
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
type Traits = { chainId: ChainId; contractIds: readonly number[]; prefix: string; now: Date };
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
  const scope = { list: "traits", ids, typeKey };
  const slice = sliceOf(scope, asked, cursor);
  if (isRejection(slice)) return slice;
  const key = JSON.stringify([ids, asked, cursor ?? null]);
  const { value, maxAgeSeconds } = await cachedTraits(db, key, { ...traits, slice });
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
  const { chainId, contractIds, prefix, now, slice } = request;
  const coinPriceE8 = await readPriceAt(db, chainById(chainId).coin, now);
  const { types, nextTypeKey } = await readTraits(db, contractIds, now, slice);
  const place = "typeKey" in slice ? (types[0]?.next ?? null) : null;
  const ofType = place && [String(place.floor), place.prefix, place.matchKey];
  const ofTypes = nextTypeKey === null ? null : [nextTypeKey];
  const next = "typeKey" in slice ? ofType : ofTypes;
  return { types: presentTraitTypes(types, prefix, coinPriceE8), next };
}
