import type { Hex } from "viem";
import type { Database } from "../../projections/database.ts";
import { appendObservations, type Observation } from "../../projections/log/append.ts";
import { newReadings } from "../../projections/orders/new-readings.ts";
import { readSignedOrder } from "../../projections/orders/read-signed-order.ts";
import { askChain } from "../chain/ask-chain.ts";
import type { ChainClient } from "../chain/clients.ts";
import type { Question } from "../chain/questions.ts";
import { questionsOfBid } from "../orders/accept-check.ts";
import { questionsOfListing } from "../orders/buy-check.ts";
import type { CheckedOrder } from "../orders/check-order.ts";

/**
 * Looks at the chain for all that the state of orders rests on, and tells the log what it did not know. Returns the
 * number of readings that were news. Throws `RpcFailure`.
 */
export async function checkOrders(
  db: Database,
  client: ChainClient,
  orderHashes: readonly Hex[],
  now: Date,
): Promise<number> {
  const { chainId } = client;
  const stored = await readSignedOrder(db, chainId, orderHashes);
  const orders = [...stored].map(([orderHash, order]) => ({ ...order, orderHash }));
  if (orders.length === 0) return 0;
  const code = ({ components }: CheckedOrder) =>
    ({ kind: "code", address: components.offerer }) as const;
  const answers = await askChain(
    client,
    orders.flatMap((order) => [...questionsOf(order).filter(isNoSignature), code(order)]),
  );
  const byContracts = orders.filter((order) => answers.find(code(order))?.hasCode);
  const rounds = [answers];
  if (byContracts.length > 0) {
    const signatures = byContracts.flatMap((order) =>
      questionsOf(order).filter((question) => !isNoSignature(question)),
    );
    rounds.push(await askChain(client, signatures));
  }
  const news: Observation[] = [];
  for (const { basis, readings } of rounds) {
    news.push(...(await newReadings(db, { chainId, basis, readings }, now)));
  }
  if (news.length > 0) await appendObservations(db, news);
  return news.length;
}

function questionsOf(order: CheckedOrder): Question[] {
  return order.terms.side === "ask" ? questionsOfListing(order) : questionsOfBid(order);
}

/** Only contracts change their mind about a signature. */
function isNoSignature({ kind }: Question): boolean {
  return kind !== "signature_read";
}
