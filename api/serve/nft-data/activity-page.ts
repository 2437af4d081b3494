import type { Hex } from "viem";
import type { z } from "zod";
import { isRejection } from "#projections/domain/rejection.ts";
import { activityDescriptions, readActivityPage } from "../v1/activity/page.ts";
import { ownContracts } from "../v1/collections/reference.ts";
import { activityTypeList, since } from "../v1/routing/parameters.ts";
import { findByAddress } from "./collections/find.ts";
import type { NftDataContext } from "./context.ts";
import { listFields, listRefusals, nextMeta } from "./list-page.ts";
import { collectionAddress } from "./parameters.ts";
import { presentNftActivity } from "./views/objects.ts";

export const activityFields = {
  type: activityTypeList.optional(),
  collection: collectionAddress.optional().meta({ description: activityDescriptions.collection }),
  since: since.optional(),
  ...listFields,
  limit: listFields.limit.meta({
    description: activityDescriptions.perPage,
    override: { type: "integer", minimum: 1, maximum: 100, default: 50, pattern: undefined },
  }),
};

export const activityRefusals = { not_found: 404, ...listRefusals } as const;

type ActivityQuery = z.output<z.ZodObject<typeof activityFields>> & { wallet?: Hex | undefined };

export async function listActivity(query: ActivityQuery, context: NftDataContext) {
  const { chainId, db } = context;
  const found =
    query.collection === undefined ? null : await findByAddress(context, query.collection);
  if (isRejection(found)) return found;
  const contractIds = found === null ? null : ownContracts(found);
  const page = await readActivityPage(db, { ...query, chainId, contractIds });
  if (isRejection(page)) return page;
  return {
    data: page.rows.map((row) => presentNftActivity(row, context)),
    meta: nextMeta(page.nextCursor),
  };
}
