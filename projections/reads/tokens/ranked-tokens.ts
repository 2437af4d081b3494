import { type RawBuilder, sql } from "kysely";
import { anyValue } from "#projections/log/sql-values.ts";
import { tokensAt } from "#projections/engine/token-ids.ts";
import { hasNoEndedListing, matchesListed } from "../traits/current-listings.ts";
import { idsWithTraits, type RowsAfter, type Source } from "./access-path.ts";
import { contractsOf, matchesTraits, type TokenKey, type TokensFilter } from "./filter.ts";

const columns = sql`t.contract_id, t.token_id, t.standard, r.rank::numeric as value`;

/** SQL: the rank of token `t` in the collection. */
export function rankOf(filter: TokensFilter): RawBuilder<unknown> {
  return sql`
    select r.rank from rarity.token r
    where r.contract_id = t.contract_id and r.token_id = t.token_id and r.collection_id = ${ofCollection(filter)}
    offset 0`;
}

/** Tokens by rank. */
export function rankedTokens(filter: TokensFilter, source: Source): RowsAfter {
  return (after, limit) => {
    const rowCondition = sql`r.collection_id = ${ofCollection(filter)} and ${fromCursorRank(after)}`;
    if (source === "named") {
      return sql`
        select ${columns} from named_token t join rarity.token r using (contract_id, token_id)
        where ${rowCondition} and ${afterCursor(after)} and ${matchesListed(filter)}`;
    }
    const ranks =
      source === "bitmap"
        ? sql`
          select r.* from ${idsWithTraits} h cross join lateral (
            select r.rank, r.token_id, r.contract_id from rarity.token r
            where r.contract_id = h.contract_id and r.token_id = h.token_id and ${rowCondition} offset 0
          ) r`
        : sql`
          select r.rank, r.token_id, r.contract_id from rarity.token r
          where ${rowCondition} and r.contract_id = any (${contractsOf(filter)}) and ${matchesTraits(filter, "r")}`;
    return sql`
      select t.* from (${ranks} order by r.rank, r.token_id, r.contract_id offset 0) r cross join lateral (
        select ${columns} from ${tokensAt(sql`r.contract_id`, sql`r.token_id`)} t
        where ${afterCursor(after)} and ${matchesListed(filter)}
        offset 0
      ) t
      order by r.rank, r.token_id, r.contract_id, t.standard limit ${limit}`;
  };
}

/** Listed tokens by rank: all are looked up and sorted. */
export function rankedOfListed(filter: TokensFilter): RowsAfter {
  return (after) => sql`
    select ${columns} from (
      select l.contract_id, l.token_id, l.standard from traits.listed_token l where ${hasNoEndedListing("l")}
      union all
      select l.contract_id, l.token_id, l.standard from replacement_listing l
    ) t join rarity.token r using (contract_id, token_id)
    where t.contract_id = any (${contractsOf(filter)}) and r.collection_id = ${ofCollection(filter)}
      and ${fromCursorRank(after)} and ${afterCursor(after)}`;
}

function ofCollection({ collectionId }: TokensFilter): RawBuilder<unknown> {
  return anyValue(collectionId, "int");
}

/** Served by an index. The cursor's own id is included: its other standard may follow. */
function fromCursorRank(after: TokenKey | null): RawBuilder<unknown> {
  return after === null
    ? sql`true`
    : sql`(r.rank, r.token_id, r.contract_id) >= (${cursorOf(after)})`;
}

function afterCursor(after: TokenKey | null): RawBuilder<unknown> {
  if (after === null) return sql`true`;
  return sql`
    (r.rank, r.token_id, r.contract_id, t.standard)
    > (${cursorOf(after)}, ${anyValue(after.standard, "smallint")})`;
}

function cursorOf({ value, tokenId, contractId }: TokenKey): RawBuilder<unknown> {
  const [rank, id] = [anyValue(Number(value), "int"), anyValue(String(tokenId), "numeric")];
  return sql`${rank}, ${id}, ${anyValue(contractId, "int")}`;
}
