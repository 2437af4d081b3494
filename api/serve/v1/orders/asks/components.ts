import { z } from "zod";
import { readTwins } from "../../../../../projections/reads/cross-listings/read-twins.ts";
import { readListing } from "../../../../../projections/reads/listings/read.ts";
import { readSignedOrder } from "../../../../../projections/reads/orders/read-signed-order.ts";
import { orderHashOf, orderId } from "../../../../work/orders/order-id.ts";
import { AskComponents, presentSignedOrder } from "../../../views/components.ts";
import { route } from "../../context.ts";
import { noListing } from "../../listings/listing.ts";
import { askId, chainId, chainRefusals } from "../../parameters.ts";

export const askComponents = route(
  {
    method: "get",
    path: "/v1/orders/asks/{askId}/components",
    tag: "Orders",
    summary: "A listing as its maker signed it, in whatever state",
    params: z.object({ askId }),
    query: z.object({ chainId }),
    data: AskComponents,
    refuses: { not_found: 404, ...chainRefusals },
  },
  async ({ params, query }, { db, market: { prefix }, now }) => {
    const unknown = noListing(query.chainId, params.askId);
    const orderHash = orderHashOf(prefix, params.askId);
    if (orderHash === null) return unknown;
    const row = await readListing(db, query.chainId, orderHash, now());
    const signed = (await readSignedOrder(db, query.chainId, [orderHash])).get(orderHash);
    if (row === null || signed === undefined) return unknown;
    const [newest] = await readTwins(db, query.chainId, [orderHash]);
    const twin = newest === undefined || newest.status === "rejected" ? null : newest;
    return {
      data: { askId: orderId(prefix, orderHash), ...presentSignedOrder(row, signed, twin) },
    };
  },
);
