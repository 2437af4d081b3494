import { LRUCache } from "lru-cache";
import type { Document } from "../answer.ts";
import type { LoadClass } from "../concurrency.ts";
import type { PositionedReads, PositionedSnapshot } from "./positioned-reads.ts";

/** Where the responses of one request are made from. */
type CacheSource = {
  /** Names the request. */
  readonly request: string;
  readonly reads: PositionedReads;
  readonly loadClass: LoadClass;
  readonly atLeast: bigint;
  readonly plansOnce?: boolean | undefined;
};

export type ResponseCache = {
  /**
   * The response as of the beginning of the current second: the cached one while the data version is the same, else a
   * new one from `make`, shared by concurrent requests. Refusals and volatile documents are not cached.
   */
  get<Other extends object>(
    source: CacheSource,
    make: (now: Date, snapshot: PositionedSnapshot) => Promise<Document | Other>,
  ): Promise<Document | Other>;
};

export type ResponseCacheOptions = {
  readonly now: () => Date;
  /** Bytes of all cached documents. */
  readonly maxBytes?: number;
};

const defaultMaxBytes = 64 * 1024 * 1024;

type Response = Document | object;
type Cached = { readonly second: number; readonly version: string; readonly document: Document };
/** Responses that are being made for a request in one second, by the data's version. */
type Flights = Map<string, Promise<Response>>;

/**
 * Caches responses that depend only on the data version and the clock's whole seconds. Each is made in one snapshot and
 * kept under the version of that snapshot, so that neither a replica that is behind nor one that is ahead can mix them.
 */
export function openResponseCache(options: ResponseCacheOptions): ResponseCache {
  const { now, maxBytes = defaultMaxBytes } = options;
  const cached = new LRUCache<string, Cached>({
    maxSize: maxBytes,
    // Half of the body's size again for its compressed forms.
    sizeCalculation: ({ document }, request) =>
      Math.ceil(1.5 * document.body.byteLength) + 2 * request.length + 500,
  });
  const inProgress = new Map<string, Flights>();
  /** Requests whose snapshot is not taken yet: whoever comes now may share it. */
  const waiting = new Map<string, { atLeast: bigint; response: Promise<Response> }>();

  const find = (request: string, second: number, version: string) => {
    const known = cached.get(request);
    if (known?.second === second && known.version === version) return known.document;
    return inProgress.get(`${second} ${request}`)?.get(version);
  };

  const makeOnce = async (
    request: string,
    [second, version]: [number, string],
    make: () => Promise<Response>,
  ): Promise<Response> => {
    const key = `${second} ${request}`;
    const flights = inProgress.get(key) ?? new Map();
    inProgress.set(key, flights);
    const response = make();
    flights.set(version, response);
    try {
      const made = await response;
      if (isDocument(made) && made.isVolatile !== true)
        cached.set(request, { second, version, document: made });
      return made;
    } finally {
      flights.delete(version);
      if (flights.size === 0) inProgress.delete(key);
    }
  };

  const readNew = async (
    source: CacheSource,
    second: number,
    make: (now: Date, snapshot: PositionedSnapshot) => Promise<Response>,
  ): Promise<Response> => {
    const { request, reads, loadClass, atLeast, plansOnce } = source;
    const key = `${second} ${request}`;
    const onBegin = () => waiting.delete(key);
    const response = reads
      .inSnapshot({ loadClass, atLeast, onBegin, plansOnce }, async (snapshot) => {
        const { version } = snapshot;
        const known = find(request, second, version);
        // Wrapped, so that the connection is given back before the other's response is there.
        if (known !== undefined) return { shared: known };
        const at = new Date(second * 1_000);
        return { shared: await makeOnce(request, [second, version], () => make(at, snapshot)) };
      })
      .then(({ shared }) => shared);
    waiting.set(key, { atLeast, response });
    return response.finally(() => {
      if (waiting.get(key)?.response === response) waiting.delete(key);
    });
  };

  const get = async (
    source: CacheSource,
    make: (now: Date, snapshot: PositionedSnapshot) => Promise<Response>,
  ): Promise<Response> => {
    const { request, reads, atLeast } = source;
    const second = Math.floor(now().getTime() / 1_000);
    const key = `${second} ${request}`;
    const next = waiting.get(key);
    if (next !== undefined && next.atLeast >= atLeast) return next.response;
    // Without anything that could be shared, the snapshot itself names the version.
    if (cached.get(request)?.second === second || inProgress.has(key)) {
      const { version, position } = await reads.readVersion();
      const known = position >= atLeast ? find(request, second, version) : undefined;
      if (known !== undefined) return known;
    }
    return readNew(source, second, make);
  };
  return { get: get as ResponseCache["get"] };
}

/**
 * The same cache for responses that also depend on a state that is no fact, as a switch of the operator: those of one
 * state are not shown in another, and one during which the state changed is not kept.
 */
export function cacheByState(
  cache: ResponseCache,
  readState: () => Promise<string>,
): ResponseCache {
  return {
    async get(source, make) {
      const state = await readState();
      const request = `${source.request} ${state}`;
      return cache.get({ ...source, request }, async (now, snapshot) => {
        const made = await make(now, snapshot);
        if (!isDocument(made) || (await readState()) === state) return made;
        return { ...made, isVolatile: true };
      });
    },
  };
}

function isDocument(response: Response): response is Document {
  return "etag" in response;
}
