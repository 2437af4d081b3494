import { z } from "zod";
import { isRejection } from "../../../../../projections/domain/rejection.ts";
import {
  type SentTwin,
  submitTwins,
  twinCodes,
} from "../../../../work/orders/cross-listings/submit-twins.ts";
import type { Admission } from "../../../../work/orders/intake/admit.ts";
import { signedOrderDocument } from "../../../../work/orders/intake/order-body-schema.ts";
import { hash } from "../../../views/wire.ts";
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

const crossListing = z
  .object({
    status: z.enum(["queued", "posted", "rejected"]),
    orderHash: hash.nullable().meta({ description: "The twin's; null: it is no order." }),
    code: z.enum(twinCodes).nullable().meta({ description: "null unless it is rejected." }),
    message: z.string(),
  })
  .meta({
    id: "CrossListing",
    description: "How it stands with the twin; it never keeps the listing itself out.",
  });

const opensea = {
  ...signedOrderDocument,
  description:
    "The twin for opensea: the same token by the same maker, as `opensea` of the requirements says. Taken in after the listing, and posted for the maker.",
};

export const submitAsks = route(
  {
    method: "post",
    path: "/v1/orders/asks/bulk",
    tag: "Orders",
    summary: "Puts up to 100 signed listings into the book, each on its own",
    body: bulkBody("listings", 100, { opensea }),
    data: bulkData(
      bulkResult.extend({ askId: z.string().optional(), crossListing: crossListing.optional() }),
    ),
    successes: { 200: "Some failed", 201: "All in the book" },
    isBatch: true,
    refuses: refusalsOf("ask"),
    maxBodyBytes: 2 * bulkBodyBytes,
  },
  async ({ body }, context) => {
    const { chainId, listings } = body;
    const { market, now } = context;
    const bulk = { side: "ask", chainId, envelope: body, items: listings } as const;
    const admissions = await admitMany(bulk, context);
    if (isRejection(admissions)) return admissions;
    const sent = admissions.flatMap((admission, index) => twinOf(admission, listings[index]));
    const twins = await submitTwins(market, { chainId, now: now() }, sent);
    const crossListings = twins.values();
    return summarize(
      admissions.map((admission, index) => {
        const { id, result } = presentResult(admission, market.prefix);
        const [sentTwin] = twinOf(admission, listings[index]);
        return {
          ...result,
          ...(id !== undefined && { askId: id }),
          ...(sentTwin && { crossListing: crossListings.next().value }),
        };
      }),
    );
  },
);

/** None of a listing that was refused. */
function twinOf({ outcome }: Admission, item: unknown): SentTwin[] {
  const twin = fieldOf(item, "opensea") ?? null;
  return isRejection(outcome) || twin === null ? [] : [{ ...outcome, twin }];
}
