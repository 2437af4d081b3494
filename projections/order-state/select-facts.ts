import { type RawBuilder, sql } from "kysely";
import type { EffectiveFacts, Relation } from "../engine/projection.ts";
import type { FactKind } from "../log/fact-kind.ts";
import { kindList } from "../log/fact-kind-sql.ts";

/** Orders that are judged, and where the facts about them are taken from. */
export type RecomputeSet = EffectiveFacts & {
  /** A table of the session. Subjects name its columns; an order's `exchange_id` and `conduit_id` are contract ids. */
  orders: Relation;
  /** All effective facts, to be read once; absent: each subject's facts are found by index. */
  history?: Relation;
  /** Only what blocks with ids below tell; absent: all of them. */
  beforeBlock?: bigint;
};

export type FactSelection = {
  kinds: readonly FactKind[];
  /** What the facts speak of: a fact's column and the orders' column that it equals. */
  subject: Readonly<Record<string, string>>;
  /** On the fact `f`. */
  where?: RawBuilder<unknown>;
};

/**
 * The newest fact of each subject: the subject's columns (as the orders name them), `amount`, `told_address`
 * `block_id`, `log_index`. Facts stand in chain order; a reading tells the end of its block and stands after every log of its height.
 */
export function latestFacts(judged: RecomputeSet, evidence: FactSelection): RawBuilder<unknown> {
  const columns = sql`f.amount, f.to_address as told_address, f.block_id, f.log_index`;
  if (judged.history === undefined) {
    return sql`
      select s.*, ${columns}
      from (${subjectsOf(judged, evidence)}) s
      cross join lateral (${factsOfSubject(judged, evidence)} order by ${newestFirst} limit 1) f`;
  }
  const subject = columnsOf(evidence);
  return sql`
    select distinct on (${subject}) s.*, ${columns}
    from (${subjectsOf(judged, evidence)}) s join ${judged.history} f on ${matches(evidence)}
    order by ${subject}, ${newestFirst}`;
}

/** Every fact of each subject: the subject's columns, and the fact's own that orders do not have. */
export function allFacts(judged: RecomputeSet, evidence: FactSelection): RawBuilder<unknown> {
  const facts =
    judged.history === undefined
      ? // Without the offset the planner may read the log from end to end for a table that it knows nothing of.
        sql`cross join lateral (${factsOfSubject(judged, evidence)} offset 0) f`
      : sql`join ${judged.history} f on ${matches(evidence)}`;
  return sql`
    select s.*, f.kind, f.position, f.block_id, f.from_address, f.to_address, f.amount, f.payload
    from (${subjectsOf(judged, evidence)}) s ${facts}`;
}

/** Whether the fact `f` counts. */
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

function subjectsOf({ orders }: RecomputeSet, evidence: FactSelection): RawBuilder<unknown> {
  const known = Object.values(evidence.subject).map(
    (column) => sql`${sql.ref(column)} is not null`,
  );
  return sql`
    select distinct ${columnsOf(evidence, "")} from ${orders} where ${sql.join(known, sql` and `)}`;
}

function factsOfSubject(judged: RecomputeSet, evidence: FactSelection): RawBuilder<unknown> {
  return sql`select f.* from ${judged.facts} f where ${matches(evidence)} and ${isEffective(judged)}`;
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
