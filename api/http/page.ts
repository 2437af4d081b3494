import { createHash } from "node:crypto";
import { z } from "zod";
import { type Rejection, reject } from "#projections/domain/rejection.ts";
import { commaList, documentAs } from "./query.ts";
import { splitAddress } from "./reads/position.ts";

/** Rows of a page of a list, as documents describe them. */
export const documentedRowCount = documentAs({
  type: "integer",
  minimum: 1,
  maximum: 100,
  default: 50,
  pattern: undefined,
});

/**
 * What a cursor is bound to (endpoint, sort, direction, filters): a cursor is valid only for the list that issued it.
 */
export type CursorScope = Readonly<Record<string, string | number | boolean | bigint | null>>;

const version = 1;
const tagBytes = 12;

/** Opaque text: a checksum over version, scope and key, then the key of the last row returned. */
export function encodeCursor(scope: CursorScope, key: readonly string[]): string {
  const payload = Buffer.from(JSON.stringify(key));
  return Buffer.concat([tagOf(scope, payload), payload]).toString("base64url");
}

/** The key in the cursor, not validated yet, or undefined when the text is not a cursor of this scope. */
function decodeCursor(scope: CursorScope, text: string): unknown {
  if (!/^[\w-]{20,2500}$/.test(text)) return undefined;
  const bytes = Buffer.from(text, "base64url");
  const payload = bytes.subarray(tagBytes);
  // Base64 has several encodings of the same bytes; only the one that was issued is accepted.
  if (bytes.toString("base64url") !== text) return undefined;
  if (!bytes.subarray(0, tagBytes).equals(tagOf(scope, payload))) return undefined;
  try {
    return JSON.parse(payload.toString());
  } catch {
    return undefined;
  }
}

function tagOf(scope: CursorScope, payload: Buffer): Buffer {
  const names = Object.keys(scope).sort();
  const identity = JSON.stringify([version, names.map((name) => [name, String(scope[name])])]);
  return createHash("sha256")
    .update(identity)
    .update("\0")
    .update(payload)
    .digest()
    .subarray(0, tagBytes);
}

const maxRow = 10_000;

/** Query parameters of page-based lists. */
export const pageFields = {
  page: z
    .string()
    .regex(/^[1-9]\d*$/, "must be a whole number from 1")
    .transform(Number)
    .optional()
    .meta({
      description: "Page, from 1. Not together with `cursor`.",
      override: documentAs({ type: "integer", minimum: 1, pattern: undefined }),
    }),
  per_page: z
    .string()
    .regex(/^([1-9]\d?|100)$/, "must be a whole number from 1 to 100")
    .transform(Number)
    .default(50)
    .meta({
      description: "Rows per page.",
      override: documentedRowCount,
    }),
  cursor: z.string().optional().meta({
    description: "`meta.next_cursor` of the previous page, with the same sort and filters.",
  }),
};

/** Query parameters of lists by number, the newest first, that nobody else adds to or sorts. */
export const numberedFields = {
  before: cursorInteger(18)
    .optional()
    .meta({
      description: "`meta.next` of the previous page.",
      override: { type: "string", pattern: "^\\d{1,18}$" },
    }),
  per_page: pageFields.per_page,
};

export const numberedMeta = z.object({
  per_page: z.int(),
  next: z.string().nullable().meta({ description: "`before` of the next page; null: none." }),
});

/** The rows of a page, and the number before which the next one begins, of one row more than the page holds. */
export function cutNumbered<Row extends { readonly id: bigint | number }>(
  rows: readonly Row[],
  perPage: number,
): { shown: Row[]; next: string | null } {
  const shown = rows.slice(0, perPage);
  const last = rows.length > perPage ? shown.at(-1) : undefined;
  return { shown, next: last === undefined ? null : String(last.id) };
}

export const pageMeta = z
  .object({
    chainId: z.int(),
    total: z.int().min(0).meta({ description: "Exact number of rows in the whole list." }),
    page: z.int().nullable().meta({ description: "null when a cursor was used." }),
    per_page: z.int(),
    next_cursor: z.string().nullable().meta({ description: "null on the last page." }),
  })
  .meta({ id: "PageMeta" });

