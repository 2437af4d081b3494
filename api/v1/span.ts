import type { ChainId } from "#chains/index.ts";
import { isRejection, reject } from "#projections/domain/rejection.ts";
import { type NamedPoint, resolvePoint } from "#projections/engine/point.ts";
import type { Database } from "#projections/log/database.ts";
import type { Span } from "#projections/tokens/read-moved-tokens.ts";
import { uncountedMeta } from "../http/page.ts";
import { at, pointMeta, presentPoint } from "./point.ts";

const endOf = (text: string) =>
  at.unwrap().meta({ ...at.meta(), description: `${text} Named as ${"`at`"} elsewhere.` });

/** Query parameters of what changed between two moments. */
export const spanFields = {
  from: endOf("The moment before: the end of a block."),
  to: endOf("The moment after; not before `from`."),
};

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
export const scopeOfSpan = ({ from, to }: Span) => ({
  ...{ from: from.block, to: to.block, fromBranch: from.hash, toBranch: to.hash },
});

/** `from` and `to` of the meta. */
export const presentSpan = ({ from, to }: Span) => ({
  from: presentPoint(from),
  to: presentPoint(to),
});
