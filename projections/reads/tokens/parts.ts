import { type RawBuilder, sql } from "kysely";
import { listedById, tokensById } from "./by-id.ts";
import { type Rows, type Way, waysTo } from "./candidates.ts";
import type { TokenSort, TokensFilter } from "./filter.ts";
import { isListed, listedIs } from "./listed-now.ts";
import { type Direction, listedTokens } from "./listed-tokens.ts";
import { rankedOfListed, rankedTokens, rankOf } from "./ranked.ts";

/** A list is what has the value sorted by, and after that what has none, by id. */
export type Part = { number: 0 | 1; rows: Rows; order: RawBuilder<unknown> };

const up: Direction = { towards: sql`asc`, than: sql`>` };
const down: Direction = { towards: sql`desc`, than: sql`<` };

export function partsOf(filter: TokensFilter, sort: TokenSort, limit: RawBuilder<unknown>): Part[] {
  const ways = waysTo(filter, sort, limit);
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
  const waysById = waysTo(filter, "token_id", limit);
  const unlisted = along(waysById, ({ source }) =>
    tokensById(filter, source, sql`not ${isListed}`),
  );
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
