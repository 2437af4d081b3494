import type { Hex } from "viem";
import { appendNews } from "../../../projections/chain-readings/append-news.ts";
import type { ChainReading } from "../../../projections/chain-readings/chain-reading.ts";
import type { Database } from "../../../projections/database.ts";
import { readToldOrders } from "../../../projections/reads/orders/read-signed-order.ts";
import { askChain } from "../chain/ask-chain.ts";
import type { ChainClient } from "../chain/clients.ts";
import { questionsOf } from "./check-orders.ts";

/** What contracts change without an event. */
export type Unannounced = Extract<ChainReading["kind"], "signature_read" | "transfer_read">;

type Asked = readonly { kind: Unannounced; orders: readonly Hex[] }[];

/**
 * Asks the chain one thing about each of the orders and tells the log what it did not know. Returns the number of
 * readings that were news. Throws `RpcFailure`.
 */
export async function askAgain(
  db: Database,
  client: ChainClient,
  asked: Asked,
  now: Date,
): Promise<number> {
  const { chainId } = client;
  const hashes = asked.flatMap(({ orders }) => orders);
  const told = await readToldOrders(db, chainId, hashes);
  const questions = asked.flatMap(({ kind, orders }) =>
    orders.flatMap((orderHash) => {
      const order = told.get(orderHash);
      if (order === undefined) return [];
      return questionsOf({ ...order, orderHash }).filter((question) => question.kind === kind);
    }),
  );
  if (questions.length === 0) return 0;
  const { basis, readings } = await askChain(client, questions);
  return (await appendNews(db, [{ chainId, basis, readings }], now))?.news ?? 0;
}
