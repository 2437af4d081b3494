import { type RawBuilder, sql } from "kysely";
import type { Session } from "../database.ts";
import { type FactKind, factKind } from "../log/fact-kind.ts";
import type { Window } from "./projection.ts";

const columns = sql`f.position, f.block_id, f.transaction_index, f.log_index, f.contract_id, f.sub_index, f.kind,
  f.token_id, f.amount, f.from_address, f.to_address, f.order_hash, f.recorded_at, f.payload`;

/** Facts in a window from which statistics of the temporary table pay for themselves. */
const ANALYZE_FACTS = 2_000n;

/**
 * Fills the session's temporary tables `dropped` and `change` for a window. A fact counts at a position when it is
 * not above it and its block is not dropped there; `change` holds the facts for which that differs between the
 * window's two ends, with the sign of the difference.
 */
export async function openWindow(session: Session, { after, upTo }: Window): Promise<void> {
  await openDropped(session, upTo);
  await sql`
    create temporary table if not exists change (
      weight integer, position bigint, block_id bigint, transaction_index integer, log_index integer,
      contract_id integer, sub_index integer, kind smallint, token_id numeric(78,0), amount numeric(78,0),
      from_address bytea, to_address bytea, order_hash bytea, recorded_at timestamptz, payload jsonb
    ) on commit delete rows`.execute(session);

  await sql`
    insert into change
    select 1, ${columns} from log.fact f
    where f.position > ${after} and f.position <= ${upTo} and f.kind not in (1, 2)
      and not exists (select from dropped d where d.block_id = f.block_id)`.execute(session);
  await sql`
    with named as materialized (
      select distinct block_id from log.fact where kind in (1, 2) and position > ${after} and position <= ${upTo}
    ), flipped as materialized (
      select s.block_id, (was.state is not distinct from 1)::int - (d.block_id is not null)::int as weight
      from named s
      left join lateral (
        select f.kind as state from log.fact f
        where f.block_id = s.block_id and f.kind in (1, 2) and f.position <= ${after}
        order by f.position desc limit 1
      ) was on true
      left join dropped d using (block_id)
    )
    insert into change
    select flipped.weight, ${columns}
    from flipped cross join lateral (${factsOf(sql`flipped.block_id`)}) f
    where flipped.weight <> 0 and f.position <= ${after}`.execute(session);
  if (upTo - after > ANALYZE_FACTS)
    await sql`
      analyze change (weight, block_id, transaction_index, contract_id, kind, token_id)`.execute(
      session,
    );
}

/** Kinds of the facts that begin or cease to count in the open window. */
export async function readKinds(session: Session): Promise<ReadonlySet<number>> {
  const { rows } = await sql<{ kind: number }>`select distinct kind from change`.execute(session);
  return new Set(rows.map(({ kind }) => kind));
}

/** Whether any of some kinds is among those of a window. */
export function holdsAny(kinds: ReadonlySet<number>, some: readonly FactKind[]): boolean {
  return some.some((kind) => kinds.has(factKind[kind]));
}

/** A block's facts, each sort by the index that holds it: no index holds both. */
function factsOf(blockId: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select * from log.fact event where event.block_id = ${blockId} and event.log_index is not null
    union all
    select * from log.fact observed
    where observed.block_id = ${blockId} and observed.log_index is null and observed.kind not in (1, 2)`;
}

/**
 * The same for the window that is all of the log up to a position but some facts. `change` is no table but a view of the log: nothing
 * is copied.
 */
export async function openHistory(
  session: Session,
  upTo: bigint,
  without: readonly bigint[] = [],
): Promise<void> {
  await openDropped(session, upTo);
  await sql`analyze dropped`.execute(session);
  const { rows: dropped } = await sql`select from dropped limit 1`.execute(session);
  const parts = [
    sql`f.position <= ${sql.raw(upTo.toString())} and f.kind not in (1, 2)`,
    // Asked of every fact, even of no dropped block, it would cost as much as reading the fact.
    ...(dropped.length === 0
      ? []
      : [sql`not exists (select from dropped d where d.block_id = f.block_id)`]),
    ...(without.length === 0
      ? []
      : [sql`f.position <> all (${sql.lit(`{${without.join()}}`)}::bigint[])`]),
  ];
  await sql`drop table if exists pg_temp.change`.execute(session);
  await sql`
    create temporary view change as
    select 1 as weight, ${columns} from log.fact f where ${sql.join(parts, sql` and `)}`.execute(
    session,
  );
}

/** Of a kind that no event of a chain tells, in words by which a derivation from the whole log finds the few by index. */
export const isObservation = (kind: FactKind): RawBuilder<boolean> =>
  sql<boolean>`kind = ${sql.raw(String(factKind[kind]))} and log_index is null`;

/** Makes room for the next window of the connection. */
export async function closeHistory(session: Session): Promise<void> {
  await sql`drop view pg_temp.change`.execute(session);
}

/**
 * The table outlives its transaction and changes only with the blocks: emptied and filled again by each, it would have
 * every plan that names it made anew.
 */
async function openDropped(session: Session, upTo: bigint): Promise<void> {
  await sql`create temporary table if not exists dropped (block_id bigint primary key)`.execute(
    session,
  );
  await sql`
    with now as materialized (select block_id from log.dropped(${upTo})),
    gone as (
      delete from dropped where block_id not in (select block_id from now)
    )
    insert into dropped select block_id from now where block_id not in (select block_id from dropped)`.execute(
    session,
  );
}
