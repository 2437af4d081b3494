import { MarketError } from "../market-error.ts";
import type { GetAnswer, PagedPath, RowOf } from "../paths.ts";

/** One page; `next` continues behind it, null: it is the last one. */
export type Page<Path extends PagedPath, Row = RowOf<Path>> = {
  readonly rows: readonly Row[];
  readonly meta: GetAnswer<Path>["meta"];
  readonly next: string | null;
};

/** Rows of a list, page by page. Iterating again starts anew. */
export type Pages<Path extends PagedPath, Row = RowOf<Path>> = AsyncIterable<Row> & {
  byPage(): AsyncIterable<Page<Path, Row>>;
};

export type PagesOptions = {
  /** Rows in all; default: as many as there are. */
  readonly limit?: number;
  /** `next` of a page: goes on behind it. */
  readonly cursor?: string;
  readonly signal?: AbortSignal;
};

type Get = (
  path: PagedPath,
  params: Record<string, unknown>,
  options: { signal?: AbortSignal },
) => Promise<{ data: readonly unknown[]; meta: { next_cursor: string | null } }>;

type Answer = Awaited<ReturnType<Get>>;

/** A page that is none, or leads to itself, would be read for ever or fail somewhere else. */
function checkPage(answer: Answer, cursor: string | null): Answer {
  const next = answer.meta?.next_cursor;
  const isPage = Array.isArray(answer.data) && (next === null || typeof next === "string");
  if (isPage && (next === null || next !== cursor)) return answer;
  throw new MarketError({ status: 200, code: "unexpected_answer", message: "No page of rows" });
}

/** The most rows that the API returns in a page. */
const mostPerPage = 100;

export function openPages<Path extends PagedPath>(
  get: Get,
  path: Path,
  params: Record<string, unknown>,
  { limit = Number.POSITIVE_INFINITY, cursor, signal }: PagesOptions,
): Pages<Path> {
  const perPage = Number(params.per_page ?? mostPerPage);

  async function* byPage(): AsyncGenerator<Page<Path>> {
    let next: string | null = cursor ?? null;
    let left = limit;
    while (left > 0) {
      const asked = {
        ...params,
        per_page: Math.min(perPage, left),
        ...(next === null ? {} : { cursor: next }),
      };
      const answer = await get(path, asked, signal === undefined ? {} : { signal });
      const { data, meta } = checkPage(answer, next);
      next = meta.next_cursor;
      left -= data.length;
      yield { rows: data as RowOf<Path>[], meta: meta as GetAnswer<Path>["meta"], next };
      if (next === null) return;
    }
  }
  async function* rows(): AsyncGenerator<RowOf<Path>> {
    let left = limit;
    for await (const page of byPage()) {
      // Some lists have pages of their own size.
      yield* page.rows.slice(0, left);
      left -= page.rows.length;
    }
  }
  return { byPage, [Symbol.asyncIterator]: rows };
}
