import { type RawBuilder, sql } from "kysely";
import { fitsTraits, type PlannedFilter, type TokenKey, type TokenSort } from "./filter.ts";
import { isListed, stands } from "./listed-now.ts";
import type { TokenTotals } from "./read-total.ts";

/** A list is what has the value sorted by, and after that what has none, by id. */
export type Part = {
  number: 0 | 1;
  /** Its rows after a place: at least the first `limit` of them, of each contract. */
  rows: (after: TokenKey | null, limit: number) => RawBuilder<unknown>;
  /** Of the rows. */
  order: RawBuilder<unknown>;
};

type Direction = { towards: RawBuilder<unknown>; than: RawBuilder<unknown> };
const up: Direction = { towards: sql`asc`, than: sql`>` };
const down: Direction = { towards: sql`desc`, than: sql`<` };

export function partsOf(filter: PlannedFilter, sort: TokenSort, totals: TokenTotals): Part[] {
  const byId = { number: 1, order: orderOf(up) } as const;
  if (sort === "token_id") {
    return [{ ...byId, rows: byIdOf(filter, sql`true`) }];
  }
  if (sort === "rarity") {
    const ranked = { number: 0, rows: rankedTokens(filter, totals), order: orderOf(up) } as const;
    return [ranked, { ...byId, rows: byIdOf(filter, sql`not exists (${rankOf(filter)})`) }];
  }
  const direction = sort === "price_asc" ? up : down;
  const value = sort === "recently_listed" ? microsecondsListed : sql`l.unit_price_wei`;
  const column = sort === "recently_listed" ? sql`l.listed_at` : sql`l.unit_price_wei`;
  const listed = {
    number: 0,
    rows: listedTokens(filter, { column, value, direction, isTime: sort === "recently_listed" }),
    order: orderOf(direction),
  } as const;
  const unlisted = { ...byId, rows: tokensById(filter, sql`not ${isListed}`) };
  return [
    ...(filter.listed === false ? [] : [listed]),
    ...(filter.listed === true ? [] : [unlisted]),
  ];
}

const microsecondsListed = sql`(extract(epoch from l.listed_at) * 1000000)::bigint::numeric`;

function listedIs({ listed }: PlannedFilter): RawBuilder<unknown> {
  return listed ? isListed : sql`not ${isListed}`;
}

function orderOf({ towards }: Direction): RawBuilder<unknown> {
  return sql`order by value ${towards}, token_id ${towards}, contract_id ${towards}, standard ${towards}`;
}

/** Tokens by id of which a condition on `t` holds. */
function byIdOf(filter: PlannedFilter, condition: RawBuilder<unknown>): Part["rows"] {
  if (filter.listed === true && !filter.isNarrow) return listedById(filter, condition);
  return tokensById(
    filter,
    filter.listed === null ? condition : sql`${condition} and ${listedIs(filter)}`,
  );
}

/** Tokens by id; of a list that is not narrow each contract's own index gives them in order. */
function tokensById(filter: PlannedFilter, condition: RawBuilder<unknown>): Part["rows"] {
  return (after, limit) => {
    const fitting = sql`${beyondId(after)} and ${condition} and ${fitsTraits(filter, "t")}`;
    const columns = sql`t.contract_id, t.token_id, t.standard, 0::numeric as value`;
    if (filter.isNarrow) return sql`select ${columns} from chosen t where ${fitting}`;
    return sql`
      select t.* from unnest(${filter.contractIds}::int[]) family (contract_id) cross join lateral (
        select ${columns} from ownership.token t
        where t.contract_id = family.contract_id and ${fitting}
        order by t.token_id, t.standard limit ${limit}
      ) t`;
  };
}

/** The same of the listed tokens of a list that is not narrow. */
function listedById(filter: PlannedFilter, condition: RawBuilder<unknown>): Part["rows"] {
  return (after, limit) => {
    const columns = sql`t.contract_id, t.token_id, t.standard, 0::numeric as value`;
    const fitting = sql`${beyondId(after)} and ${condition} and ${fitsTraits(filter, "t")}`;
    return sql`
      select t.* from unnest(${filter.contractIds}::int[]) family (contract_id) cross join lateral (
        select ${columns} from traits.listed t
        where t.contract_id = family.contract_id and ${fitting}
          and not exists (
            select from ended e where e.contract_id = t.contract_id and e.token_id = t.token_id
          )
        order by t.token_id limit ${limit}
      ) t
      union all
      select ${columns} from relisted t where t.contract_id = any (${filter.contractIds}::int[]) and ${fitting}`;
  };
}

