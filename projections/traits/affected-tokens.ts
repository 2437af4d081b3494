import { sql } from "kysely";
import type { Session } from "../log/database.ts";
import type { FactWindow } from "../engine/projection.ts";
import { factKind } from "../log/fact-kinds.ts";
import { rangedAreas, tokensAt } from "../engine/token-ids.ts";
import { schemaOf } from "../log/versions.ts";

/** SQL: session table of the tokens to derive. */
export const affectedToken = sql`pg_temp.affected_token`;

const number = (kind: number) => sql.raw(String(kind));
const fetched = number(factKind.token_metadata_fetched);
const single = sql`(${number(factKind.erc721_transfer)}, ${number(factKind.erc1155_transfer)})`;

/** Number of rows from which analyzing the table pays off. */
const ANALYZE_ROWS = 500;

/**
 * Lists the tokens that a window may change: with new metadata, transferred ones with metadata or listings (of a range
 * those that came to be burned, or no longer are), and those whose listings changed. Where the latter are unknown, all listed tokens. Returns how many.
 */
export async function listAffectedTokens(
  session: Session,
  schema: string,
  window: FactWindow,
): Promise<number> {
  const changedListings =
    window.changedKeys.get(schemaOf("listings")) ??
    sql`(
      select contract_id, token_id from listings.listing where status = 'active'
      union all
      select contract_id, token_id from ${sql.table(`${schema}.listed_token`)}
    )`;
  const { numAffectedRows } = await sql`
    with cleared as (delete from ${affectedToken})
    insert into ${affectedToken}
    select contract_id, token_id from ${window.changes} where kind = ${fetched} and token_id is not null
    union
    select m.contract_id, m.token_id
    from (select distinct contract_id, token_id from ${window.changes} where kind in ${single} offset 0) m
    where exists (
            select from metadata.token d where d.contract_id = m.contract_id and d.token_id = m.token_id
          )
       or exists (
            select from listings.listing l
            where l.contract_id = m.contract_id and l.token_id = m.token_id and l.status in ('active', 'inactive')
          )
    union
    select area.contract_id, known.token_id
    from (${rangedAreas(window.changes)}) area
    cross join lateral (
      select d.token_id from metadata.token d
      left join ${sql.table(`${schema}.token`)} t using (contract_id, token_id)
      where d.contract_id = area.contract_id and d.token_id >= area.first_id and d.token_id < area.end_id
        and d.status = 'ok' and t.is_live is distinct from (
          select bool_or(not o.is_burned) from ${tokensAt(sql`d.contract_id`, sql`d.token_id`)} o
        )
      union all
      select l.token_id from listings.listing l
      where l.contract_id = area.contract_id and l.token_id >= area.first_id and l.token_id < area.end_id
        and l.status in ('active', 'inactive')
      offset 0
    ) known
    union
    select contract_id, token_id from ${changedListings} listed_token`.execute(session);
  const rows = Number(numAffectedRows ?? 0n);
  if (rows > ANALYZE_ROWS) await sql`analyze ${affectedToken}`.execute(session);
  return rows;
}
