import { z } from "zod";
import type { CursorScope } from "../http/cursor.ts";
import {
  cursorPageOf,
  cursorRefusals,
  cutPage,
  type PageRequest,
  pageFields,
} from "../http/page.ts";
import { readRefusals } from "./parameters.ts";

export const listFields = {
  limit: pageFields.per_page,
  cursor: pageFields.cursor.meta({
    description: "`next_cursor` of the previous page, with the same sort and filters.",
  }),
};

/** Paging fields of a list, next to `data`. */
export const listMeta = z.object({
  next_cursor: z.string().nullable().meta({ description: "null on the last page." }),
  has_more: z.boolean(),
});

export const listRefusals = { ...readRefusals, ...cursorRefusals };

type ListQuery = { limit: number; cursor?: string | undefined };

export function listPageOf<Key>(
  { limit, cursor }: ListQuery,
  scope: CursorScope,
  key: z.ZodType<Key>,
) {
  return cursorPageOf({ per_page: limit, cursor }, scope, key);
}

/** The rows of the page and its meta, from rows read with `request.read`. */
export function cutList<Row, Key>(
  request: PageRequest<Key>,
  rows: readonly Row[],
  keyOf: (row: Row) => readonly (bigint | number)[],
) {
  const { shown, meta } = cutPage(request, rows, keyOf);
  return { shown, meta: nextMeta(meta.next_cursor) };
}

export function nextMeta(next: string | null): z.output<typeof listMeta> {
  return { next_cursor: next, has_more: next !== null };
}
