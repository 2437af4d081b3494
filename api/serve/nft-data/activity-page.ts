import type { Hex } from "viem";
import { z } from "zod";
import { isRejection } from "../../../projections/domain/rejection.ts";
import type { ActivityKey } from "../../../projections/reads/activity/merge.ts";
import { readActivity } from "../../../projections/reads/activity/read-activity.ts";
import type { ActivityType } from "../../../projections/reads/activity/read-filter.ts";
import { cursorInteger } from "../http/page.ts";
import { findByAddress } from "./collections/find.ts";
import type { NftDataContext } from "./context.ts";
import { cursorOf, listFields, listRefusals, nextMeta, parseCursorKey } from "./list-page.ts";
import { collectionAddress, since, types } from "./parameters.ts";
import { presentActivity } from "./views/activity-item.ts";

export const activityFields = {
  type: types.optional(),
  collection: collectionAddress.optional().meta({
    description:
      "Only events of this collection. Cancels name an order and no token, so they are in no collection's list.",
  }),
  since: since.optional(),
  ...listFields,
  limit: listFields.limit.meta({
    description:
      "Maximum number of rows. With a filter for rare events a page may hold fewer rows, or none, with `has_more` true: each page scans a bounded part of the history.",
    override: { type: "integer", minimum: 1, maximum: 100, default: 50, pattern: undefined },
  }),
};

export const activityRefusals = { not_found: 404, ...listRefusals } as const;

type ActivityQuery = {
  type?: ActivityType[] | undefined;
  collection?: Hex | undefined;
  wallet?: Hex | undefined;
  since?: Date | undefined;
  limit: number;
  cursor?: string | undefined;
};

export async function listActivity(query: ActivityQuery, context: NftDataContext) {
  const { chainId, db } = context;
  const found =
    query.collection === undefined ? null : await findByAddress(context, query.collection);
  if (isRejection(found)) return found;
  const { type: types = null, wallet = null, since = null, limit } = query;
  const contractIds = found?.contractIds ?? null;
  const scope = {
    list: "activity",
    ...{ chainId, wallet },
    types: types?.join() ?? null,
    contractIds: contractIds?.join() ?? null,
    since: since?.toISOString() ?? null,
  };
  const after = parseCursorKey(query.cursor, scope, activityKey);
  if (isRejection(after)) return after;
  const filter = { chainId, types, contractIds, wallet };
  const { rows, next } = await readActivity(db, filter, { limit, after, since });
  return {
    data: rows.map((row) => presentActivity(row, context)),
    meta: nextMeta(cursorOf(scope, next && textOf(next))),
  };
}

/** Digits are those of bigint and integer columns. */
const activityKey = z
  .tuple([cursorInteger(18), cursorInteger(9), cursorInteger(9), cursorInteger(18)])
  .transform(
    ([blockId, logIndex, subIndex, order]): ActivityKey => ({
      event: { blockId, logIndex: Number(logIndex), subIndex: Number(subIndex) },
      order,
    }),
  );

function textOf({ event, order }: ActivityKey) {
  return [event.blockId, event.logIndex, event.subIndex, order];
}
