import { type RawBuilder, sql } from "kysely";
import type { FactWindow } from "../engine/projection.ts";
import { openScratchTables } from "../engine/scratch.ts";
import { rangedAreas, tokensAt } from "../engine/token-ids.ts";
import { matchKey, traitHash, traitTypeKey } from "../engine/trait-keys.ts";
import type { Session } from "../log/database.ts";
import { factKind } from "../log/fact-kinds.ts";
import { schemaOf } from "../log/versions.ts";

/** SQL: session table of the traits of affected tokens. */
export const parsedTrait = sql`pg_temp.parsed_trait`;

/** SQL: session table of the tokens that differ, before (`old_…`) and after. No keys: no row; no price: not listed. */
export const changedToken = sql`pg_temp.changed_token`;

const ANALYZE_ROWS = 500;

const owned = tokensAt(sql`t.contract_id`, sql`t.token_id`);

/** SQL: whether token `t` is not burned. An id may exist in both standards at once. */
export const isLive = sql`exists (
  select from ${owned} o where not o.is_burned
)`;
export const isKnown = sql`exists (
  select from ${owned} o
)`;

/** SQL: the cheapest active listing of token `t`, where its transfers are known. */
export const cheapestListing = sql`
  select l.standard, l.order_hash, l.unit_price_wei, l.position, max(l.created_at) over () as listed_at
  from listings.listing l
  where l.contract_id = t.contract_id and l.token_id = t.token_id and l.status = 'active'
    and exists (
      select from ${owned} o where o.standard = l.standard
    )
  order by l.unit_price_wei, l.position limit 1`;

/** Parses the traits in the affected tokens' metadata. */
async function parseTraits(session: Session): Promise<void> {
  await sql`
    with cleared as (delete from ${parsedTrait})
    insert into ${parsedTrait}
    select t.contract_id, t.token_id, trait.ord, trait.trait_key, trait.match_key, trait.type, trait.type_key,
           trait.value, trait.is_number, trait.is_numeric
    from ${affectedToken} t
    join metadata.token m on m.contract_id = t.contract_id and m.token_id = t.token_id and m.status = 'ok'
    join log.contract k on k.contract_id = t.contract_id
    cross join lateral (${traitsOf(sql`m.attributes`)}) trait
    where ${isKnown}`.execute(session);
}

/** SQL: joins the parsed traits of the tokens with metadata. */
const joinCurrentTraits = sql`
  left join lateral (
    select coalesce((
             select array_agg(n.trait_key order by n.ord) from ${parsedTrait} n
             where n.contract_id = t.contract_id and n.token_id = t.token_id
           ), '{}') as trait_keys, ${isLive} as is_live
    from metadata.token m
    where m.contract_id = t.contract_id and m.token_id = t.token_id and m.status = 'ok' and ${isKnown} offset 0
  ) n on true`;

/**
 * Lists which of the affected tokens differ, and how; returns how many. Without changes of metadata or owners only
 * listings can differ. Each token finds its rows by index, whatever statistics the planner has of session tables.
 */
export async function deriveAffectedTokens(
  session: Session,
  schema: string,
  { traitsMayChange }: { traitsMayChange: boolean },
): Promise<number> {
  if (traitsMayChange) await parseTraits(session);
  const traits = sql.ref(traitsMayChange ? "n" : "b");
  const ofToken = sql`o.contract_id = t.contract_id and o.token_id = t.token_id offset 0`;
  const { numAffectedRows } = await sql`
    with cleared as (delete from ${changedToken})
    insert into ${changedToken}
    select d.*
    from (
      select t.contract_id, t.token_id, b.trait_keys as old_keys, b.is_live as old_live,
             ${traits}.trait_keys, ${traits}.is_live, ${listing("w", "old_")}, ${listing("l", "")}
      from ${affectedToken} t
      left join lateral (select * from ${sql.table(`${schema}.token`)} o where ${ofToken}) b on true
      left join lateral (select * from ${sql.table(`${schema}.listed_token`)} o where ${ofToken}) w on true
      ${traitsMayChange ? joinCurrentTraits : sql``}
      left join lateral (${cheapestListing}) l on true
    ) d
    where (${fields("old_")}) is distinct from (${fields("")})`.execute(session);
  const rows = Number(numAffectedRows ?? 0n);
  if (rows > ANALYZE_ROWS) await sql`analyze ${changedToken}`.execute(session);
  return rows;
}

/** Creates the session tables, which all windows use in turn. */
export async function openSessionTables(session: Session): Promise<void> {
  await openScratchTables(session, {
    affected_token: "contract_id integer, token_id numeric(78,0)",
    parsed_trait: `
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

/** SQL: session table of the tokens to derive. */
const affectedToken = sql`pg_temp.affected_token`;

const number = (kind: number) => sql.raw(String(kind));
const fetched = number(factKind.token_metadata_fetched);
const single = sql`(${number(factKind.erc721_transfer)}, ${number(factKind.erc1155_transfer)})`;

/** Number of rows from which analyzing the table pays off. */
const ANALYZE_AFFECTED_ROWS = 500;

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
  if (rows > ANALYZE_AFFECTED_ROWS) await sql`analyze ${affectedToken}`.execute(session);
  return rows;
}

/** Longer types and values are shown with the token but are not traits. */
const [maxTypeLength, maxValueLength] = [sql.raw("200"), sql.raw("1000")];
const maxTraits = sql.raw("200");

/**
 * SQL: the traits among `attributes` (jsonb) of a token of contract `k` (log.contract): `ord`, both keys, type and value.
 * Of repeated traits the first is used, whatever the spelling of its type.
 */
export function traitsOf(attributes: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select distinct on (match_key) ord, type, ${traitTypeKey(sql`type`)} as type_key, value #>> '{}' as value,
           jsonb_typeof(value) = 'number' as is_number,
           value #>> '{}' ~ '^\\s*[-+]?\\d+(\\.\\d+)?([eE][-+]?\\d+)?\\s*$' as is_numeric,
           ${traitHash(sql`jsonb_build_array(k.chain_id, encode(k.address, 'hex'), type, value)`)} as trait_key, match_key
    from (
      select ord, item ->> 'trait_type' as type, item -> 'value' as value,
             ${matchKey(sql`item ->> 'trait_type'`, sql`item ->> 'value'`)} as match_key
      from jsonb_array_elements(
        case jsonb_typeof(${attributes}) when 'array' then ${attributes} else '[]' end
      ) with ordinality listed (item, ord)
      where ord <= ${maxTraits} and jsonb_typeof(item) = 'object'
        and jsonb_typeof(item -> 'trait_type') = 'string' and item ->> 'trait_type' ~ '\\S'
        and length(item ->> 'trait_type') <= ${maxTypeLength}
        and jsonb_typeof(item -> 'value') in ('string', 'number', 'boolean')
        and length(item ->> 'value') <= ${maxValueLength}
    ) attribute
    order by match_key, ord`;
}