/** Meta of lists that are not counted: a page may be short, or empty, with more to follow. */
export const uncountedMeta = pageMeta
  .pick({ chainId: true, per_page: true, next_cursor: true })
  .meta({ id: "UncountedMeta" });

/** Codes of `cursorPageOf`. */
export const cursorRefusals = { invalid_cursor: 422 } as const;

/** Codes of `pageOf`, to spread into a list's `refuses`. */
export const pageRefusals = {
  use_cursor: 422,
  invalid_cursor: 422,
  invalid_parameters: 422,
} as const;

/** An integer inside a cursor, of at most `digits` digits so that it fits its column. */
export function cursorInteger(digits: number) {
  return z
    .string()
    .regex(new RegExp(`^-?\\d{1,${digits}}$`))
    .transform(BigInt);
}

/** A time in a cursor, in microseconds since 1970: up to the year 9999, which a timestamp column holds. */
export const cursorTime = cursorInteger(18).refine(
  (at) => at >= 0n && at < 253_402_300_800_000_000n,
);

/** Which rows to read: one more than the page holds, to know whether there is a next page. */
export type PageRequest<Key> = {
  readonly page: number | null;
  readonly perPage: number;
  readonly scope: CursorScope;
  readonly read: { readonly limit: number; readonly offset: number; readonly after: Key | null };
};

type PageQuery = { page?: number | undefined; per_page: number; cursor?: string | undefined };

export function pageOf<Key>(
  { page, per_page: perPage, cursor }: PageQuery,
  scope: CursorScope,
  key: z.ZodType<Key>,
): PageRequest<Key> | Rejection<keyof typeof pageRefusals> {
  if (cursor === undefined) return numberedPage(page ?? 1, perPage, scope);
  if (page !== undefined) {
    const message = "cannot be combined with page";
    return reject("invalid_parameters", `cursor: ${message}`, [{ field: "cursor", message }]);
  }
  return cursorPageOf({ per_page: perPage, cursor }, scope, key);
}

/** `pageOf` for lists without page numbers. */
export function cursorPageOf<Key>(
  { per_page: perPage, cursor }: Omit<PageQuery, "page">,
  scope: CursorScope,
  key: z.ZodType<Key>,
): PageRequest<Key> | Rejection<"invalid_cursor"> {
  const first = { limit: perPage + 1, offset: 0, after: null };
  if (cursor === undefined) return { page: null, perPage, scope, read: first };
  const after = key.safeParse(decodeCursor(scope, cursor));
  if (!after.success) return invalidCursor();
  return { page: null, perPage, scope, read: { ...first, after: after.data } };
}

function numberedPage(page: number, perPage: number, scope: CursorScope) {
  if (page * perPage > maxRow) {
    const message = `Page ${page} with ${perPage} rows per page is beyond row ${maxRow}: use cursor instead`;
    return reject("use_cursor", message);
  }
  const read = { limit: perPage + 1, offset: (page - 1) * perPage, after: null };
  return { page, perPage, scope, read };
}

/** The same for requests to the same list in the same order, with pages of the same size. */
export function nameOfList({ scope, perPage }: Pick<PageRequest<unknown>, "scope" | "perPage">) {
  return JSON.stringify([perPage, ...Object.values(scope).map(String)]);
}

/** The rows of the page and its meta, from rows read with `request.read`. */
export function cutPage<Row, Key>(
  request: PageRequest<Key>,
  rows: readonly Row[],
  keyOf: (row: Row) => readonly (bigint | number)[],
) {
  const shown = rows.slice(0, request.perPage);
  const last = rows.length > request.perPage ? shown.at(-1) : undefined;
  const next = cursorOf(request.scope, last === undefined ? null : keyOf(last));
  return { shown, meta: { page: request.page, per_page: request.perPage, next_cursor: next } };
}

