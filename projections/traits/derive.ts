import { type RawBuilder, sql } from "kysely";
import type { Session } from "../database.ts";
import { openScratch } from "../engine/scratch.ts";
import { traitsOf } from "./normalize.ts";
import { touchedToken } from "./touched.ts";

/** Traits of touched tokens, in a table of the session. */
export const namedTrait = sql`pg_temp.named_trait`;

/** Touched tokens that differ: what they were (`old_…`) and are. No keys: no row; no price: not listed. */
export const changedToken = sql`pg_temp.changed_token`;

const ANALYZE_ROWS = 500;

/** Whether a token of row `t` is in somebody's hands. An id may be of both standards at once. */
export const isLive = sql`exists (
  select from ownership.token o
  where o.contract_id = t.contract_id and o.token_id = t.token_id and not o.is_burned
)`;
export const isKnown = sql`exists (
  select from ownership.token o where o.contract_id = t.contract_id and o.token_id = t.token_id
)`;

/** The cheapest active listing of token `t`, where its transfers are known. */
export const cheapestListing = sql`
  select l.standard, l.order_hash, l.unit_price_wei, l.position, max(l.created_at) over () as listed_at
  from listings.listing l
  where l.contract_id = t.contract_id and l.token_id = t.token_id and l.status = 'active'
    and exists (
      select from ownership.token o
      where o.contract_id = l.contract_id and o.token_id = l.token_id and o.standard = l.standard
    )
  order by l.unit_price_wei, l.position limit 1`;

/** Fills both tables from the touched tokens. Returns how many differ. */
export async function deriveTouched(session: Session, schema: string): Promise<number> {
  await openTables(session);
  await sql`
    insert into ${namedTrait}
    select t.contract_id, t.token_id, trait.ord, trait.trait_key, trait.match_key, trait.type, trait.type_key,
           trait.value, trait.is_number, trait.is_numeric
    from ${touchedToken} t
    join metadata.token m on m.contract_id = t.contract_id and m.token_id = t.token_id and m.status = 'ok'
    join log.contract k on k.contract_id = t.contract_id
    cross join lateral (${traitsOf(sql`m.attributes`)}) trait
    where ${isKnown}`.execute(session);
  const { numAffectedRows } = await sql`
    insert into ${changedToken}
    select d.*
    from (
      select t.contract_id, t.token_id,
             b.trait_keys as old_keys, b.is_live as old_live,
             case when m.contract_id is not null and ${isKnown} then coalesce(n.trait_keys, '{}') end as trait_keys,
             case when m.contract_id is not null and ${isKnown} then ${isLive} end as is_live,
             ${listing("w", "old_")}, ${listing("l", "")}
      from ${touchedToken} t
      left join ${sql.table(`${schema}.token`)} b using (contract_id, token_id)
      left join ${sql.table(`${schema}.listed`)} w using (contract_id, token_id)
      left join metadata.token m
        on m.contract_id = t.contract_id and m.token_id = t.token_id and m.status = 'ok'
      left join (
        select contract_id, token_id, array_agg(trait_key order by ord) as trait_keys
        from ${namedTrait} group by contract_id, token_id
      ) n on n.contract_id = t.contract_id and n.token_id = t.token_id
      left join lateral (${cheapestListing}) l on true
    ) d
    where (${fields("old_")}) is distinct from (${fields("")})`.execute(session);
  const rows = Number(numAffectedRows ?? 0n);
  if (rows > ANALYZE_ROWS) await sql`analyze ${changedToken}`.execute(session);
  return rows;
}

async function openTables(session: Session): Promise<void> {
  await openScratch(
    session,
    "named_trait",
    `contract_id integer, token_id numeric(78,0), ord bigint, trait_key uuid, match_key uuid, type text,
     type_key text, value text, is_number boolean, is_numeric boolean`,
  );
  await openScratch(
    session,
    "changed_token",
    `contract_id integer, token_id numeric(78,0), old_keys uuid[], old_live boolean, trait_keys uuid[],
     is_live boolean, old_standard smallint, old_hash bytea, old_price numeric(78,0), old_position bigint,
     old_at timestamptz, standard smallint, order_hash bytea, unit_price_wei numeric(78,0), position bigint,
     listed_at timestamptz`,
  );
  await sql`delete from ${namedTrait}`.execute(session);
  await sql`delete from ${changedToken}`.execute(session);
}

function listing(from: string, prefix: "" | "old_"): RawBuilder<unknown> {
  const names = prefix === "" ? columns : oldColumns;
  return sql.join(
    columns.map((column, index) => {
      return sql`${sql.ref(`${from}.${column}`)} as ${sql.ref(names[index] ?? column)}`;
    }),
  );
}

const columns = ["standard", "order_hash", "unit_price_wei", "position", "listed_at"] as const;
const oldColumns = ["old_standard", "old_hash", "old_price", "old_position", "old_at"] as const;

function fields(prefix: "" | "old_"): RawBuilder<unknown> {
  const names =
    prefix === "" ? ["trait_keys", "is_live", ...columns] : ["old_keys", "old_live", ...oldColumns];
  return sql.join(names.map((name) => sql.ref(`d.${name}`)));
}
