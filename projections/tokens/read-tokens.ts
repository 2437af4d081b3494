import { type RawBuilder, sql } from "kysely";
import { bitOf, chunkOf } from "../engine/token-ids.ts";
import type { Database } from "../log/database.ts";
import { anyValue } from "../log/sql-values.ts";
import {
  currentListings,
  hasNoEndedListing,
  isListed,
  matchesListed,
} from "../traits/read-current-listings.ts";
import { rankingIsOutdated } from "../traits/read-outdated-rankings.ts";
import { bitRunsOf, chunksWithTraits, keyArray } from "../traits/read-tokens-with-traits.ts";
import {
  type DescribedToken,
  detailsCtes,
  detailsOfRow,
  listedTokenParts,
  type TokenDetails,
  type TokenParts,
} from "./read-token-details.ts";
import {
  type AccessPath,
  accessPaths,
  contractsOf,
  isByTraitsOnly,
  namedCount,
  namedTokens,
  namesTokens,
  type RowsAfter,
  type TokenKey,
  type TokenSort,
  type TokensFilter,
} from "./read-token-filter.ts";
import {
  type Direction,
  listedById,
  listedTokens,
  rankedOfListed,
  rankedTokens,
  rankOf,
  tokensById,
} from "./read-token-order.ts";

/** Which tokens, in which order, and what of each. */
export type TokensQuery = {
  readonly filter: TokensFilter;
  readonly sort: TokenSort;
  readonly slice: TokenSlice;
  readonly now: Date;
  readonly parts?: TokenParts;
};

/** `total`: number of matching tokens. `isRankingStale`: ranks that were wanted will soon be recomputed. */
type TokenList<Row> = { total: bigint; isRankingStale: boolean; rows: Row[] };
type Totals = Omit<TokenList<unknown>, "rows">;

type KeyedToken = TokenDetails & { key: TokenKey };
/** `contentHash`: equal for one token means that all of its wanted details are equal. */
export type HashedToken = { key: TokenKey; contentHash: bigint };

/** Tokens in order, each with its cursor key, and the number of matching tokens, in one statement. */
export async function readTokens(db: Database, query: TokensQuery): Promise<TokenList<KeyedToken>> {
  const columns = sql`requested.ord, requested.part, requested.value, detail.*`;
  const { rows, ...totals } = await readList<DescribedToken>(db, query, columns);
  return { ...totals, rows: rows.map((row) => ({ ...detailsOfRow(row), key: row })) };
}

/** The same tokens without their details: `readTokenDetails` reads those of the tokens that the caller does not know. */
export async function readHashedTokens(
  db: Database,
  query: TokensQuery,
): Promise<TokenList<HashedToken>> {
  const columns = sql`
    requested.ord, requested.part, requested.value, requested.contract_id as "contractId",
    requested.token_id as "tokenId", requested.standard, hash_record_extended(detail, 0) as "contentHash"`;
  const { rows, ...totals } = await readList<HashedToken>(db, query, columns);
  return { ...totals, rows: rows.map((row) => ({ key: row, contentHash: row.contentHash })) };
}

async function readList<Row>(
  db: Database,
  { filter, sort, slice, now, parts = listedTokenParts }: TokensQuery,
  columns: RawBuilder<unknown>,
): Promise<TokenList<Row & TokenKey>> {
  const { collectionId } = filter;
  const isStale = parts.has("rank") ? rankingIsOutdated(collectionId) : sql`false`;
  const { rows } = await sql<Row & TokenKey & Totals>`
    with ${pageCtes(filter, sort, slice, now)}, ${detailsCtes({ collectionId, parts, now }, columns)}
    select totals.matching as total, ${isStale} as "isRankingStale", token_detail.*
    from totals left join token_detail on true
    order by token_detail.ord`.execute(db);
  const { total = 0n, isRankingStale = true } = rows[0] ?? {};
  return { total, isRankingStale, rows: rows.filter(({ standard }) => standard !== null) };
}

type TokenSlice = { limit: number; after: TokenKey | null };

/**
 * CTEs: `totals`, whose `matching` is the number of matching tokens, and `requested`, the page's tokens (part, value,
 * contract_id, token_id, standard) with their order `ord`. Only what this filter and order need: every node of a plan
 * is prepared for every request.
 */
export function pageCtes(
  filter: TokensFilter,
  sort: TokenSort,
  { limit, after }: TokenSlice,
  now: Date,
): RawBuilder<unknown> {
  const pageSize = anyValue<bigint>(limit, "bigint");
  const parts = listParts(filter, sort, pageSize).filter(
    ({ number }) => after === null || after.part <= number,
  );
  return sql.join([
    ...(readsListings(filter, sort) ? [currentListings(now)] : []),
    totalsCtes(filter, after),
    ...parts.map((part) => partCte(part, parts, { pageSize, after })),
    sql`requested as materialized (${requestedOf(parts, pageSize)})`,
  ]);
}

