import { LRUCache } from "lru-cache";
import type { Database } from "#projections/log/database.ts";
import { writeOnce } from "../json-text.ts";
import { snapshotFacts } from "./snapshot-facts.ts";

/** How the rows of a list are shown. */
export type Viewing<Row, View> = {
  /** Names the list: its filter, order and page size. */
  readonly list: string;
  /** What `present` depends on in addition to the row. */
  readonly variant: string;
  readonly present: (row: Row) => View;
};

/** Rows as they are shown, by a name that tells all that a row depends on. */
export type RowCache = LRUCache<string, object>;

type Caches = {
  readonly rows: RowCache;
  /** Lists that were asked for. */
  readonly lists: LRUCache<string, true>;
};

/** By the owner of snapshots. */
const caches = new WeakMap<object, Caches>();
const maxBytes = 32 * 1024 * 1024;
const maxListBytes = 4 * 1024 * 1024;

/**
 * The rows of other answers. Undefined where a list is asked for the first time: looking for rows that nobody has made
 * costs more than making them; and elsewhere than in a snapshot, where two statements may read different data.
 */
export function rowCache(
  db: Database,
  { list, variant }: Pick<Viewing<never, never>, "list" | "variant">,
): RowCache | undefined {
  const facts = snapshotFacts(db);
  if (facts === undefined) return undefined;
  const { rows, lists } = caches.get(facts.owner) ?? openCaches(facts.owner);
  const name = `${variant} ${list}`;
  const isKnown = lists.has(name);
  lists.set(name, true);
  return isKnown ? rows : undefined;
}

function openCaches(owner: object): Caches {
  const rows = new LRUCache<string, object>({ maxSize: maxBytes });
  const lists = new LRUCache<string, true>({
    maxSize: maxListBytes,
    sizeCalculation: (_, name) => 2 * name.length + 200,
  });
  const opened = { rows, lists };
  caches.set(owner, opened);
  return opened;
}

/** The views of rows, in their order: those that are cached, and the others as `make` makes them in their order. */
export async function viewCached<Row, View extends object>(
  cache: RowCache,
  rows: readonly Row[],
  nameOf: (row: Row) => string,
  make: (others: readonly Row[]) => Promise<readonly View[]>,
): Promise<View[]> {
  const named = rows.map((row) => ({ row, name: nameOf(row) }));
  const views = new Map(named.map(({ name }) => [name, cache.get(name) as View | undefined]));
  const others = named.filter(({ name }) => views.get(name) === undefined);
  const made = others.length === 0 ? [] : await make(others.map(({ row }) => row));
  for (const [at, { name }] of others.entries()) {
    const view = made[at];
    if (view === undefined) throw new Error("rows of a page were not found by their keys");
    views.set(name, view);
    cache.set(name, view, { size: bytesOf(name, writeOnce(view)) });
  }
  return named.map(({ name }) => views.get(name) as View);
}

/** A row takes about three times the memory of its text: the text, its values, and its objects. */
const bytesOf = (name: string, text: string) => 3 * text.length + 2 * name.length + 500;
