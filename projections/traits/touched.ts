import { sql } from "kysely";
import type { Session } from "../database.ts";
import type { FactWindow } from "../engine/projection.ts";
import { factKind } from "../log/fact-kind.ts";

/** Tokens to derive anew, in a table of the session. */
export const touchedToken = sql`pg_temp.touched_token`;

const number = (kind: number) => sql.raw(String(kind));
const fetched = number(factKind.token_metadata_fetched);
const single = sql`(${number(factKind.erc721_transfer)}, ${number(factKind.erc1155_transfer)})`;
const ranges = number(factKind.erc721_consecutive_transfer);

/** Rows from which statistics of the table pay for themselves. */
const ANALYZE_ROWS = 500;

/**
 * Lists what a window may change: tokens with new metadata, tokens that moved and have metadata or listings, and tokens
 * whose listings changed. Where nobody knows the latter, every listed token is listed. Returns how many.
 */
export async function findTouched(
  session: Session,
  schema: string,
  window: FactWindow,
): Promise<number> {
  const moves =
    window.changedKeys.get("listings") ??
    sql`(
      select contract_id, token_id from listings.listing where status = 'active'
      union all
      select contract_id, token_id from ${sql.table(`${schema}.listed_token`)}
    )`;
  const { numAffectedRows } = await sql`
    with emptied as (delete from ${touchedToken})
    insert into ${touchedToken}
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
    select r.contract_id, known.token_id
    from (select contract_id, token_id as first, amount as tokens from ${window.changes} where kind = ${ranges} offset 0) r
    cross join lateral (
      select d.token_id from metadata.token d
      where d.contract_id = r.contract_id and d.token_id >= r.first and d.token_id < r.first + r.tokens
      union all
      select l.token_id from listings.listing l
      where l.contract_id = r.contract_id and l.token_id >= r.first and l.token_id < r.first + r.tokens
        and l.status in ('active', 'inactive')
    ) known
    union
    select contract_id, token_id from ${moves} listed_token`.execute(session);
  const rows = Number(numAffectedRows ?? 0n);
  if (rows > ANALYZE_ROWS) await sql`analyze ${touchedToken}`.execute(session);
  return rows;
}
