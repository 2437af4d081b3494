import { type RawBuilder, sql } from "kysely";
import type { Session } from "../database.ts";
import { openScratches } from "../engine/scratch.ts";
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

/** Traits and owners of the touched tokens may be others than before. */
async function nameTraits(session: Session): Promise<void> {
  await sql`
    with emptied as (delete from ${namedTrait})
    insert into ${namedTrait}
    select t.contract_id, t.token_id, trait.ord, trait.trait_key, trait.match_key, trait.type, trait.type_key,
           trait.value, trait.is_number, trait.is_numeric
    from ${touchedToken} t
    join metadata.token m on m.contract_id = t.contract_id and m.token_id = t.token_id and m.status = 'ok'
    join log.contract k on k.contract_id = t.contract_id
    cross join lateral (${traitsOf(sql`m.attributes`)}) trait
    where ${isKnown}`.execute(session);
}

/** The traits that were named, of the tokens that have metadata. */
const traitsNow = sql`
  left join lateral (
    select coalesce((
             select array_agg(n.trait_key order by n.ord) from ${namedTrait} n
             where n.contract_id = t.contract_id and n.token_id = t.token_id
           ), '{}') as trait_keys, ${isLive} as is_live
    from metadata.token m
    where m.contract_id = t.contract_id and m.token_id = t.token_id and m.status = 'ok' and ${isKnown} offset 0
  ) n on true`;

/**
 * Lists which of the touched tokens differ, and how. Returns how many. Where neither metadata nor owners moved, only
 * listings can. Each token finds its rows by index, whatever the planner knows of the session's tables.
 */
export async function deriveTouched(
  session: Session,
  schema: string,
  { isRetold }: { isRetold: boolean },
): Promise<number> {
  if (isRetold) await nameTraits(session);
  const traits = sql.ref(isRetold ? "n" : "b");
  const ofToken = sql`o.contract_id = t.contract_id and o.token_id = t.token_id offset 0`;
  const { numAffectedRows } = await sql`
    with emptied as (delete from ${changedToken})
    insert into ${changedToken}
    select d.*
    from (
      select t.contract_id, t.token_id, b.trait_keys as old_keys, b.is_live as old_live,
             ${traits}.trait_keys, ${traits}.is_live, ${listing("w", "old_")}, ${listing("l", "")}
      from ${touchedToken} t
      left join lateral (select * from ${sql.table(`${schema}.token`)} o where ${ofToken}) b on true
      left join lateral (select * from ${sql.table(`${schema}.listed_token`)} o where ${ofToken}) w on true
      ${isRetold ? traitsNow : sql``}
      left join lateral (${cheapestListing}) l on true
    ) d
    where (${fields("old_")}) is distinct from (${fields("")})`.execute(session);
  const rows = Number(numAffectedRows ?? 0n);
  if (rows > ANALYZE_ROWS) await sql`analyze ${changedToken}`.execute(session);
  return rows;
}

/** Makes the tables of the session that one window after the other goes through. */
export async function openTables(session: Session): Promise<void> {
  await openScratches(session, {
    touched_token: "contract_id integer, token_id numeric(78,0)",
    named_trait: `
      contract_id integer, token_id numeric(78,0), ord bigint, trait_key uuid, match_key uuid, type text,
      type_key text, value text, is_number boolean, is_numeric boolean`,
    changed_token: `
      contract_id integer, token_id numeric(78,0), old_keys uuid[], old_live boolean, trait_keys uuid[],
      is_live boolean, old_standard smallint, old_hash bytea, old_price numeric(78,0), old_position bigint,
      old_at timestamptz, standard smallint, order_hash bytea, unit_price_wei numeric(78,0), position bigint,
      listed_at timestamptz`,
  });
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
