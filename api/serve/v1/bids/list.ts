import { z } from "zod";
import { readBids, readBidPage, readHashedBidPage } from "#projections/orders/read-bids.ts";
import { pageFields, rowFields } from "#api/http/page.ts";
import { Bid, bidKind, presentBid } from "#api/serve/views/orders/bid.ts";
import { listOrders, orderFilters, orderListShape, orderPlans } from "../orders/list-orders.ts";
import { route } from "../routing/context.ts";
import { bidSort } from "../routing/parameters.ts";

export const listBids = route(
  {
    ...orderListShape,
    method: "get",
    path: "/v1/bids",
    operationId: "listBids",
    tag: "Bids",
    loadClass: "book",
    plansOnceWith: orderPlans,
    summary: "Bids that can be accepted, that are temporarily inactive, or that have ended",
    query: z.object({
      ...orderFilters,
      kind: bidKind.optional(),
      sort: bidSort.default("price_desc"),
      fields: rowFields(Bid),
      ...pageFields,
    }),
    data: z.array(Bid),
  },
  async ({ query }, context) =>
    listOrders(query, context, {
      list: "bids",
      filter: { kind: query.kind ?? null },
      readPage: readBidPage,
      readHashedPage: readHashedBidPage,
      readOrders: readBids,
      present: presentBid,
    }),
);