/** The key in a cursor, for lists that do not use `cutPage`. */
export function parseCursorKey<Key>(cursor: string, scope: CursorScope, key: z.ZodType<Key>) {
  const parsed = key.safeParse(decodeCursor(scope, cursor));
  return parsed.success ? parsed.data : invalidCursor();
}

function invalidCursor() {
  return reject("invalid_cursor", "The cursor is malformed or was issued for another list or sort");
}

/** The cursor of the next page; null: there is none. */
export function cursorOf(scope: CursorScope, key: readonly (bigint | number)[] | null) {
  return key === null ? null : encodeCursor(scope, key.map(String));
}

/** RFC 8288 link to the next page, when the meta has a cursor. */
export function nextLink(baseUrl: string, requestUrl: string, meta: unknown): string | undefined {
  const cursor = cursorIn(meta);
  if (cursor === undefined) return undefined;
  const [path, parameters] = splitAddress(requestUrl);
  const query = new URLSearchParams(parameters);
  query.delete("page");
  query.set("cursor", cursor);
  return `<${baseUrl}${path}?${query}>; rel="next"`;
}

function cursorIn(meta: unknown): string | undefined {
  if (typeof meta !== "object" || meta === null || !("next_cursor" in meta)) return undefined;
  return typeof meta.next_cursor === "string" ? meta.next_cursor : undefined;
}

/** The fields of a row that are wanted; undefined: all of them. */
export type RowFields = ReadonlySet<string> | undefined;

/** Query parameter of a list: which fields of its rows are sent. The row's schema says which there are. */
export function rowFields(row: z.ZodObject) {
  const names = Object.keys(row.shape);
  return commaList(2_000)
    .transform((words, context): ReadonlySet<string> => {
      const wanted = new Set(words);
      const unknown = [...wanted].find((name) => !names.includes(name));
      if (unknown === undefined) return wanted;
      const message = `"${unknown.slice(0, 100)}" is no field of a row; these are: ${names.join(", ")}`;
      context.addIssue({ code: "custom", message });
      return z.NEVER;
    })
    .optional()
    .meta({
      description:
        "Only these fields of each row, comma-separated; what only others need is not read.",
      override: { type: "array", items: { type: "string", enum: names }, minItems: 1 },
      param: { style: "form", explode: false },
    });
}

/** What the schema of a row with some of its fields is called behind the row's own name. */
export const someFields = "Fields";

const partialRows = new WeakMap<z.ZodObject, z.ZodObject>();

/** Rows of a list, as documents describe them: whole, or, where the list has `fields`, with those that were asked for. */
export function documentedRows({
  query,
  data,
}: {
  query?: z.ZodObject | undefined;
  data: z.ZodType;
}) {
  const row = data instanceof z.ZodArray ? data.element : undefined;
  if (query?.shape.fields === undefined || !(row instanceof z.ZodObject)) return data;
  const known =
    partialRows.get(row) ?? row.partial().meta({ id: `${row.meta()?.id}${someFields}` });
  partialRows.set(row, known);
  return z.array(z.union([row, known]));
}

/** What is read for some fields only, each part with its fields. */
export type PartFields<Part, Name extends string = string> = readonly (readonly [
  Part,
  readonly Name[],
])[];

/** The parts that have to be read for the wanted fields. */
export function partsOf<Part>(fields: RowFields, known: PartFields<Part>): ReadonlySet<Part> {
  const wanted = known.filter(
    ([, names]) => fields === undefined || names.some((name) => fields.has(name)),
  );
  return new Set(wanted.map(([part]) => part));
}

/** The row with the wanted fields alone, in the order of a whole row. Its type stays that of the document. */
export function pickFields<Row extends object>(row: Row, fields: RowFields): Row {
  if (fields === undefined) return row;
  return Object.fromEntries(Object.entries(row).filter(([name]) => fields.has(name))) as Row;
}

export function withFields<Row extends object>(rows: Row[], fields: RowFields): Row[] {
  return fields === undefined ? rows : rows.map((row) => pickFields(row, fields));
}