function readsListings(filter: TokensFilter, sort: TokenSort): boolean {
  return (
    filter.listed !== null || namesTokens(filter) || (sort !== "token_id" && sort !== "rarity")
  );
}

type Slice = { pageSize: RawBuilder<unknown>; after: TokenKey | null };

const nameOf = ({ number }: ListPart) => sql.ref(`part_${number}`);

/** A part's first rows, numbered; none where the part before fills the page. */
function partCte(
  part: ListPart,
  parts: readonly ListPart[],
  { pageSize, after }: Slice,
): RawBuilder<unknown> {
  const from = after?.part === part.number ? after : null;
  const before = parts.find(({ number }) => number < part.number);
  const isNeeded =
    before === undefined
      ? sql``
      : sql`where (select count(*) from ${nameOf(before)}) < ${pageSize}`;
  return sql`
    ${nameOf(part)} as materialized (
      select ${sql.lit(part.number)} as part, page.*, row_number() over (${part.order}) as row_in_part
      from (select * from (${part.rows(from, pageSize)}) rows ${isNeeded} ${part.order} limit ${pageSize}) page
    )`;
}

/** The page's rows of all parts. */
function requestedOf(
  parts: readonly ListPart[],
  pageSize: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const [first, ...others] = parts;
  if (first === undefined) return noRows;
  if (others.length === 0) return sql`select *, row_in_part as ord from ${nameOf(first)}`;
  const all = parts.map((part) => sql`select * from ${nameOf(part)}`);
  return sql`
    select *, row_number() over (order by part, row_in_part) as ord
    from (${sql.join(all, sql` union all `)}) page
    order by part, row_in_part limit ${pageSize}`;
}

const noRows = sql`
  select 0 as part, 0 as contract_id, 0::numeric as token_id, 0::smallint as standard, 0::numeric as value, 0::bigint as ord
  where false`;

/** A list has two parts: tokens with the value sorted by (0), then the others by id (1). */
type ListPart = { number: 0 | 1; rows: RowsAfter; order: RawBuilder<unknown> };

const ascending: Direction = { order: sql`asc`, comparison: sql`>` };
const descending: Direction = { order: sql`desc`, comparison: sql`<` };

function listParts(filter: TokensFilter, sort: TokenSort, limit: RawBuilder<unknown>): ListPart[] {
  const paths = accessPaths(filter, sort, limit);
  const byId = { number: 1, order: orderOf(ascending) } as const;
  if (sort === "token_id") return [{ ...byId, rows: byIdOf(filter, paths, sql`true`) }];
  if (sort === "rarity") {
    const ranked = { number: 0, rows: rankedOf(filter, paths), order: orderOf(ascending) } as const;
    const unranked = sql`not exists (${rankOf(filter)})`;
    return [ranked, { ...byId, rows: byIdOf(filter, paths, unranked) }];
  }
  const direction = sort === "price_asc" ? ascending : descending;
  const byTime = sort === "recently_listed";
  const rows = unionOfPaths(paths, ({ source }) =>
    listedTokens(filter, source, { direction, byTime }),
  );
  const listed = { number: 0, rows, order: orderOf(direction) } as const;
  const pathsById = accessPaths(filter, "token_id", limit);
  const unlisted = unionOfPaths(pathsById, ({ source }) =>
    tokensById(filter, source, sql`not ${isListed}`),
  );
  return [
    ...(filter.listed === false ? [] : [listed]),
    ...(filter.listed === true ? [] : [{ ...byId, rows: unlisted }]),
  ];
}

/** The rows of the access path whose condition holds; the others are not executed. */
function unionOfPaths(
  paths: readonly AccessPath[],
  rowsOf: (path: AccessPath) => RowsAfter,
): RowsAfter {
  return (after, limit) =>
    sql.join(
      paths.map((path) => {
        const when = path.when ?? sql`true`;
        return sql`(select * from (${rowsOf(path)(after, limit)}) path where ${when})`;
      }),
      sql` union all `,
    );
}

function orderOf({ order }: Direction): RawBuilder<unknown> {
  return sql`order by value ${order}, token_id ${order}, contract_id ${order}, standard ${order}`;
}

function byIdOf(
  filter: TokensFilter,
  paths: readonly AccessPath[],
  condition: RawBuilder<unknown>,
): RowsAfter {
  return unionOfPaths(paths, ({ source }) => {
    if (filter.listed === true && source === "scan") return listedById(filter, condition);
    return tokensById(filter, source, sql`${condition} and ${matchesListed(filter)}`);
  });
}

