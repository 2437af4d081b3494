import { type RawBuilder, sql } from "kysely";
import { holdsAny } from "../engine/fact-window.ts";
import type { FactWindow, WindowWithKinds } from "../engine/projection.ts";
import { blockNumberOf } from "../log/blocks.ts";
import type { Session } from "../log/database.ts";
import { kindList, kindLiteral } from "../log/fact-kinds.ts";

const fetched = [
  "token_metadata_fetched",
  "contract_metadata_fetched",
  "metadata_confirmed",
] as const;

/** SQL: the ids of a change `f`. An event whose range is empty changes nothing. */
const isChange = sql`f.kind = ${kindLiteral("metadata_changed")} and coalesce(f.amount, 1) > 0`;
const firstId = sql`coalesce(f.token_id, -1)`;
const lastId = sql`coalesce(f.token_id + f.amount - 1, -1)`;

/**
 * Updates what contracts said to have changed, and whether it was fetched since: after the fetches of the window, whose
 * heights it is compared with.
 */
export async function applyChanges(
  session: Session,
  schema: string,
  window: WindowWithKinds,
): Promise<void> {
  if (holdsAny(window.kinds, ["metadata_changed"])) await applyEvents(session, schema, window);
  if (holdsAny(window.kinds, fetched)) await applyReads(session, schema, window);
}

async function applyEvents(session: Session, schema: string, window: FactWindow): Promise<void> {
  const table = sql.table(`${schema}.change`);
  const named = sql`
    select f.contract_id, ${firstId} as first_id, ${lastId} as last_id, k.chain_id, bool_or(f.weight < 0) as is_reverted,
           max(${blockNumberOf(sql`f.block_id`)}) filter (where f.weight > 0) as added_at
    from ${window.changes} f join log.contract k using (contract_id) where ${isChange} group by 1, 2, 3, 4`;
  const left = sql`
    select max(${blockNumberOf(sql`f.block_id`)}) as changed_at from ${window.facts} f
    where ${isChange} and f.contract_id = named.contract_id and f.token_id is not distinct from nullif(named.first_id, -1)
      and ${lastId} = named.last_id and f.position <= ${window.upTo}
      and not exists (select from ${window.retractedBlocks} gone where gone.block_id = f.block_id)`;
  await sql`
    with named as materialized (${named}), changed as materialized (
      select named.*, case when is_reverted then (${left})
                           else greatest(added_at, (
                             select h.changed_at from ${table} h
                             where h.contract_id = named.contract_id and h.first_id = named.first_id and h.last_id = named.last_id
                           )) end as changed_at
      from named
    ), removed as (
      delete from ${table} h using changed c
      where c.changed_at is null and h.contract_id = c.contract_id and h.first_id = c.first_id and h.last_id = c.last_id
    )
    insert into ${table} as h (contract_id, first_id, last_id, chain_id, changed_at, is_pending)
    select contract_id, first_id, last_id, chain_id, changed_at, ${isOutdated(schema, "c")}
    from changed c where changed_at is not null
    on conflict (contract_id, first_id, last_id) do update
    set changed_at = excluded.changed_at, is_pending = excluded.is_pending`.execute(session);
}

/** Changes of what a window fetched, and ranges around it: those that are pending, or newer than a fetch. */
async function applyReads(session: Session, schema: string, window: FactWindow): Promise<void> {
  const table = sql.table(`${schema}.change`);
  await sql`
    with read as materialized (
      select distinct f.contract_id, coalesce(f.token_id, -1) as token_id
      from ${window.changes} f where f.kind in ${kindList(...fetched)}
    ), oldest as materialized (
      select r.contract_id, min(t.read_at) as read_at
      from read r left join ${sql.table(`${schema}.token`)} t using (contract_id, token_id)
      group by r.contract_id
    ), affected as (
      select h.contract_id, h.first_id, h.last_id
      from read r join ${table} h on h.contract_id = r.contract_id and h.first_id = r.token_id and h.last_id = r.token_id
      union
      select h.contract_id, h.first_id, h.last_id
      from oldest o join ${table} h on h.contract_id = o.contract_id and h.last_id > h.first_id
        and (h.is_pending or h.changed_at > o.read_at)
    )
    update ${table} h set is_pending = not h.is_pending
    from affected a
    where h.contract_id = a.contract_id and h.first_id = a.first_id and h.last_id = a.last_id
      and h.is_pending <> ${isOutdated(schema, "h")}`.execute(session);
}

/** SQL: whether something with the ids of a change was fetched, and not since. */
function isOutdated(schema: string, change: string): RawBuilder<boolean> {
  const of = (name: string) => sql.ref(`${change}.${name}`);
  return sql<boolean>`case when ${of("first_id")} = -1 then exists (
      select from ${sql.table(`${schema}.contract`)} t
      where t.contract_id = ${of("contract_id")} and t.read_at < ${of("changed_at")}
    ) else exists (
      select from ${sql.table(`${schema}.token`)} t
      where t.contract_id = ${of("contract_id")} and t.token_id between ${of("first_id")} and ${of("last_id")}
        and t.read_at < ${of("changed_at")}
    ) end`;
}

/**
 * The same from all facts, without indexes. Few changes are pending: those newer than the oldest fetch of their contract
 * are compared with its tokens.
 */
export async function deriveAllChanges(
  session: Session,
  schema: string,
  window: FactWindow,
): Promise<void> {
  const table = (name: string) => sql.table(`${schema}.${name}`);
  await sql`
    with changed as materialized (
      select f.contract_id, ${firstId} as first_id, ${lastId} as last_id, k.chain_id,
             max(${blockNumberOf(sql`f.block_id`)}) as changed_at
      from ${window.changes} f join log.contract k using (contract_id) where ${isChange} group by 1, 2, 3, 4
    ), read as materialized (
      select contract_id, -1 as token_id, read_at from ${table("contract")}
      union all
      select contract_id, token_id, read_at from ${table("token")}
      where contract_id in (select contract_id from changed)
    ), oldest as materialized (
      select contract_id, min(read_at) as read_at from read group by contract_id
    ), single as (
      select c.contract_id, c.first_id from changed c join read t on t.contract_id = c.contract_id and t.token_id = c.first_id
      where c.last_id = c.first_id and t.read_at < c.changed_at
    ), range as (
      select distinct c.contract_id, c.first_id, c.last_id
      from changed c join oldest o on o.contract_id = c.contract_id and o.read_at < c.changed_at
      join read t on t.contract_id = c.contract_id and t.token_id between c.first_id and c.last_id
        and t.token_id >= 0 and t.read_at < c.changed_at
      where c.last_id > c.first_id
    )
    insert into ${table("change")} (contract_id, first_id, last_id, chain_id, changed_at, is_pending)
    select c.contract_id, c.first_id, c.last_id, c.chain_id, c.changed_at,
           s.contract_id is not null or r.contract_id is not null
    from changed c
    left join single s on s.contract_id = c.contract_id and s.first_id = c.first_id and c.last_id = c.first_id
    left join range r on r.contract_id = c.contract_id and r.first_id = c.first_id and r.last_id = c.last_id
    order by 1, 2, 3`.execute(session);
}
