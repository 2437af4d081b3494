import type { Hex } from "viem";
import { z } from "zod";
import { isRejection } from "#projections/domain/rejection.ts";
import { documentedRowCount } from "../http/page.ts";
import { activityDescriptions, readActivityPage } from "../v1/activity.ts";
import { contractsOfReference } from "../v1/collection-reference.ts";
import { activityTypeList, since } from "../v1/parameters.ts";
import {
  accountRoute,
  collectionAddress,
  findByAddress,
  listFields,
  listMeta,
  listRefusals,
  type NftDataContext,
  nextMeta,
  walletAddress,
} from "./context.ts";
import { NftActivityItem, presentNftActivity } from "./objects.ts";

const accountActivityFields = {
  type: activityTypeList.optional(),
  collection: collectionAddress.optional().meta({ description: activityDescriptions.collection }),
  since: since.optional(),
  ...listFields,
  limit: listFields.limit.meta({
    description: activityDescriptions.perPage,
    override: documentedRowCount,
  }),
};

const activityRefusals = { not_found: 404, ...listRefusals } as const;

type ActivityQuery = z.output<z.ZodObject<typeof accountActivityFields>> & {
  wallet?: Hex | undefined;
};

async function readAccountActivity(query: ActivityQuery, context: NftDataContext) {
  const { chainId, db } = context;
  const found =
    query.collection === undefined ? null : await findByAddress(context, query.collection);
  if (isRejection(found)) return found;
  const contractIds = found === null ? null : contractsOfReference(found);
  const page = await readActivityPage(db, { ...query, chainId, contractIds });
  if (isRejection(page)) return page;
  return {
    data: page.rows.map((row) => presentNftActivity(row, context)),
    meta: nextMeta(page.nextCursor),
  };
}

export const activity = accountRoute(
  {
    method: "get",
    path: "/api/activity",
    operationId: "listActivity",
    tag: "Activity",
    loadClass: "lists",
    summary: "Sales, transfers, mints, burns, listings, offers and cancels, newest first",
    query: z.object({
      ...accountActivityFields,
      wallet: walletAddress
        .optional()
        .meta({ description: "Only events that involve this wallet." }),
    }),
    data: z.array(NftActivityItem),
    meta: listMeta,
    refuses: activityRefusals,
  },
  ({ query }, context) => readAccountActivity(query, context),
);

export const walletActivity = accountRoute(
  {
    method: "get",
    path: "/api/wallets/{address}/activity",
    operationId: "listWalletActivity",
    tag: "Wallets",
    loadClass: "lists",
    summary:
      "What a wallet gave, received, sold, bought, listed, offered and cancelled, newest first",
    params: z.object({ address: walletAddress }),
    query: z.object(accountActivityFields),
    data: z.array(NftActivityItem),
    meta: listMeta,
    refuses: activityRefusals,
  },
  ({ params, query }, context) =>
    readAccountActivity({ ...query, wallet: params.address }, context),
);
