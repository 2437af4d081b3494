import type { Hex } from "viem";
import { z } from "zod";
import type { ChainId } from "#chains/index.ts";
import type { Database } from "#projections/log/database.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import { type ActivityKey, readActivity } from "#projections/activity/read-activity.ts";
import type { ActivityType } from "#projections/activity/read-event-scans.ts";
import { cursorInteger, cursorOf, pageFields, parseCursorKey, type RowFields, rowFields, withFields } from "#api/http/page.ts";
import { ActivityItem, presentActivity } from "#api/serve/views/activity-item.ts";
import type { Context } from "../routing/context.ts";
import { activityTypeList, since } from "../routing/parameters.ts";

export const activityDescriptions = {
  collection:
    "Only events of this collection. A cancel is in the list of its order's collection if the order was submitted here or shown by a partner before; a raised counter, which cancels all of a maker's orders, is in no collection's.",
  perPage:
    "Maximum number of rows. With a filter for rare events a page may hold fewer rows, or none, with more to follow: each page scans a bounded part of the history.",
} as const;

/** Query parameters of every list of activity. */
export const activityFields = {
  type: activityTypeList.optional(),
  since: since.optional(),
  fields: rowFields(ActivityItem),
  cursor: pageFields.cursor,
  per_page: pageFields.per_page.meta({
    description: activityDescriptions.perPage,
    override: { type: "integer", minimum: 1, maximum: 100, default: 50, pattern: undefined },
  }),
};

type ActivityQuery = {
  chainId: ChainId;
  contractIds: readonly number[] | null;
  /** With `contractIds`. */
  tokenId?: bigint | undefined;
  type?: ActivityType[] | undefined;
  wallet?: Hex | undefined;
  since?: Date | undefined;
  limit: number;
  cursor?: string | undefined;
};

/** A page of activity, newest first, and the cursor of the next one. */
export async function readActivityPage(db: Database, query: ActivityQuery) {
  const { chainId, contractIds, limit } = query;
  const { type: types = null, wallet = null, since = null, tokenId = null } = query;
  const scope = {
    list: "activity",
    chainId,
    wallet,
    tokenId,
    types: types?.join() ?? null,
    contractIds: contractIds?.join() ?? null,
    since: since?.toISOString() ?? null,
  };
  const after =
    query.cursor === undefined ? null : parseCursorKey(query.cursor, scope, activityKey);
  if (isRejection(after)) return after;
  const filter = { chainId, types, contractIds, tokenId, wallet };
  const { rows, next } = await readActivity(db, filter, { limit, after, since });
  return { rows, nextCursor: cursorOf(scope, next && textOf(next)) };
}

/** A page of activity as `/v1` answers it. */
export async function answerActivity(
  query: Omit<ActivityQuery, "limit"> & { per_page: number; fields?: RowFields },
  { db, siteUrl, market: { prefix } }: Context,
) {
  const { chainId, per_page, fields, ...filter } = query;
  const page = await readActivityPage(db, { ...filter, chainId, limit: per_page });
  if (isRejection(page)) return page;
  return {
    data: withFields(
      page.rows.map((row) => presentActivity(row, { siteUrl, prefix, chainId })),
      fields,
    ),
    meta: { chainId, per_page, next_cursor: page.nextCursor },
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
