import { LRUCache } from "lru-cache";
import type { Database } from "../../../../projections/database.ts";
import { writeOnce } from "../json-text.ts";
import { snapshotFacts } from "./snapshot-facts.ts";

type Kept = {
  /** Rows as they are shown. */
  readonly rows: LRUCache<string, object>;
  /** Lists that were asked for. */
  readonly lists: LRUCache<string, true>;
};

/** By the owner of snapshots. */
const kept = new WeakMap<object, Kept>();
const maxBytes = 32 * 1024 * 1024;
const maxListBytes = 4 * 1024 * 1024;

/**
 * Rows of lists as they are shown, with their JSON text, for as long as they are asked for. A row's name tells all that
 * the row depends on. Undefined where a list is asked for the first time: looking for rows that nobody has made costs
 * more than making them; and elsewhere than in a snapshot, where two statements may read different data.
 */
export function keptRows(db: Database, list: string): LRUCache<string, object> | undefined {
  const facts = snapshotFacts(db);
  if (facts === undefined) return undefined;
  const { rows, lists } = kept.get(facts.owner) ?? openKept(facts.owner);
  const isKnown = lists.get(list) === true;
  lists.set(list, true);
  return isKnown ? rows : undefined;
}

function openKept(owner: object): Kept {
  const rows = new LRUCache<string, object>({
    maxSize: maxBytes,
    // A row takes about three times the memory of its text: the text, its values, and its objects.
    sizeCalculation: (row, name) => 3 * writeOnce(row).length + 2 * name.length + 500,
  });
  const lists = new LRUCache<string, true>({
    maxSize: maxListBytes,
    sizeCalculation: (_, name) => 2 * name.length + 200,
  });
  const opened = { rows, lists };
  kept.set(owner, opened);
  return opened;
}

/** The views of rows, in their order: those that are kept, and the others as `make` makes them. */
export async function viewKept<Row, View extends object>(
  known: LRUCache<string, object>,
  rows: readonly Row[],
  nameOf: (row: Row) => string,
  make: (others: readonly Row[]) => Promise<readonly View[]>,
): Promise<View[]> {
  const names = rows.map(nameOf);
  const views = names.map((name) => known.get(name) as View | undefined);
  const missing = rows.filter((_, at) => views[at] === undefined);
  const made = missing.length === 0 ? [] : await make(missing);
  if (made.length !== missing.length) throw new Error("rows of a snapshot were not read again");
  let next = 0;
  return views.map((view, at) => {
    if (view !== undefined) return view;
    const fresh = made[next++] as View;
    known.set(names[at] as string, fresh);
    return fresh;
  });
}