/** Where many tokens are listed, a scan of the ranks finds a page of them sooner than sorting all of them. */
function rankedOf(filter: TokensFilter, paths: readonly AccessPath[]): RowsAfter {
  const areMany = sql`(select listed * listed > 50 * tokens from totals)`;
  const sortsListed = paths.every(({ source }) => source === "scan") && filter.listed === true;
  const all: AccessPath[] = sortsListed
    ? [
        { source: "scan", when: areMany },
        { source: "named", when: sql`not ${areMany}` },
      ]
    : [...paths];
  return unionOfPaths(all, ({ source }) =>
    sortsListed && source === "named" ? rankedOfListed(filter) : rankedTokens(filter, source),
  );
}

/** Token ids are near each other below this span of chunks: a million consecutive ids are 128 kB of bits. */
const maxNearChunks = sql.lit(1024);

/**
 * CTEs that follow those of `currentListings`. `totals` of the collection: `tokens`, and `matching`, the number of
 * matching tokens. For a filter that names tokens `named_token`; for one by traits `trait_chunk`, bitmaps of the ids with
 * the traits, `run`, the same as one string per contract for scans where ids are near each other, and in `totals` what
 * the access path is chosen by.
 */
function totalsCtes(filter: TokensFilter, after: TokenKey | null): RawBuilder<unknown> {
  const isByTraits = isByTraitsOnly(filter);
  const sums = [
    sql`coalesce((
      select sum(tokens) from ownership.collection where contract_id = any (${contractsOf(filter)})
    ), 0) as tokens`,
    ...(filter.listed === null ? [] : [listedCount(filter)]),
    ...(isByTraits ? traitCounts(filter) : []),
  ];
  return sql.join([
    ...(namesTokens(filter)
      ? [sql`named_token as materialized (${namedTokens(filter, after)})`]
      : []),
    ...(isByTraits
      ? [sql`trait_chunk as materialized (${chunksWithTraits(filter.traitKeys ?? [])})`]
      : []),
    sql`
    totals as materialized (
      select *, ${matchingCount(filter)} as matching from (select ${sql.join(sums)}) sums
    )`,
    ...(isByTraits ? [sql`run as materialized (${bitRunsOf(sql`trait_chunk`)})`] : []),
  ]);
}

/** Column `listed`: how many of the collection's tokens are listed. */
function listedCount(filter: TokensFilter): RawBuilder<unknown> {
  const ofCollection = sql`contract_id = any (${contractsOf(filter)})`;
  return sql`
    coalesce((select sum(listed) from traits.contract where ${ofCollection}), 0)::bigint
    - (select count(*) from traits.listed_token l join expired_token using (contract_id, token_id) where l.${ofCollection})
    + (select count(*) from replacement_listing where ${ofCollection}) as listed`;
}

/** Columns: the number of ids with the traits, of those with the rarest of them, and whether they are near each other. */
function traitCounts(filter: TokensFilter): RawBuilder<unknown>[] {
  return [
    sql`coalesce((select sum(bit_count(bits)) from trait_chunk), 0)::bigint as ids`,
    sql`${rarestTraitCount(filter)} as rarest`,
    sql`
    (select coalesce(max(chunks), 0) from (
      select max(chunk) - min(chunk) as chunks from trait_chunk group by contract_id
    ) spans) < ${maxNearChunks} as are_near`,
  ];
}

/** Number of ids with the first trait of the filter, which is the rarest. */
function rarestTraitCount(filter: TokensFilter): RawBuilder<unknown> {
  const [keys = []] = filter.traitKeys ?? [];
  return sql`coalesce((
    select sum(v.tokens) from traits.trait v
    where v.contract_id = any (${contractsOf(filter)}) and v.trait_key = any (${keyArray(keys)}::uuid[])
  ), 0)::bigint`;
}

function matchingCount(filter: TokensFilter): RawBuilder<unknown> {
  if (namesTokens(filter)) return namedCount(filter, matchesListed(filter));
  const [all, listed] = isByTraitsOnly(filter)
    ? [sql`ids`, listedWithTraits(filter)]
    : [sql`tokens`, sql`listed`];
  if (filter.listed === null) return all;
  return filter.listed ? listed : sql`${all} - ${listed}`;
}

/** How many of the tokens with the traits are listed. */
function listedWithTraits(filter: TokensFilter): RawBuilder<unknown> {
  const among = (table: RawBuilder<unknown>, condition: RawBuilder<unknown>) => sql`(
    select count(*) from ${table} l
    join trait_chunk c on c.contract_id = l.contract_id and c.chunk = ${chunkOf(sql`l.token_id`)}
    where l.contract_id = any (${contractsOf(filter)}) and ${bitOf(sql`c.bits`, sql`l.token_id`)} = 1 and ${condition}
  )`;
  return sql`(
    ${among(sql`traits.listed_token`, hasNoEndedListing("l"))} + ${among(sql`replacement_listing`, sql`true`)}
  )`;
}
