import { type RawBuilder, sql } from "kysely";
import type { Session } from "../log/database.ts";
import { type FactKind, factKind, kindList, kindLiteral } from "../log/fact-kinds.ts";
import { sendAhead } from "../log/pipelined.ts";
import type {
  EffectiveFacts,
  FactWindow,
  Relation,
  Window,
  WindowWithKinds,
} from "./projection.ts";

const columns = sql`f.position, f.block_id, f.transaction_index, f.log_index, f.contract_id, f.sub_index, f.kind,
  f.token_id, f.amount, f.from_address, f.to_address, f.order_hash, f.recorded_at, f.payload`;
const isOfBlock = sql`kind in ${kindList("block_retracted", "block_readopted")}`;

/** Facts in a window from which statistics of the temporary table pay for themselves. */
const ANALYZE_FACTS = 2_000n;

/** All facts of the log. */
export const logFacts: Relation = sql`log.fact`;
/** Tables of the session. */
const changes: Relation = sql`change`;
const retractedBlocks: Relation = sql`retracted_block`;

/**
 * Opens a window in tables of the session. A fact is effective at a position when it is not above it and its block is
 * not retracted there; `changes` holds the facts for which that differs between the window's two ends, with the sign of
 * the difference.
 */
export async function openWindow(session: Session, { after, upTo }: Window): Promise<FactWindow> {
  await sendAhead(session, (ahead) => collectChanges(ahead, { after, upTo }));
  return { after, upTo, changes, retractedBlocks, facts: logFacts, changedKeys: new Map() };
}

async function collectChanges(session: Session, { after, upTo }: Window): Promise<void> {
  await openRetractedBlocks(session, upTo);
  await sql`
    create temporary table if not exists ${changes} (
      weight integer, position bigint, block_id bigint, transaction_index integer, log_index integer,
      contract_id integer, sub_index integer, kind smallint, token_id numeric(78,0), amount numeric(78,0),
      from_address bytea, to_address bytea, order_hash bytea, recorded_at timestamptz, payload jsonb
    ) on commit delete rows`.execute(session);

  await sql`
    insert into ${changes}
    select 1, ${columns} from ${logFacts} f
    where f.position > ${after} and f.position <= ${upTo} and not f.${isOfBlock}
      and not exists (select from ${retractedBlocks} r where r.block_id = f.block_id)`.execute(
    session,
  );
  await sql`
    with named as materialized (
      select distinct block_id from ${logFacts} where ${isOfBlock} and position > ${after} and position <= ${upTo}
    ), flipped as materialized (
      select s.block_id,
             (was.state is not distinct from ${kindLiteral("block_retracted")})::int - (r.block_id is not null)::int as weight
      from named s
      left join lateral (
        select f.kind as state from ${logFacts} f
        where f.block_id = s.block_id and f.${isOfBlock} and f.position <= ${after}
        order by f.position desc limit 1
      ) was on true
      left join ${retractedBlocks} r using (block_id)
    )
    insert into ${changes}
    select flipped.weight, ${columns}
    from flipped cross join lateral (${factsOf(sql`flipped.block_id`)}) f
    where flipped.weight <> 0 and f.position <= ${after}`.execute(session);
  if (upTo - after > ANALYZE_FACTS)
    await sql`
      analyze ${changes} (weight, block_id, transaction_index, contract_id, kind, token_id)`.execute(
      session,
    );
}

/** Empties an open window, for another one in the same transaction. */
export async function closeWindow(session: Session): Promise<void> {
  await sql`delete from ${changes}`.execute(session);
}

/** Makes a fact of the log part of an open window's changes. `facts` selects rows `f`. */
export async function addChanges(session: Session, facts: RawBuilder<unknown>): Promise<void> {
  await sql`insert into ${changes} select 1, ${columns} from ${facts}`.execute(session);
}

/** Kinds of a window's changes. */
export async function readKinds(
  session: Session,
  window: Pick<FactWindow, "changes" | "kinds">,
): Promise<ReadonlySet<number>> {
  if (window.kinds !== undefined) return window.kinds;
  const { rows } = await sql<{ kind: number }>`
    select distinct kind from ${window.changes}`.execute(session);
  return new Set(rows.map(({ kind }) => kind));
}

