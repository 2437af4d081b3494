import { type RawBuilder, sql } from "kysely";
import { anyValue } from "../../sql/any-value.ts";
import { idsHaving, type Rows, type Source } from "./candidates.ts";
import { familyOf, fitsTraits, type TokenKey, type TokensFilter } from "./filter.ts";
import { listedIs, stands } from "./listed-now.ts";

const columns = sql`t.contract_id, t.token_id, t.standard, r.rank::numeric as value`;

/** The rank of token `t` in the collection. */
export function rankOf(filter: TokensFilter): RawBuilder<unknown> {
  return sql`
    select r.rank from rarity.token r
    where r.contract_id = t.contract_id and r.token_id = t.token_id and r.collection_id = ${ofCollection(filter)}
    offset 0`;
}

/** Tokens by rank. */
export function rankedTokens(filter: TokensFilter, source: Source): Rows {
  return (after, limit) => {
    const fitting = sql`r.collection_id = ${ofCollection(filter)} and ${beyondRank(after)}`;
    if (source === "chosen") {
      return sql`
        select ${columns} from chosen t join rarity.token r using (contract_id, token_id)
        where ${fitting} and ${beyondStandard(after)} and ${listedIs(filter)}`;
    }
    const ranks =
      source === "having"
        ? sql`
          select r.* from ${idsHaving} h cross join lateral (
            select r.rank, r.token_id, r.contract_id from rarity.token r
            where r.contract_id = h.contract_id and r.token_id = h.token_id and ${fitting} offset 0
          ) r`
        : sql`
          select r.rank, r.token_id, r.contract_id from rarity.token r
          where ${fitting} and r.contract_id = any (${familyOf(filter)}) and ${fitsTraits(filter, "r")}`;
    return sql`
      select t.* from (${ranks} order by r.rank, r.token_id, r.contract_id offset 0) r cross join lateral (
        select ${columns} from ownership.token t
        where t.contract_id = r.contract_id and t.token_id = r.token_id
          and ${beyondStandard(after)} and ${listedIs(filter)}
        offset 0
      ) t
      order by r.rank, r.token_id, r.contract_id, t.standard limit ${limit}`;
  };
}

/** The listed ones by rank, each looked up and sorted. */
export function rankedOfListed(filter: TokensFilter): Rows {
  return (after) => sql`
    select ${columns} from (
      select l.contract_id, l.token_id, l.standard from traits.listed l where ${stands("l")}
      union all
      select l.contract_id, l.token_id, l.standard from relisted l
    ) t join rarity.token r using (contract_id, token_id)
    where t.contract_id = any (${familyOf(filter)}) and r.collection_id = ${ofCollection(filter)}
      and ${beyondRank(after)} and ${beyondStandard(after)}`;
}

function ofCollection({ collectionId }: TokensFilter): RawBuilder<unknown> {
  return anyValue(collectionId, "int");
}

/** What an index serves; of the cursor's own id the other standard may follow. */
function beyondRank(after: TokenKey | null): RawBuilder<unknown> {
  return after === null
    ? sql`true`
    : sql`(r.rank, r.token_id, r.contract_id) >= (${placeOf(after)})`;
}

function beyondStandard(after: TokenKey | null): RawBuilder<unknown> {
  if (after === null) return sql`true`;
  return sql`
    (r.rank, r.token_id, r.contract_id, t.standard)
    > (${placeOf(after)}, ${anyValue(after.standard, "smallint")})`;
}

function placeOf({ value, tokenId, contractId }: TokenKey): RawBuilder<unknown> {
  const [rank, id] = [anyValue(Number(value), "int"), anyValue(String(tokenId), "numeric")];
  return sql`${rank}, ${id}, ${anyValue(contractId, "int")}`;
}
