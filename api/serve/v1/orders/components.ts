import { z } from "zod";
import type { Database } from "#projections/log/database.ts";
import { readCrossListings } from "#projections/partners/read-cross-listings.ts";
import type { OrderRow } from "#projections/orders/read-orders.ts";
import { readAcceptedOrders } from "#projections/orders/read-signed-orders.ts";
import { orderHashOf, orderId } from "#api/orders/order-id.ts";
import { AskComponents, BidComponents, presentSignedOrder } from "#api/serve/views/orders/components.ts";
import { route } from "../routing/context.ts";
import { chainId, chainRefusals } from "../routing/parameters.ts";
import { asks, bids, idIn, idParams, type Side } from "./sides.ts";

type PresentedOrder = ReturnType<typeof presentSignedOrder>;

/** `present` adds the id under the side's own name. */
const orderComponents = <Row extends OrderRow, Schema extends z.ZodType>(
  side: Side<Row>,
  data: Schema,
  present: (id: string, order: PresentedOrder) => z.output<Schema>,
) =>
  route(
    {
      method: "get",
      path: `${side.path}/{${side.idName}}/components`,
      operationId: `get${side.name}Components`,
      tag: "Orders",
      loadClass: "orders",
      summary: `A ${side.noun} as its maker signed it, in any status`,
      params: idParams(side),
      query: z.object({ chainId }),
      data,
      refuses: { not_found: 404, ...chainRefusals },
    },
    async ({ params, query }, { db, market: { prefix }, now }) => {
      const id = idIn(side, params);
      const notFound = side.notFound(query.chainId, id);
      const orderHash = orderHashOf(prefix, id);
      if (orderHash === null) return notFound;
      const row = await side.read(db, query.chainId, orderHash, now());
      const signed = (await readAcceptedOrders(db, query.chainId, [orderHash])).get(orderHash);
      if (row === null || signed === undefined) return notFound;
      const crossListing = side.side === "ask" ? await readOpenCrossListing(db, row) : null;
      const order = presentSignedOrder(row, signed, crossListing);
      return { data: present(orderId(prefix, orderHash), order) };
    },
  );

async function readOpenCrossListing(db: Database, { chainId, orderHash }: OrderRow) {
  const [latest] = await readCrossListings(db, chainId, [orderHash]);
  return latest === undefined || latest.status === "rejected" ? null : latest;
}

export const askComponents = orderComponents(asks, AskComponents, (askId, order) => ({
  askId,
  ...order,
}));
export const bidComponents = orderComponents(bids, BidComponents, (bidId, order) => ({
  bidId,
  ...order,
}));
