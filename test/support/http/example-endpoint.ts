import { z } from "zod";
import { route } from "#api/v1/context.ts";
import { chainId, chainRefusals, wallet } from "#api/v1/parameters.ts";
import { reject } from "#projections/domain/rejection.ts";
import { readOpenOrderCounts } from "#projections/orders/read-maker-histories.ts";

export const countOrders = route(
  {
    method: "get",
    path: "/v1/orders/count",
    operationId: "countOrders",
    tag: "Orders",
    summary: "Number of a maker's open orders",
    query: z.object({ chainId, maker: wallet }),
    data: z.object({ open: z.int().min(1) }).meta({ id: "OrderCount" }),
    refuses: { no_open_orders: 404, ...chainRefusals },
    isCacheable: true,
  },
  async ({ query }, { db, now }) => {
    const { chainId, maker } = query;
    const open = (await readOpenOrderCounts(db, chainId, [maker], now())).get(maker);
    if (open === undefined) return reject("no_open_orders", `${maker} has no open orders`);
    return { data: { open } };
  },
);
