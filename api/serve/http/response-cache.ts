import { LRUCache } from "lru-cache";
import type { Document } from "./answer.ts";

export type ResponseCache = {
  /**
   * The response as of the beginning of the current second: the cached one while the data version is the same, else a
   * new one from `make`, shared by concurrent requests. Refusals and volatile documents are not cached.
   */
  get<Other extends object>(
    request: string,
    make: (now: Date) => Promise<Document | Other>,
  ): Promise<Document | Other>;
};

export type ResponseCacheOptions = {
  /** Changes whenever anything changes that responses are made from, and never repeats. */
  readonly readDataVersion: () => Promise<string>;
  readonly now: () => Date;
  /** Bytes of all cached documents. */
  readonly maxBytes?: number;
};

const defaultMaxBytes = 64 * 1024 * 1024;

type Response = Document | object;
type CachedDocument = { readonly dataVersion: string; readonly document: Document };

/** Caches responses that depend only on the data version and the clock's whole seconds. */
export function openResponseCache(options: ResponseCacheOptions): ResponseCache {
  const { readDataVersion, now, maxBytes = defaultMaxBytes } = options;
  const cached = new LRUCache<string, CachedDocument>({
    maxSize: maxBytes,
    // Half of the body's size again for its compressed forms.
    sizeCalculation: ({ document }, request) =>
      Math.ceil(1.5 * document.body.byteLength) + 2 * request.length + 500,
  });
  const inProgress = new Map<string, Promise<Response>>();
  const readVersion = shareReads(readDataVersion);

  const cache = async (request: string, dataVersion: string, made: Promise<Response>) => {
    const response = await made;
    if (isDocument(response) && response.isVolatile !== true)
      cached.set(request, { dataVersion, document: response });
    return response;
  };
  const get = async (
    request: string,
    make: (now: Date) => Promise<Response>,
  ): Promise<Response> => {
    const second = Math.floor(now().getTime() / 1_000);
    // Read before the response's own reads, so that nothing older is cached under this version.
    const dataVersion = `${second} ${await readVersion()}`;
    const known = cached.get(request);
    if (known?.dataVersion === dataVersion) return known.document;
    const key = `${dataVersion} ${request}`;
    const shared = inProgress.get(key);
    if (shared !== undefined) return shared;
    const response = cache(request, dataVersion, make(new Date(second * 1_000)));
    inProgress.set(key, response);
    return response.finally(() => inProgress.delete(key));
  };
  return { get: get as ResponseCache["get"] };
}

function isDocument(response: Response): response is Document {
  return "etag" in response;
}

/** One read at a time; callers that arrive during a read share the next one, which starts after they arrived. */
function shareReads(read: () => Promise<string>): () => Promise<string> {
  let current: Promise<string> | undefined;
  let next: Promise<string> | undefined;
  const begin = (): Promise<string> => {
    next = undefined;
    current = read().finally(() => {
      current = undefined;
    });
    return current;
  };
  return () => {
    if (current === undefined) return begin();
    next ??= current.then(begin, begin);
    return next;
  };
}
