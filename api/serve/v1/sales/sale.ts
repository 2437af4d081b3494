import { z } from "zod";
import { reject } from "#projections/domain/rejection.ts";
import { readSale } from "#projections/sales/read-sale.ts";
import { presentSale, Sale } from "#api/serve/views/sale.ts";
import { route } from "../routing/context.ts";
import { chainId, chainRefusals, saleId } from "../routing/parameters.ts";

export const sale = route(
  {
    method: "get",
    path: "/v1/sales/{saleId}",
    operationId: "getSale",
    tag: "Sales",
    summary: "One sale",
    params: z.object({ saleId }),
    query: z.object({ chainId }),
    data: Sale,
    refuses: { not_found: 404, ...chainRefusals },
    isCacheable: true,
  },
  async ({ params, query }, { db, siteUrl }) => {
    const row = await readSale(db, query.chainId, params.saleId);
    if (row !== null) return { data: presentSale(row, siteUrl) };
    return reject("not_found", `No sale ${params.saleId} on chain ${query.chainId}`);
  },
);
