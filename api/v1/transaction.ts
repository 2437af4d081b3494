import { z } from "zod";
import { maxTransactionRows, readTransactionEvents } from "#projections/activity/read-events.ts";
import { reject } from "#projections/domain/rejection.ts";
import { ActivityItem, presentActivity } from "./activity.ts";
import { route } from "./context.ts";
import { chainId, chainRefusals, transactionHash } from "./parameters.ts";
import { presentSale, Sale } from "./sales.ts";
import { chainIdValue, hash, time } from "./wire.ts";

const Transaction = z
  .object({
    chainId: chainIdValue,
    txHash: hash,
    blockNumber: z.int().min(0),
    blockHash: hash,
    timestamp: time,
    sales: z.array(Sale).max(maxTransactionRows),
    activity: z
      .array(ActivityItem)
      .max(maxTransactionRows)
      .meta({ description: "Its sales, transfers, mints, burns and cancels, in their order." }),
    truncated: z.boolean().meta({ description: "Whether it did more than is listed." }),
  })
  .meta({ id: "Transaction" });

export const transaction = route(
  {
    method: "get",
    path: "/v1/transactions/{hash}",
    operationId: "getTransaction",
    tag: "Transactions",
    summary: "What one transaction did to tokens and orders",
    params: z.object({ hash: transactionHash }),
    query: z.object({ chainId }),
    data: Transaction,
    refuses: { not_found: 404, ...chainRefusals },
    isCacheable: true,
  },
  async ({ params, query: { chainId } }, { db, siteUrl, market: { prefix } }) => {
    const { events, sales } = await readTransactionEvents(db, chainId, params.hash);
    const [first] = events;
    if (first === undefined)
      return reject(
        "not_found",
        `No indexed event of transaction ${params.hash} on chain ${chainId}`,
      );
    const most = maxTransactionRows;
    const site = { siteUrl, prefix, chainId };
    return {
      data: {
        chainId,
        txHash: first.transactionHash,
        blockNumber: Number(first.blockNumber),
        blockHash: first.blockHash,
        timestamp: first.at.toISOString(),
        sales: sales.slice(0, most).map((row) => presentSale(row, siteUrl)),
        activity: events.slice(0, most).map((event) => presentActivity({ event }, site)),
        truncated: events.length > most || sales.length > most,
      },
    };
  },
);
