import { type RawBuilder, sql } from "kysely";
import { type FactKind, factKind } from "../log/fact-kind.ts";

/** Orders that are judged, and where the facts about them are taken from. */
export type Judged = {
  /** A table of the session. Subjects name its columns; an order's `exchange_id` and `conduit_id` are contract ids. */
  orders: RawBuilder<unknown>;
  /** `log`: each subject's facts by index. `change`: the session's view of the whole log, read once. */
  from: "log" | "change";
  /** The last position whose facts count. */
  upTo: bigint;
  /** Only what blocks with ids below tell; absent: all of them. */
  beforeBlock?: bigint;
};

export type Evidence = {
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
export function newestFacts(judged: Judged, evidence: Evidence): RawBuilder<unknown> {
  const columns = sql`f.amount, f.to_address as told_address, f.block_id, f.log_index`;
  if (judged.from === "log") {
    return sql`
      select s.*, ${columns}
      from (${subjectsOf(judged, evidence)}) s
      cross join lateral (${factsOfSubject(judged, evidence)} order by ${newestFirst} limit 1) f`;
  }
  const subject = columnsOf(evidence);
  return sql`
    select distinct on (${subject}) s.*, ${columns}
    from (${subjectsOf(judged, evidence)}) s join change f on ${matches(evidence)}
    order by ${subject}, ${newestFirst}`;
}

/** Every fact of each subject: the subject's columns, and the fact's own that orders do not have. */
export function allFacts(judged: Judged, evidence: Evidence): RawBuilder<unknown> {
  const facts =
    judged.from === "log"
      ? // Without the offset the planner may read the log from end to end for a table that it knows nothing of.
        sql`cross join lateral (${factsOfSubject(judged, evidence)} offset 0) f`
      : sql`join change f on ${matches(evidence)}`;
  return sql`
    select s.*, f.kind, f.position, f.block_id, f.from_address, f.to_address, f.amount, f.payload
    from (${subjectsOf(judged, evidence)}) s ${facts}`;
}

/** Whether the fact `f` counts. */
export function counts({
  upTo,
  beforeBlock,
}: Pick<Judged, "upTo" | "beforeBlock">): RawBuilder<unknown> {
  return sql`
    f.position <= ${upTo} and not exists (select from dropped d where d.block_id = f.block_id)
    ${beforeBlock === undefined ? sql`` : sql`and f.block_id < ${beforeBlock}`}`;
}

/** Kinds as a list for `in`. Plain numbers: partial indexes are found by them. */
export function kindsIn(...kinds: readonly FactKind[]): RawBuilder<unknown> {
  return sql.raw(`(${kinds.map((kind) => factKind[kind]).join(", ")})`);
}

const newestFirst = sql`
  f.block_id >> 12 desc, (f.log_index is null) desc, f.block_id desc, f.log_index desc, f.position desc`;

function subjectsOf({ orders }: Judged, evidence: Evidence): RawBuilder<unknown> {
  const known = Object.values(evidence.subject).map(
    (column) => sql`${sql.ref(column)} is not null`,
  );
  return sql`
    select distinct ${columnsOf(evidence, "")} from ${orders} where ${sql.join(known, sql` and `)}`;
}

function factsOfSubject(judged: Judged, evidence: Evidence): RawBuilder<unknown> {
  return sql`select f.* from log.fact f where ${matches(evidence)} and ${counts(judged)}`;
}

function matches({ kinds, subject, where }: Evidence): RawBuilder<unknown> {
  const equal = Object.entries(subject).map(
    ([fact, order]) => sql`f.${sql.ref(fact)} = s.${sql.ref(order)}`,
  );
  return sql`
    ${sql.join(equal, sql` and `)} and f.kind in ${kindsIn(...kinds)}
    ${where === undefined ? sql`` : sql`and ${where}`}`;
}

function columnsOf({ subject }: Evidence, alias = "s."): RawBuilder<unknown> {
  return sql.join(Object.values(subject).map((column) => sql.raw(`${alias}${column}`)));
}
