import { type RawBuilder, sql } from "kysely";
import { anyValue } from "../any-value.ts";
import { listedById, tokensById } from "./by-id.ts";
import { idsHaving, type Rows, type Source, type Way } from "./candidates.ts";
import {
  familyOf,
  fitsTraits,
  type TokenKey,
  type TokenSort,
  type TokensFilter,
} from "./filter.ts";
import { isListed, listedIs, stands } from "./listed-now.ts";
import { rankedOfListed, rankedTokens, rankOf } from "./ranked.ts";

/** A list is what has the value sorted by, and after that what has none, by id. */
export type Part = { number: 0 | 1; rows: Rows; order: RawBuilder<unknown> };

type Direction = { towards: RawBuilder<unknown>; than: RawBuilder<unknown> };
const up: Direction = { towards: sql`asc`, than: sql`>` };
const down: Direction = { towards: sql`desc`, than: sql`<` };

export function partsOf(filter: TokensFilter, sort: TokenSort, ways: readonly Way[]): Part[] {
  const byId = { number: 1, order: orderOf(up) } as const;
  if (sort === "token_id") return [{ ...byId, rows: byIdOf(filter, ways, sql`true`) }];
  if (sort === "rarity") {
    const ranked = { number: 0, rows: rankedOf(filter, ways), order: orderOf(up) } as const;
    const unranked = sql`not exists (${rankOf(filter)})`;
    return [ranked, { ...byId, rows: byIdOf(filter, ways, unranked) }];
  }
  const direction = sort === "price_asc" ? up : down;
  const isTime = sort === "recently_listed";
  const rows = along(ways, ({ source }) => listedTokens(filter, source, { direction, isTime }));
  const listed = { number: 0, rows, order: orderOf(direction) } as const;
  const unlisted = along(ways, ({ source }) => tokensById(filter, source, sql`not ${isListed}`));
  return [
    ...(filter.listed === false ? [] : [listed]),
    ...(filter.listed === true ? [] : [{ ...byId, rows: unlisted }]),
  ];
}

/** The rows of the way that is taken; of the others nothing is executed. */
function along(ways: readonly Way[], rowsOf: (way: Way) => Rows): Rows {
  return (after, limit) =>
    sql.join(
      ways.map((way) => {
        const when = way.when ?? sql`true`;
        return sql`(select * from (${rowsOf(way)(after, limit)}) way where ${when})`;
      }),
      sql` union all `,
    );
}

function orderOf({ towards }: Direction): RawBuilder<unknown> {
  return sql`order by value ${towards}, token_id ${towards}, contract_id ${towards}, standard ${towards}`;
}

function byIdOf(filter: TokensFilter, ways: readonly Way[], condition: RawBuilder<unknown>): Rows {
  return along(ways, ({ source }) => {
    if (filter.listed === true && source === "walk") return listedById(filter, condition);
    return tokensById(filter, source, sql`${condition} and ${listedIs(filter)}`);
  });
}

/** A walk over the ranks meets a page of the listed tokens sooner than all of them are sorted where they are many. */
function rankedOf(filter: TokensFilter, ways: readonly Way[]): Rows {
  const areMany = sql`(select listed * listed > 50 * tokens from totals)`;
  const areSorted = ways.every(({ source }) => source === "walk") && filter.listed === true;
  const all: Way[] = areSorted
    ? [
        { source: "walk", when: areMany },
        { source: "chosen", when: sql`not ${areMany}` },
      ]
    : [...ways];
  return along(all, ({ source }) =>
    areSorted && source === "chosen" ? rankedOfListed(filter) : rankedTokens(filter, source),
  );
}

type ListedOrder = { direction: Direction; isTime: boolean };

function listedTokens(filter: TokensFilter, source: Source, order: ListedOrder): Rows {
  const { direction, isTime } = order;
  const column = isTime ? sql`l.listed_at` : sql`l.unit_price_wei`;
  const value = isTime ? sql`(extract(epoch from l.listed_at) * 1000000)::bigint::numeric` : column;
  const columns = sql`l.contract_id, l.token_id, l.standard, ${value} as value`;
  return (after, limit) => {
    const beyond = after === null ? sql`true` : beyondListed(after, column, order);
    if (source === "walk") {
      const fitting = sql`${beyond} and ${fitsTraits(filter, "l")}`;
      return sql`
        select l.* from unnest(${familyOf(filter)}) family (contract_id) cross join lateral (
          select ${columns} from traits.listed l
          where l.contract_id = family.contract_id and ${stands("l")} and ${fitting}
          order by ${column} ${direction.towards}, l.token_id ${direction.towards} limit ${limit}
        ) l
        union all
        select ${columns} from relisted l where l.contract_id = any (${familyOf(filter)}) and ${fitting}`;
    }
    const ofFamily = sql`l.contract_id = any (${familyOf(filter)}) and ${fitsTraits(filter, "l")}`;
    const [candidates, again] =
      source === "chosen"
        ? [sql`chosen`, sql`(l.contract_id, l.token_id, l.standard) in (select * from chosen)`]
        : [idsHaving, ofFamily];
    const isSame = source === "chosen" ? sql`and l.standard = c.standard` : sql``;
    return sql`
      select l.* from ${candidates} c cross join lateral (
        select ${columns} from traits.listed l
        where l.contract_id = c.contract_id and l.token_id = c.token_id ${isSame} and ${stands("l")} and ${beyond}
        offset 0
      ) l
      union all
      select ${columns} from relisted l where ${again} and ${beyond}`;
  };
}

function beyondListed(
  { value, tokenId, contractId, standard }: TokenKey,
  column: RawBuilder<unknown>,
  { direction, isTime }: ListedOrder,
): RawBuilder<unknown> {
  const bound = isTime
    ? sql`(timestamptz 'epoch' + ${anyValue(Number(value), "float8")} * interval '1 microsecond')`
    : anyValue(String(value), "numeric");
  return sql`
    (${column}, l.token_id, l.contract_id, l.standard) ${direction.than}
    (${bound}, ${anyValue(String(tokenId), "numeric")}, ${anyValue(contractId, "int")}, ${anyValue(standard, "smallint")})`;
}
