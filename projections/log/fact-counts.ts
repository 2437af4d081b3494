import { sql } from "kysely";
import type { Database } from "../database.ts";

/** Positions whose facts are counted at most: the newest ones. */
const mostCounted = 100_000n;

export type FactCounts = {
  /** Positions that were counted: after, exclusive, up to, inclusive. */
  after: bigint;
  upTo: bigint;
  counts: { kind: number; facts: number }[];
};

/** Facts by kind between two positions of the log, of the newest 100,000 at most. */
export async function countFacts(
  db: Database,
  { after: from, upTo }: { after: bigint; upTo: bigint },
): Promise<FactCounts> {
  const after = upTo - from > mostCounted ? upTo - mostCounted : from;
  const { rows } = await sql<{ kind: number; facts: number }>`
    select kind, count(*)::int as facts from log.fact
    where position > ${after} and position <= ${upTo} group by kind order by 2 desc, 1`.execute(db);
  return { after, upTo, counts: rows };
}
