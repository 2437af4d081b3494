import { z } from "zod";
import { readBidPage } from "../../../../projections/reads/bids/read-bid-page.ts";
import { pageFields } from "../../http/page.ts";
import { Bid, bidKind, presentBid } from "../../views/bid.ts";
import { listOrders, orderFilters, orderListShape } from "../orders/list-orders.ts";
import { route } from "../routing/context.ts";
import { orderSort } from "../routing/parameters.ts";

export const listBids = route(
  {
    ...orderListShape,
    method: "get",
    path: "/v1/bids",
    tag: "Bids",
    summary: "Bids that can be accepted, or that are temporarily inactive",
    query: z.object({
      ...orderFilters,
      kind: bidKind.optional(),
      sort: orderSort.default("price_desc"),
      ...pageFields,
    }),
    data: z.array(Bid),
  },
  async ({ query }, context) =>
    listOrders(query, context, {
      list: "bids",
      filter: { kind: query.kind ?? null },
      readPage: readBidPage,
      present: presentBid,
    }),
);
