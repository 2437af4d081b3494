import { z } from "zod";
import { documentAs } from "#api/http/query.ts";
import { listingId } from "#api/orders/order-id.ts";
import type { ChainId } from "#chains/index.ts";
import { csvLines } from "#projections/domain/csv-lines.ts";
import { isRejection, type Rejection, reject } from "#projections/domain/rejection.ts";
import { type NamedPoint, resolvePoint } from "#projections/engine/point.ts";
import type { Database } from "#projections/log/database.ts";
import { type BookSubject, type Moment, momentOf } from "#projections/past/moment.ts";
import {
  type RelistedToken,
  readChangedListings,
} from "#projections/past/read-changed-listings.ts";
import { isOpenPastKnown } from "#projections/past/read-past-listings.ts";
import type { Span } from "#projections/tokens/read-moved-tokens.ts";
import type { WalletTokenCursor } from "#projections/tokens/read-wallet-tokens.ts";
import { uncountedMeta } from "../http/page.ts";
import { partnersUnknown } from "./moment.ts";
import { flag } from "./parameters.ts";
import { at, pointMeta, presentPoint } from "./point.ts";

const endOf = (text: string) =>
  at.unwrap().meta({ ...at.meta(), description: `${text} Named as ${"`at`"} elsewhere.` });

/** Query parameters of what changed between two moments. */
export const spanFields = {
  from: endOf("The moment before: the end of a block."),
  to: endOf("The moment after; not before `from`."),
};

/** Query parameter: also what was listed. */
export const listingsOfSpan = flag.optional().meta({
  description: "Also tokens whose active listings differ, in the last 30 days.",
  override: documentAs({ type: "boolean", enum: undefined }),
});

/** Query parameter: how the rows are sent. */
export const diffFormat = z.enum(["json", "csv"]).default("json").meta({
  description: "`csv`: the page's rows, lists as JSON; the header `Link` leads to the next page.",
});

/** Rows of one form as CSV, where it is asked for. */
export function csvOfRows(
  { format }: { format: z.output<typeof diffFormat> },
  { shape }: z.ZodObject,
  rows: readonly Readonly<Record<string, unknown>>[],
) {
  if (format === "json") return {};
  const names = Object.keys(shape);
  const cell = (value: unknown) =>
    value === null || typeof value === "string" ? value : JSON.stringify(value);
  const lines = [names, ...rows.map((row) => names.map((name) => cell(row[name])))];
  return { media: { type: "text/csv", bytes: Buffer.from(csvLines(lines)) } };
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

/** The moments of a span, for its orders; null: they are not asked for. */
export async function momentsOfSpan(
  db: Database,
  { from, to, listings }: SpanQuery & { listings?: boolean | undefined },
  span: Span,
  now: Date,
): Promise<SpanMoments | null | Rejection<"point_not_covered">> {
  if (listings !== true) return null;
  const moments = {
    from: await momentOf(db, span.from, from),
    to: await momentOf(db, span.to, to),
  };
  return isOpenPastKnown(moments.from, now) ? moments : partnersUnknown;
}

export type SpanMoments = { readonly from: Moment; readonly to: Moment };

/** The tokens of a subject whose active listings differ; none where they are not asked for. */
export const readRelisted = async (
  db: Database,
  subject: BookSubject,
  moments: SpanMoments | null,
  slice: { limit: number; after: WalletTokenCursor | null },
): Promise<RelistedToken[]> =>
  moments === null ? [] : await readChangedListings(db, subject, moments, slice);

export function presentRelisted(
  moments: SpanMoments | null,
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

type SpanQuery = { chainId: ChainId; from: NamedPoint; to: NamedPoint };

/** The span that a request names. */
export async function spanOf(db: Database, { chainId, from, to }: SpanQuery) {
  const before = await resolvePoint(db, chainId, from);
  if (isRejection(before)) return before;
  const after = await resolvePoint(db, chainId, to);
  if (isRejection(after)) return after;
  if (before.block <= after.block) return { from: before, to: after };
  const message = `must not be after to: it is block ${before.block}, to is ${after.block}`;
  return reject("invalid_parameters", `from: ${message}`, [{ field: "from", message }]);
}

/** A page goes on between the blocks of the one before. */
export const scopeOfSpan = ({ from, to }: Span, moments: SpanMoments | null) => ({
  ...{ from: from.block, to: to.block, fromBranch: from.hash, toBranch: to.hash },
  ...(moments && { clocks: `${moments.from.clock.getTime()} ${moments.to.clock.getTime()}` }),
});

/** `from` and `to` of the meta. */
export const presentSpan = ({ from, to }: Span) => ({
  from: presentPoint(from),
  to: presentPoint(to),
});
