import { LRUCache } from "lru-cache";
import { snapshotFacts } from "./reads/snapshot-facts.ts";

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
  const stores = new WeakMap<object, Store<Value>>();
  const storeOf = (given: Owner): Store<Value> => {
    const owner = snapshotFacts(given)?.owner ?? given;
    const known = stores.get(owner);
    if (known !== undefined) return known;
    const store: Store<Value> = {
      read: new LRUCache<string, Entry<Value>>({
        maxSize,
        sizeCalculation: ({ value }, key) => sizeOf(value, key),
      }),
      reading: new Map(),
    };
    stores.set(owner, store);
    return store;
  };
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
