import { z } from "zod";
import type { ChainId } from "#chains/index.ts";
import { isRejection, type Rejection, reject } from "#projections/domain/rejection.ts";
import type { NamedPoint } from "#projections/engine/point.ts";
import type { Database } from "#projections/log/database.ts";
import { type Moment, momentOf } from "#projections/past/moment.ts";
import { withinReach } from "#projections/past/read-past-listings.ts";
import { at, metaAt, type PointRejection, pointMeta, pointOf, pointScope } from "./point.ts";

type MomentQuery = { readonly chainId: ChainId; readonly at?: NamedPoint | undefined };

/** `at` of an endpoint that tells orders, with what it tells of then. */
export const atOfOrders = (description: string) =>
  at.meta({ override: { type: "string" }, description });

/** What has passed cannot be bought. */
export const momentView = (moment: Moment | null) =>
  moment === null ? {} : { isBuyingPaused: true };

/** The moment that a request about orders names; null: it asks about now. `isKnown`: whether all orders of then can be found. */
export async function momentOfQuery(
  db: Database,
  query: MomentQuery,
  isKnown: (moment: Moment) => boolean,
): Promise<Moment | null | PointRejection> {
  if (query.at === undefined) return null;
  const point = await pointOf(db, query);
  if (isRejection(point) || point === null) return point;
  const moment = await momentOf(db, point, query.at);
  return isKnown(moment) ? moment : partnersUnknown;
}

/** The moment that a request about more than listings names: those of partners are left out where they are not all known. */
export async function momentOfFigures(
  db: Database,
  query: MomentQuery,
  now: Date,
): Promise<Moment | null | PointRejection> {
  const moment = await momentOfQuery(db, query, () => true);
  return moment === null || isRejection(moment) ? moment : withinReach(moment, now);
}

const partnersUnknown: Rejection<"point_not_covered"> = reject(
  "point_not_covered",
  "Of listings of partners those open in the last 30 days are known: GET /v1/listings with marketplace=native tells the others",
);

/** Part of a cursor's scope. Two times within a block have different clocks. */
export const momentScope = (moment: Moment | null) =>
  moment === null ? {} : { ...pointScope(moment.point), clock: moment.clock.getTime() };

/** Meta of an answer that is no list. */
export const MomentMeta = z.object({ at: pointMeta.optional() }).meta({ id: "MomentMeta" });

/** `at` of the answer's meta. */
export const momentMeta = (moment: Moment | null) =>
  metaAt(moment?.point ?? null, moment ?? undefined);
