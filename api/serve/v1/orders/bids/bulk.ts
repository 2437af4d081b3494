import { z } from "zod";
import { isRejection } from "../../../../../projections/domain/rejection.ts";
import { route } from "../../context.ts";
import {
  admitMany,
  bulkBodyBytes,
  bulkData,
  bulkResult,
  presentResult,
  summarize,
} from "../bulk-submission.ts";
import { bulkBody, refusalsOf } from "../submission.ts";

export const submitBids = route(
  {
    method: "post",
    path: "/v1/orders/bids/bulk",
    tag: "Orders",
    summary: "Puts up to 50 signed offers into the book, each on its own",
    body: bulkBody("bids", 50),
    data: bulkData(bulkResult.extend({ bidId: z.string().optional() })),
    successes: { 200: "Some failed", 201: "All in the book" },
    isBatch: true,
    refuses: refusalsOf("bid"),
    maxBodyBytes: bulkBodyBytes,
  },
  async ({ body }, context) => {
    const { chainId, bids } = body;
    const bulk = { side: "bid", chainId, envelope: body, items: bids } as const;
    const admissions = await admitMany(bulk, context);
    if (isRejection(admissions)) return admissions;
    return summarize(
      admissions.map((admission) => {
        const { id, result } = presentResult(admission, context.market.prefix);
        return { ...result, ...(id !== undefined && { bidId: id }) };
      }),
    );
  },
);