function beyondId(after: TokenKey | null): RawBuilder<unknown> {
  if (after === null) return sql`true`;
  const { tokenId, contractId, standard } = after;
  return sql`
    (t.token_id, t.contract_id, t.standard)
    > (${String(tokenId)}::numeric, ${contractId}::int, ${standard}::smallint)`;
}

type ListedOrder = {
  column: RawBuilder<unknown>;
  value: RawBuilder<unknown>;
  direction: Direction;
  isTime: boolean;
};

function listedTokens(filter: PlannedFilter, order: ListedOrder): Part["rows"] {
  const { column, value, direction, isTime } = order;
  return (after, limit) => {
    const place = after === null ? sql`true` : beyondListed(after, column, direction, isTime);
    const beyond = sql`${place} and ${fitsTraits(filter, "l")}`;
    const columns = sql`l.contract_id, l.token_id, l.standard, ${value} as value`;
    const own = filter.isNarrow
      ? sql`
        select ${columns} from chosen join traits.listed l using (contract_id, token_id, standard)
        where ${stands} and ${beyond}`
      : sql`
        select l.* from unnest(${filter.contractIds}::int[]) family (contract_id) cross join lateral (
          select ${columns} from traits.listed l
          where l.contract_id = family.contract_id and ${stands} and ${beyond}
          order by ${column} ${direction.towards}, l.token_id ${direction.towards} limit ${limit}
        ) l`;
    const again = filter.isNarrow
      ? sql`chosen join relisted l using (contract_id, token_id, standard) where ${beyond}`
      : sql`relisted l where l.contract_id = any (${filter.contractIds}::int[]) and ${beyond}`;
    return sql`${own} union all select ${columns} from ${again}`;
  };
}

function beyondListed(
  { value, tokenId, contractId, standard }: TokenKey,
  column: RawBuilder<unknown>,
  { than }: Direction,
  isTime: boolean,
): RawBuilder<unknown> {
  const bound = isTime
    ? sql`timestamptz 'epoch' + ${Number(value)}::float8 * interval '1 microsecond'`
    : sql`${String(value)}::numeric`;
  return sql`
    (${column}, l.token_id, l.contract_id, l.standard)
    ${than} (${bound}, ${String(tokenId)}::numeric, ${contractId}::int, ${standard}::smallint)`;
}

/** The rank of token `t` in the collection. */
function rankOf({ collectionId }: PlannedFilter): RawBuilder<unknown> {
  return sql`
    select r.rank from rarity.token r
    where r.contract_id = t.contract_id and r.token_id = t.token_id and r.collection_id = ${collectionId}
    offset 0`;
}

/** From how many listed tokens on a walk over the ranks meets enough of them sooner than all of them are sorted. */
function isWalk({ listed }: PlannedFilter, totals: TokenTotals): boolean {
  if (listed !== true) return true;
  return totals.listed * totals.listed > 50n * totals.tokens;
}

function rankedTokens(filter: PlannedFilter, totals: TokenTotals): Part["rows"] {
  return (after, limit) => {
    const { collectionId, contractIds, listed } = filter;
    const beyond = after === null ? sql`true` : beyondRank(after);
    const columns = sql`t.contract_id, t.token_id, t.standard, r.rank::numeric as value`;
    const ranks = sql`rarity.token r using (contract_id, token_id)`;
    const fitting = sql`r.collection_id = ${collectionId} and ${beyond}`;
    if (filter.isNarrow) {
      const asListed = listed === null ? sql`true` : listedIs(filter);
      return sql`select ${columns} from chosen t join ${ranks} where ${fitting} and ${asListed}`;
    }
    const ofFamily = sql`t.contract_id = any (${contractIds}::int[])`;
    if (isWalk(filter, totals)) {
      const asListed = listed === null ? sql`true` : listedIs(filter);
      return sql`
        select t.* from (
          select ${columns} from rarity.token r join ownership.token t using (contract_id, token_id)
          where ${fitting} and ${ofFamily} and ${asListed}
          order by r.rank, r.token_id, r.contract_id, t.standard limit ${limit}
        ) t`;
    }
    return sql`
      select ${columns} from (
        select l.contract_id, l.token_id, l.standard from traits.listed l where ${stands}
        union all
        select l.contract_id, l.token_id, l.standard from relisted l
      ) t join ${ranks} where ${ofFamily} and ${fitting}`;
  };
}

/** The first comparison is what an index serves. */
function beyondRank({ value, tokenId, contractId, standard }: TokenKey): RawBuilder<unknown> {
  const place = sql`${Number(value)}::int, ${String(tokenId)}::numeric, ${contractId}::int`;
  return sql`
    (r.rank, r.token_id, r.contract_id) >= (${place})
    and (r.rank, r.token_id, r.contract_id, t.standard) > (${place}, ${standard}::smallint)`;
}
