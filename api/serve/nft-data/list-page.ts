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
    description: "`next_cursor` of the answer before; same sort and filters.",
  }),
};

/** What stands beside a list's data. */
export const listMeta = z.object({
  next_cursor: z.string().nullable().meta({ description: "null when nothing follows." }),
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

/** Rows shown and what tells of them, from rows read with `request.read`. */
export function cutList<Row, Key>(
  request: PageRequest<Key>,
  rows: readonly Row[],
  keyOf: (row: Row) => readonly (bigint | number)[],
) {
  const { shown, meta } = cutPage(request, rows, keyOf);
  return { shown, meta: tellNext(meta.next_cursor) };
}

export function tellNext(next: string | null): z.output<typeof listMeta> {
  return { next_cursor: next, has_more: next !== null };
}

/** The key in a cursor of lists whose pages are not cut from rows; null: from the beginning. */
export function keyIn<Key>(cursor: string | undefined, scope: CursorScope, key: z.ZodType<Key>) {
  if (cursor === undefined) return null;
  const parsed = key.safeParse(decodeCursor(scope, cursor));
  if (parsed.success) return parsed.data;
  return reject("invalid_cursor", "The cursor is malformed or belongs to another list or sort");
}

export function cursorOf(scope: CursorScope, key: readonly (bigint | number)[] | null) {
  return key === null ? null : encodeCursor(scope, key.map(String));
}
