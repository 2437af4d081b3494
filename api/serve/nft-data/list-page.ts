import { z } from "zod";
import { reject } from "../../../projections/domain/rejection.ts";
import { type CursorScope, decodeCursor, encodeCursor } from "../http/cursor.ts";
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

/** The key in a cursor, for lists that do not use `cutList`; null: start at the beginning. */
export function parseCursorKey<Key>(
  cursor: string | undefined,
  scope: CursorScope,
  key: z.ZodType<Key>,
) {
  if (cursor === undefined) return null;
  const parsed = key.safeParse(decodeCursor(scope, cursor));
  if (parsed.success) return parsed.data;
  return reject("invalid_cursor", "The cursor is malformed or was issued for another list or sort");
}

export function cursorOf(scope: CursorScope, key: readonly (bigint | number)[] | null) {
  return key === null ? null : encodeCursor(scope, key.map(String));
}
