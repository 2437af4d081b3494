import { LRUCache } from "lru-cache";
import type { Database } from "#projections/log/database.ts";
import { writeOnce } from "../answer.ts";

/** How the rows of a list are shown. */
export type Viewing<Row, View> = {
  /** Names the list: its filter, order and page size. */
  readonly list: string;
  /** What `present` depends on in addition to the row. */
  readonly variant: string;
  readonly present: (row: Row) => View;
};

/** Rows as they are shown, by a name that tells all that a row depends on. */
type RowCache = LRUCache<string, object>;

const maxBytes = 32 * 1024 * 1024;
const maxListBytes = 4 * 1024 * 1024;

/** What belongs to an owner of snapshots, made when it is first asked for. */
function perOwner<Store>(open: () => Store): (owner: object) => Store {
  const stores = new WeakMap<object, Store>();
  return (owner) => {
    const store = stores.get(owner) ?? open();
    stores.set(owner, store);
    return store;
  };
}

const shownRows = perOwner(() => ({
  rows: new LRUCache<string, object>({ maxSize: maxBytes }),
  /** Lists that were asked for. */
  lists: new LRUCache<string, true>({
    maxSize: maxListBytes,
    sizeCalculation: (_, name) => 2 * name.length + 200,
  }),
}));

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
  const { rows, lists } = shownRows(facts.owner);
  const name = `${variant} ${list}`;
  const isKnown = lists.has(name);
  lists.set(name, true);
  return isKnown ? rows : undefined;
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

/** By the data's version and a name. Replicas may be at other versions than the primary. */
const foundValues = perOwner(() => new LRUCache<string, LRUCache<string, object>>({ max: 4 }));

/** What answers that were made from the same version of the data have found, by name. Elsewhere than in a snapshot nothing is kept. */
export function versionCache(db: Database) {
  const facts = snapshotFacts(db);
  const values = facts && valuesOfVersion(facts.owner, facts.version);
  return {
    get: <Value extends object>(name: string) => values?.get(name) as Value | undefined,
    set: (name: string, value: object) => void values?.set(name, value),
  };
}

function valuesOfVersion(owner: object, version: string): LRUCache<string, object> {
  const versions = foundValues(owner);
  const values = versions.get(version) ?? new LRUCache<string, object>({ max: 5_000 });
  versions.set(version, values);
  return values;
}

type Options<Owner, Request, Value> = {
  /** How old an answer may be, the caller's own cache included. */
  readonly seconds: (request: Request) => number;
  readonly read: (owner: Owner, request: Request) => Promise<Value>;
  readonly maxSize: number;
  /** Default: 1 for each value. */
  readonly sizeOf?: (value: Value, key: string) => number;
};

/** A value, and for how long the caller may keep it: what is left of the time since it was read. */
type Timed<Value> = { readonly value: Value; readonly maxAgeSeconds: number };

type Entry<Value> = {
  readonly value: Value;
  readonly readAt: number;
  /** Of the snapshot that it was read from. */
  readonly position: bigint | undefined;
};
type Store<Value> = {
  readonly read: LRUCache<string, Entry<Value>>;
  readonly reading: Map<string, Promise<Entry<Value>>>;
};

/**
 * Values that are read once per `key` and time. Concurrent requests share one read. Ages are measured by the request's
 * `now`, at which its read begins. With a snapshot as owner the values are those of all snapshots, and the answer gets
 * the position of the value; a value older than the position that the caller has asked for is read again.
 */
export function timedCache<
  Owner extends object,
  Request extends { readonly now: Date },
  Value extends NonNullable<unknown>,
>({ seconds, read, maxSize, sizeOf = () => 1 }: Options<Owner, Request, Value>) {
  const stores = perOwner(
    (): Store<Value> => ({
      read: new LRUCache({ maxSize, sizeCalculation: ({ value }, key) => sizeOf(value, key) }),
      reading: new Map(),
    }),
  );
  const storeOf = (given: Owner) => stores(snapshotFacts(given)?.owner ?? given);
  const ageOf = ({ readAt }: Entry<Value>, { now }: Request) => (now.getTime() - readAt) / 1_000;
  const isFresh = (entry: Entry<Value>, request: Request) => {
    const age = ageOf(entry, request);
    return age >= 0 && age < seconds(request);
  };

  const readInto = (store: Store<Value>, owner: Owner, key: string, request: Request) => {
    const position = snapshotFacts(owner)?.position;
    const reading = read(owner, request).then((value) => {
      const entry = { value, readAt: request.now.getTime(), position };
      store.read.set(key, entry);
      return entry;
    });
    store.reading.set(key, reading);
    return reading.finally(() => {
      if (store.reading.get(key) === reading) store.reading.delete(key);
    });
  };

  const get = async (owner: Owner, key: string, request: Request): Promise<Timed<Value>> => {
    const store = storeOf(owner);
    const facts = snapshotFacts(owner);
    const isThere = ({ position }: Entry<Value>) =>
      facts === undefined || position === undefined || position >= facts.atLeast;
    const known = store.read.get(key);
    let entry =
      known !== undefined && isFresh(known, request) && isThere(known)
        ? known
        : await (store.reading.get(key) ?? readInto(store, owner, key, request));
    if (!isThere(entry)) entry = await readInto(store, owner, key, request);
    const { position } = entry;
    if (facts !== undefined && position !== undefined && position < facts.answered)
      facts.answered = position;
    const left = seconds(request) - Math.max(0, ageOf(entry, request));
    return { value: entry.value, maxAgeSeconds: Math.max(0, Math.floor(left)) };
  };

  /** A value that was read, at most as old as `seconds`; undefined: none is there. */
  const kept = (owner: Owner, key: string, request: Request): Value | undefined => {
    const entry = storeOf(owner).read.peek(key);
    return entry !== undefined && ageOf(entry, request) < seconds(request)
      ? entry.value
      : undefined;
  };
  return Object.assign(get, { kept });
}

/** What is known of the snapshot behind a handler's `db`. */
export type SnapshotFacts = {
  /** The same for all snapshots of the process: what caches belong to. */
  readonly owner: object;
  /** What the caller has asked for. */
  readonly atLeast: bigint;
  /** Of the snapshot's data: equal ones of one owner mean equal data. */
  readonly version: string;
  readonly position: bigint;
  /** Of the answer: lower where a part of it is an earlier read. */
  answered: bigint;
};

const known = new WeakMap<object, SnapshotFacts>();

export function describeSnapshot(db: Database, facts: SnapshotFacts): void {
  known.set(db, facts);
}

/** Undefined: `db` is no snapshot. */
function snapshotFacts(db: object): SnapshotFacts | undefined {
  return known.get(db);
}
