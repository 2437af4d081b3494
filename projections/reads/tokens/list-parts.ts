import { type RawBuilder, sql } from "kysely";
import { isListed, matchesListed } from "../traits/current-listings.ts";
import { type AccessPath, accessPaths, type RowsAfter } from "./access-path.ts";
import type { TokenSort, TokensFilter } from "./filter.ts";
import { type Direction, listedTokens } from "./listed-tokens.ts";
import { rankedOfListed, rankedTokens, rankOf } from "./ranked-tokens.ts";
import { listedById, tokensById } from "./tokens-by-id.ts";

/** A list has two parts: tokens with the value sorted by (0), then the others by id (1). */
export type ListPart = { number: 0 | 1; rows: RowsAfter; order: RawBuilder<unknown> };

const ascending: Direction = { order: sql`asc`, comparison: sql`>` };
const descending: Direction = { order: sql`desc`, comparison: sql`<` };

export function listParts(
  filter: TokensFilter,
  sort: TokenSort,
  limit: RawBuilder<unknown>,
): ListPart[] {
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
