import { z } from "zod";
import type { Media } from "#api/http/answer.ts";
import { documentAs } from "#api/http/query.ts";
import { listingId } from "#api/orders/order-id.ts";
import type { ChainId } from "#chains/index.ts";
import { writeParquet } from "#projections/analytics/parquet.ts";
import type { ExportColumn, TextRow } from "#projections/analytics/read-rows.ts";
import { csvLines } from "#projections/domain/csv-lines.ts";
import { isRejection, type Rejection, reject } from "#projections/domain/rejection.ts";
import { resolvePoint } from "#projections/engine/point.ts";
import type { Database } from "#projections/log/database.ts";
import { type BookSubject, type Moment, momentOf } from "#projections/past/moment.ts";
import {
  type RelistedToken,
  readChangedListings,
} from "#projections/past/read-changed-listings.ts";
import { withinReach } from "#projections/past/read-past-listings.ts";
import type { Span } from "#projections/tokens/read-moved-tokens.ts";
import type { WalletTokenCursor } from "#projections/tokens/read-wallet-tokens.ts";
import { uncountedMeta } from "../http/page.ts";
import { fileTypes } from "../http/route.ts";
import { flag } from "./parameters.ts";
import { at, type PointRejection, pointMeta, presentPoint, presentReach } from "./point.ts";

const endOf = (text: string) =>
  at.unwrap().meta({ ...at.meta(), description: `${text} Named as ${"`at`"} elsewhere.` });

/** Query parameters of what changed between two moments: these, whether listings count, and how the rows are sent. */
export const spanFields = {
  from: endOf("The moment before: the end of a block."),
  to: endOf("The moment after; not before `from`."),
  listings: flag.optional().meta({
    description: "Also tokens whose active listings differ.",
    override: documentAs({ type: "boolean", enum: undefined }),
  }),
  format: z.enum(["json", "csv", "parquet"]).default("json").meta({
    description:
      "`csv`, `parquet`: the page's rows, lists as JSON; the header `Link` leads to the next page.",
  }),
};

type SpanQuery = z.output<z.ZodObject<typeof spanFields>> & {
  readonly chainId: ChainId;
  readonly per_page: number;
};

type Changes<Row> = { readonly data: Row[]; readonly next_cursor: string | null };

/** A page of changes as the endpoints answer it. `row`: the form of each. */
export const answerChanges = async <Row extends Readonly<Record<string, unknown>>>(
  query: SpanQuery,
  span: AskedSpan,
  row: z.ZodObject,
  { data, next_cursor }: Changes<Row>,
) => ({
  data,
  ...(query.format !== "json" && { media: await fileOf(query.format, row, data) }),
  meta: {
    ...{ chainId: query.chainId, per_page: query.per_page, next_cursor },
    from: { ...presentPoint(span.from), ...presentReach(span.moments?.from ?? {}) },
    to: presentPoint(span.to),
  },
  isVolatile: !span.to.isFinal,
});

/** Rows as a file: text is as it is, all else but whole numbers is JSON. */
async function fileOf(
  format: keyof typeof fileTypes,
  { shape }: z.ZodObject,
  rows: readonly Readonly<Record<string, unknown>>[],
): Promise<Media> {
  const names = Object.keys(shape);
  const cell = (value: unknown) =>
    value === null || typeof value === "string" ? value : JSON.stringify(value);
  const cells = rows.map((row) => names.map((name) => cell(row[name])));
  const bytes =
    format === "csv" ? Buffer.from(csvLines([names, ...cells])) : await parquetOf(shape, cells);
  return { type: fileTypes[format], bytes };
}

async function parquetOf(shape: z.ZodObject["shape"], cells: readonly TextRow[]): Promise<Buffer> {
  const columns = Object.entries(shape).map(([name, field]): ExportColumn => {
    return { name, type: field instanceof z.ZodNumber ? "integer" : "text" };
  });
  const pieces: Uint8Array[] = [];
  const writer = writeParquet(columns, async (piece) => void pieces.push(piece));
  await writer.write(cells);
  await writer.end();
  return Buffer.concat(pieces);
}

const askIds = z.array(z.string()).nullable();

/** Fields of a row about its token's listings. */
export const listingChanges = {
  listed: askIds.meta({
    description:
      "`askId`s that are active after and were not before. Null as `delisted`: not asked for with `listings`.",
  }),
  delisted: askIds,
};

/** `moments`: for its orders; null: they are not asked for. */
export type AskedSpan = Span & {
  readonly moments: { readonly from: Moment; readonly to: Moment } | null;
};

/** The tokens of a subject whose active listings differ; none where they are not asked for. */
export const readRelisted = async (
  db: Database,
  subject: BookSubject,
  { moments }: AskedSpan,
  slice: { limit: number; after: WalletTokenCursor | null },
): Promise<RelistedToken[]> =>
  moments === null ? [] : await readChangedListings(db, subject, moments, slice);

export function presentRelisted(
  { moments }: AskedSpan,
  token: RelistedToken | undefined,
  prefix: string,
) {
  if (moments === null) return { listed: null, delisted: null };
  const { listed = [], delisted = [] } = token ?? {};
  return {
    listed: listed.map((one) => listingId(prefix, one)),
    delisted: delisted.map((one) => listingId(prefix, one)),
  };
}

/** Meta of such lists. */
export const diffMeta = uncountedMeta
  .extend({ from: pointMeta, to: pointMeta })
  .meta({ id: "DiffMeta", description: "A page may be short, or empty, with more to follow." });

/** The span that a request names. */
export async function spanOf(
  db: Database,
  { chainId, from, to, listings }: SpanQuery,
  now: Date,
): Promise<AskedSpan | PointRejection | Rejection<"invalid_parameters">> {
  const before = await resolvePoint(db, chainId, from);
  if (isRejection(before)) return before;
  const after = await resolvePoint(db, chainId, to);
  if (isRejection(after)) return after;
  if (before.block > after.block) {
    const message = `must not be after to: it is block ${before.block}, to is ${after.block}`;
    return reject("invalid_parameters", `from: ${message}`, [{ field: "from", message }]);
  }
  const span = { from: before, to: after };
  if (listings !== true) return { ...span, moments: null };
  const first = await momentOf(db, before, from);
  const last = await momentOf(db, after, to);
  const moments = { from: withinReach(first, now), to: withinReach(last, now, first) };
  return { ...span, moments };
}

/** A page goes on between the blocks of the one before. */
export const scopeOfSpan = ({ from, to, moments }: AskedSpan) => ({
  ...{ from: from.block, to: to.block, fromBranch: from.hash, toBranch: to.hash },
  ...(moments && { clocks: `${moments.from.clock.getTime()} ${moments.to.clock.getTime()}` }),
});
