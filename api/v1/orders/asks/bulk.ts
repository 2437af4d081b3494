import { z } from "zod";
import { isRejection } from "../../../../projections/domain/rejection.ts";
import { route } from "../../context.ts";
import {
  admitMany,
  bulkBodyBytes,
  bulkData,
  bulkResult,
  fieldOf,
  presentResult,
  summarize,
} from "../bulk-submission.ts";
import { bulkBody, refusalsOf } from "../submission.ts";

/** No partner takes orders from here: a twin is answered for, and never keeps the listing itself out. */
const crossListing = z.object({
  status: z.literal("rejected"),
  orderHash: z.null(),
  code: z.literal("partner_unavailable"),
  message: z.string(),
});

const noPartner: z.output<typeof crossListing> = {
  status: "rejected",
  orderHash: null,
  code: "partner_unavailable",
  message: "Listings are not passed on to the partner marketplace here",
};

export const submitAsks = route(
  {
    method: "post",
    path: "/v1/orders/asks/bulk",
    tag: "Orders",
    summary: "Puts up to 100 signed listings into the book, each on its own",
    body: bulkBody("listings", 100),
    data: bulkData(
      bulkResult.extend({ askId: z.string().optional(), crossListing: crossListing.optional() }),
    ),
    successes: { 200: "Some failed", 201: "All in the book" },
    isBatch: true,
    refuses: refusalsOf("ask"),
    maxBodyBytes: bulkBodyBytes,
  },
  async ({ body }, context) => {
    const { chainId, listings } = body;
    const bulk = { side: "ask", chainId, envelope: body, items: listings } as const;
    const admissions = await admitMany(bulk, context);
    if (isRejection(admissions)) return admissions;
    return summarize(
      admissions.map((admission, index) => {
        const { id, result } = presentResult(admission, context.market.prefix);
        const hasTwin = (fieldOf(listings[index], "opensea") ?? null) !== null;
        return {
          ...result,
          ...(id !== undefined && { askId: id }),
          ...(hasTwin && { crossListing: noPartner }),
        };
      }),
    );
  },
);