/** The window with the kinds of its changes, read where they were not. */
export async function withKinds(session: Session, window: FactWindow): Promise<WindowWithKinds> {
  return { ...window, kinds: await readKinds(session, window) };
}

/** Whether any of some kinds is among those of a window. */
export function holdsAny(kinds: ReadonlySet<number>, some: readonly FactKind[]): boolean {
  return some.some((kind) => kinds.has(factKind[kind]));
}

/** A block's facts, chain events and observations each by the index that holds them: no index holds both. */
function factsOf(blockId: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select * from ${logFacts} event where event.block_id = ${blockId} and event.log_index is not null
    union all
    select * from ${logFacts} observed
    where observed.block_id = ${blockId} and observed.log_index is null and not observed.${isOfBlock}`;
}

/**
 * The window that is all of the log up to a position, without some facts. Its changes are a view of the log: nothing is
 * copied.
 */
export async function withHistory(
  session: Session,
  upTo: bigint,
  excluded: readonly bigint[],
  work: (window: FactWindow) => Promise<void>,
): Promise<void> {
  await openRetractedBlocks(session, upTo);
  await sql`analyze ${retractedBlocks}`.execute(session);
  const { rows: retracted } = await sql`select from ${retractedBlocks} limit 1`.execute(session);
  const conditions = [
    sql`f.position <= ${sql.raw(upTo.toString())} and not f.${isOfBlock}`,
    // Evaluated for every fact, even without a retracted block it would cost as much as reading the fact.
    ...(retracted.length === 0
      ? []
      : [sql`not exists (select from ${retractedBlocks} r where r.block_id = f.block_id)`]),
  ];
  const history = sql`pg_temp.history`;
  await withoutFacts(session, excluded, logFacts, async (facts) => {
    await sql`
      create temporary view history as
      select 1 as weight, ${columns} from ${facts} f where ${sql.join(conditions, sql` and `)}`.execute(
      session,
    );
    const changedKeys = new Map<string, Relation>();
    await work({ after: 0n, upTo, changes: history, retractedBlocks, facts, changedKeys });
    await sql`drop view ${history}`.execute(session);
  });
}

/** Of a kind that no event of a chain has, written so that a derivation from the whole log finds the few by index. */
export const isObservation = (kind: FactKind): RawBuilder<boolean> =>
  sql<boolean>`kind = ${kindLiteral(kind)} and log_index is null`;

/**
 * The table outlives its transaction and changes only with the blocks: emptied and filled again by each, it would have
 * every plan that names it invalidated.
 */
async function openRetractedBlocks(session: Session, upTo: bigint): Promise<void> {
  await sql`
    create temporary table if not exists ${retractedBlocks} (block_id bigint primary key)`.execute(
    session,
  );
  await sql`
    with now as materialized (select block_id from log.retracted_blocks(${upTo})),
    gone as (
      delete from ${retractedBlocks} where block_id not in (select block_id from now)
    )
    insert into ${retractedBlocks}
    select block_id from now where block_id not in (select block_id from ${retractedBlocks})`.execute(
    session,
  );
}

/** Does work on a relation of facts without some of them: a view of the session, or the relation itself for none. */
export async function withoutFacts(
  session: Session,
  excluded: readonly bigint[],
  facts: Relation,
  work: (included: Relation) => Promise<void>,
  view = "included_fact",
): Promise<void> {
  if (excluded.length === 0) return await work(facts);
  const included = sql.id("pg_temp", view);
  await sql`
    create temporary view ${sql.id(view)} as
    select * from ${facts} where position <> all (${sql.lit(`{${excluded.join()}}`)}::bigint[])`.execute(
    session,
  );
  await work(included);
  await sql`drop view ${included}`.execute(session);
}

/** The time at a position, unix seconds: where none is given that of the latest clock tick; 0 before the first one. */
export function clockAt({
  facts,
  upTo,
  clock,
}: Pick<EffectiveFacts, "facts" | "upTo" | "clock">): RawBuilder<bigint> {
  if (clock !== undefined) return clock;
  return sql`coalesce((
    select f.amount from ${facts} f where f.kind = ${kindLiteral("clock_ticked")} and f.position <= ${upTo}
    order by f.amount desc limit 1
  ), 0)::bigint`;
}
