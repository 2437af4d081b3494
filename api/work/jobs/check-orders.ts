import type { Hex } from "viem";
import { commonConduit } from "../../../abis/deployments.ts";
import { appendNews } from "../../../projections/chain-readings/append-news.ts";
import type { Database } from "../../../projections/database.ts";
import {
  readToldOrders,
  type ToldOrder,
} from "../../../projections/reads/orders/read-signed-order.ts";
import { askChain } from "../chain/ask-chain.ts";
import type { ChainClient } from "../chain/clients.ts";
import type { Question } from "../chain/questions.ts";
import { questionsOfBid } from "../orders/accepting/accept-check.ts";
import { questionsOfListing } from "../orders/buying/buy-check.ts";

type AskedOrder = ToldOrder & { orderHash: Hex };

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
  const told = await readToldOrders(db, chainId, orderHashes);
  const orders = [...told].map(([orderHash, order]) => ({ ...order, orderHash }));
  if (orders.length === 0) return 0;
  const code = ({ components }: AskedOrder) =>
    ({ kind: "code", address: components.offerer }) as const;
  const answers = await askChain(
    client,
    orders.flatMap((order) => [
      ...questionsOf(order).filter(isNoSignature),
      ...(order.signature === null ? [] : [code(order)]),
    ]),
  );
  const byContracts = orders.filter((order) => answers.find(code(order))?.hasCode);
  const rounds = [answers];
  const signatures = byContracts.flatMap((order) =>
    questionsOf(order).filter((question) => !isNoSignature(question)),
  );
  if (signatures.length > 0) rounds.push(await askChain(client, signatures));
  const readings = rounds.map((round) => ({
    chainId,
    basis: round.basis,
    readings: round.readings,
  }));
  return (await appendNews(db, readings, now))?.news ?? 0;
}

/** Of a conduit but the common one the log tells nothing, and a signature may be its partner's secret. */
export function questionsOf({ signature, ...order }: AskedOrder): Question[] {
  const terms = { ...order.terms, fees: [] };
  const signed = { ...order, terms, signature: signature ?? "0x" };
  if (order.terms.side === "bid") return questionsOfBid(signed);
  const isCommon = order.components.conduitKey === commonConduit.key;
  return questionsOfListing(signed).filter(
    ({ kind }) =>
      (isCommon || !conduitKinds.has(kind)) && (signature !== null || kind !== "signature_read"),
  );
}

const conduitKinds: ReadonlySet<Question["kind"]> = new Set([
  "approval_read",
  "channel_read",
  "transfer_read",
]);

/** Only contracts change their mind about a signature. */
function isNoSignature({ kind }: Question): boolean {
  return kind !== "signature_read";
}
