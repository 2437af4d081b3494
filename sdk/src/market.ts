import type { ChainId } from "./chains.ts";
import { type Book, type BookOptions, openBook } from "./feed/book.ts";
import { type Feed, type FeedOptions, openFeed } from "./feed/feed.ts";
import type {
  AnswerWith,
  Args,
  FieldsOf,
  FieldsParams,
  FieldsPath,
  GetAnswer,
  GetParams,
  GetPath,
  PagedPath,
  PostAnswer,
  PostParams,
  PostPath,
  RowWith,
} from "./paths.ts";
import { openEtagCache } from "./reading/etag-cache.ts";
import { openPages, type Pages, type PagesOptions } from "./reading/pages.ts";
import { type SendOptions, send } from "./reading/send.ts";
import { fillPath, type Params, queryOf } from "./reading/url.ts";
import { openWritten } from "./reading/written.ts";

export type MarketOptions = {
  /** Address of the API, without `/v1`. */
  readonly url: string;
  /** Of every request that does not name another one. */
  readonly chainId: ChainId;
  /** API key; without one a lower rate limit applies. */
  readonly key?: string;
  /** Of each call, all its tries together. Default: 15 s. */
  readonly timeoutMs?: number;
  /** `tries` in all, default 3; `delayMs` before the second, default 0.25 s, doubles with each. */
  readonly retry?: { readonly tries?: number; readonly delayMs?: number };
  /** Answers kept for conditional requests; default: 100. */
  readonly cacheEntries?: number;
  readonly fetch?: typeof globalThis.fetch;
};

export type CallOptions = { readonly signal?: AbortSignal };

export type Market = {
  readonly chainId: ChainId;
  /** With `fields`: a list whose rows have only these. */
  get<Path extends FieldsPath, const Fields extends FieldsOf<Path>>(
    path: Path,
    params: FieldsParams<Path, Fields>,
    options?: CallOptions,
  ): Promise<AnswerWith<Path, Fields>>;
  get<Path extends GetPath>(
    path: Path,
    ...args: [...Args<GetParams<Path>>, options?: CallOptions]
  ): Promise<GetAnswer<Path>>;
  post<Path extends PostPath>(
    path: Path,
    ...args: [...Args<PostParams<Path>>, options?: CallOptions]
  ): Promise<PostAnswer<Path>>;
  /** All rows of a list, by cursor. */
  pages<Path extends FieldsPath, const Fields extends FieldsOf<Path>>(
    path: Path,
    params: FieldsParams<Path, Fields>,
    options?: PagesOptions,
  ): Pages<Path, RowWith<Path, Fields>>;
  pages<Path extends PagedPath>(
    path: Path,
    params: GetParams<Path>,
    options?: PagesOptions,
  ): Pages<Path>;
  /** What happens on the market, as it happens; never ends by itself. */
  feed(options?: FeedOptions): Feed;
  /** The order book, kept current by its events; never ends by itself. */
  followBook(options?: BookOptions): Book;
};

/** Making a key or a webhook twice gives two, and a secret ends another; everything else is the same when it is sent again. */
const notRepeatable: ReadonlySet<string> = new Set<PostPath>([
  "/v1/auth/keys",
  "/v1/webhooks",
  "/v1/webhooks/{webhookId}/rotate-secret",
]);

/** A client of the API. It keeps nothing open and needs no closing. */
export function market(options: MarketOptions): Market {
  const { chainId, key, timeoutMs = 15_000, retry: { tries = 3, delayMs = 250 } = {} } = options;
  const url = options.url.replace(/\/+$/, "");
  const fetch: typeof globalThis.fetch =
    options.fetch ?? ((...request) => globalThis.fetch(...request));
  const cache = openEtagCache(options.cacheEntries ?? 100);
  const headers: Record<string, string> = key === undefined ? {} : { "X-API-Key": key };
  const written = openWritten();
  const sending: SendOptions = { fetch, tries, delayMs, timeoutMs };

  async function get(path: string, params: Params = {}, { signal }: CallOptions = {}) {
    const chain = params.chainId ?? chainId;
    const { filled, others } = fillPath(path, { ...params, chainId: chain });
    const place = url + filled + queryOf(others);
    const kept = cache.get(place);
    const condition = kept === undefined ? {} : { "If-None-Match": kept.etag };
    const request = { headers: { ...headers, ...written.headers(chain), ...condition } };
    const { status, etag, text } = await send(place, request, sending, signal);
    if (status === 304 && kept !== undefined) return JSON.parse(kept.text);
    if (etag !== null) cache.set(place, { etag, text });
    return JSON.parse(text);
  }

  async function post(path: string, params: Params = {}, { signal }: CallOptions = {}) {
    const { filled, others } = fillPath(path, params);
    const chain = others.chainId ?? chainId;
    const request = {
      method: "POST",
      headers: { ...headers, ...written.headers(chain), "Content-Type": "application/json" },
      body: JSON.stringify({ ...others, chainId: chain }),
    };
    const once = notRepeatable.has(path) ? { ...sending, tries: 1 } : sending;
    const { position, text } = await send(url + filled, request, once, signal);
    written.note(chain, position);
    return JSON.parse(text);
  }

  return {
    chainId,
    get: get as Market["get"],
    post: post as Market["post"],
    pages: ((path: PagedPath, params: Params, options = {}) =>
      openPages(get, path, params, options)) as Market["pages"],
    feed: (options = {}) => openFeed({ url, chainId, headers, fetch, get }, options),
    followBook: (options = {}) => openBook({ url, chainId, headers, fetch, get }, options),
  };
}
