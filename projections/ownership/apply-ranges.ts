import { sql } from "kysely";
import type { Session } from "../log/database.ts";
import { latestRuns, within, without } from "../domain/id-runs.ts";
import { holdsAny, readKinds } from "../engine/fact-window.ts";
import type { FactWindow } from "../engine/projection.ts";
import { type Areas, areasOf, groupByContract } from "../engine/token-ids.ts";
import { isRange, rangeColumns, readLastRanges } from "./range-facts.ts";
import { mergeByContract, type OwnedRun, partsByContract, readTouching, replaceRuns } from "./run-rows.ts";

/** Ids whose last range a window changed. */
export type ChangedRanges = {
  all: Areas;
  /** Those of ranges that are no longer effective. */
  exposed: Areas;
  /** The last ranges of these ids now. */
  last: readonly OwnedRun[];
};

const none: ChangedRanges = { all: new Map(), exposed: new Map(), last: [] };

/**
 * Brings `last_range` to the window's end. A new range is laid over the stored ones, the later one winning; a fact adds
 * two rows at most, whatever its length. Below a range that is no longer effective the log says what was before.
 */
export async function applyRanges(
  session: Session,
  schema: string,
  window: FactWindow,
): Promise<ChangedRanges> {
  if (!holdsAny(await readKinds(session, window), ["erc721_consecutive_transfer"])) return none;
  const { rows } = await sql<OwnedRun & { weight: number }>`
    select f.weight, ${rangeColumns} from ${window.changes} f where ${isRange}`.execute(session);
  if (rows.length === 0) return none;
  const all = areasOf(rows);
  const exposed = areasOf(rows.filter(({ weight }) => weight < 0));
  const before = await readTouching(session, schema, "last_range", all);
  const after = await laidOver(session, window, before, { all, exposed, rows });
  await replaceRuns(session, schema, "last_range", { before, after });
  return { all, exposed, last: partsByContract(after, all, within) };
}

async function laidOver(
  session: Session,
  window: FactWindow,
  before: readonly OwnedRun[],
  { all, exposed, rows }: { all: Areas; exposed: Areas; rows: readonly OwnedRun[] },
): Promise<OwnedRun[]> {
  const isExposed = ({ contractId }: OwnedRun) => exposed.has(contractId);
  const added = [...before, ...rows].filter((run) => !isExposed(run));
  const after = [...groupByContract(added).values()].flatMap((own) => latestRuns(own));
  if (exposed.size === 0) return after;
  const areas = new Map([...all].filter(([contractId]) => exposed.has(contractId)));
  const read: OwnedRun[] = [];
  await readLastRanges(session, window, areas, async (runs) => {
    read.push(...runs);
  });
  const kept = partsByContract(before.filter(isExposed), areas, without);
  return [...after, ...mergeByContract([...kept, ...read])];
}
