import { type RawBuilder, sql } from "kysely";
import type { EffectiveFacts, Relation } from "../engine/projection.ts";
import type { ChainReading } from "../log/readings.ts";
import { type FactKind, kindList } from "../log/fact-kinds.ts";

/** Orders to recompute, and the facts to compute them from. */
export type RecomputeSet = EffectiveFacts & {
  /** The orders; their `exchange_id` and `conduit_id` are contract ids. */
  orders: Relation;
  /** All effective facts, for one scan; absent: facts are looked up by index, subject by subject. */
  history?: Relation;
  /** Only facts of blocks with lower ids; absent: of all blocks. */
  beforeBlock?: bigint;
};

/** Facts about orders. A subject is a distinct combination of the values that facts and orders are joined by. */
export type FactSelection = {
  kinds: readonly FactKind[];
  /** Joins facts to orders: from a fact's column to the equal column of the orders. */
  subject: Readonly<Record<string, string>>;
  /** A further condition on the fact `f`. */
  where?: RawBuilder<unknown>;
};

/** Readings about orders: of one kind, or of several with the kind in the subject. */
type ReadingSelection = Omit<FactSelection, "where"> & { kinds: readonly ChainReading["kind"][] };

/**
 * The latest fact of each subject: the orders' columns, `amount`, `fact_to_address`, `block_id`, `log_index`. Facts are
 * in chain order; a reading is of the end of its block, after all events of that height.
 */
export function latestFacts(
  recompute: RecomputeSet,
  selection: FactSelection,
): RawBuilder<unknown> {
  return firstFacts(recompute, selection, newestFirst);
}

/** The same of readings alone. In the order of the indexes of them, whose last entry of the subject is read and no other. */
export function latestReadings(
  recompute: RecomputeSet,
  selection: ReadingSelection,
): RawBuilder<unknown> {
  // The index has the account before the block; an owner's reading is of no account.
  const account = selection.kinds.includes("owner_read") ? sql`f.from_address desc, ` : sql``;
  return firstFacts(recompute, selection, sql`${account}f.block_id desc, f.position desc`);
}

function firstFacts(
  recompute: RecomputeSet,
  selection: FactSelection,
  order: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const columns = sql`f.amount, f.to_address as fact_to_address, f.block_id, f.log_index`;
  if (recompute.history === undefined) {
    return sql`
      select s.*, ${columns}
      from (${subjectsOf(recompute, selection)}) s
      cross join lateral (${factsOfSubject(recompute, selection)} order by ${order} limit 1) f`;
  }
  const subject = columnsOf(selection);
  return sql`
    select distinct on (${subject}) s.*, ${columns}
    from (${subjectsOf(recompute, selection)}) s join ${recompute.history} f on ${matches(selection)}
    order by ${subject}, ${order}`;
}

/** All facts of each subject: the orders' columns, and the fact's columns. */
export function allFacts(recompute: RecomputeSet, selection: FactSelection): RawBuilder<unknown> {
  const facts =
    recompute.history === undefined
      ? // Without `offset 0` the planner may scan the whole log for a table without statistics.
        sql`cross join lateral (${factsOfSubject(recompute, selection)} offset 0) f`
      : sql`join ${recompute.history} f on ${matches(selection)}`;
  return sql`
    select s.*, f.kind, f.position, f.block_id, f.from_address, f.to_address, f.amount, f.payload
    from (${subjectsOf(recompute, selection)}) s ${facts}`;
}

/** Whether the fact `f` is effective. */
export function isEffective({
  upTo,
  retractedBlocks,
  beforeBlock,
}: EffectiveFacts & Pick<RecomputeSet, "beforeBlock">): RawBuilder<unknown> {
  return sql`
    f.position <= ${upTo} and not exists (select from ${retractedBlocks} d where d.block_id = f.block_id)
    ${beforeBlock === undefined ? sql`` : sql`and f.block_id < ${beforeBlock}`}`;
}

const newestFirst = sql`
  f.block_id >> 12 desc, (f.log_index is null) desc, f.block_id desc, f.log_index desc, f.position desc`;

function subjectsOf({ orders }: RecomputeSet, selection: FactSelection): RawBuilder<unknown> {
  const known = Object.values(selection.subject).map(
    (column) => sql`${sql.ref(column)} is not null`,
  );
  return sql`
    select distinct ${columnsOf(selection, "")} from ${orders} where ${sql.join(known, sql` and `)}`;
}

function factsOfSubject(recompute: RecomputeSet, selection: FactSelection): RawBuilder<unknown> {
  return sql`select f.* from ${recompute.facts} f where ${matches(selection)} and ${isEffective(recompute)}`;
}

function matches({ kinds, subject, where }: FactSelection): RawBuilder<unknown> {
  const equal = Object.entries(subject).map(
    ([fact, order]) => sql`f.${sql.ref(fact)} = s.${sql.ref(order)}`,
  );
  return sql`
    ${sql.join(equal, sql` and `)} and f.kind in ${kindList(...kinds)}
    ${where === undefined ? sql`` : sql`and ${where}`}`;
}

function columnsOf({ subject }: FactSelection, alias = "s."): RawBuilder<unknown> {
  return sql.join(Object.values(subject).map((column) => sql.raw(`${alias}${column}`)));
}
