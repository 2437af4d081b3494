import { LRUCache } from "lru-cache";
import type { TokenTransfer } from "#projections/exchanges/model/exchange.ts";
import type { TransactionRef, TransferReader } from "#projections/log/recording/missing-transfers.ts";
import type { ChainClient } from "#jobs/chain/client.ts";
import { parseTransfers, TransferReceipt } from "./receipt-transfers.ts";
import { ResponseTooLarge, RpcFailure } from "#jobs/chain/rpc.ts";
import { requestBatch } from "#jobs/chain/node-client.ts";

/** Receipts in one request, to begin with. */
const BATCH = 50;
/** A receipt is as large as a block may be. */
const MAX_RECEIPT_BYTES = 64 * 1024 * 1024;
/** Transactions, and transfers of them, that stay in memory: a pass that failed does not read them again. */
const KEPT = { transactions: 20_000, transfers: 250_000 };

/** Reads transfers from receipts, in batches, each transaction once. */
export function openTransferReader(
  client: ChainClient,
  events: TransferReader["events"],
): TransferReader {
  const known = new LRUCache<string, readonly TokenTransfer[]>({
    max: KEPT.transactions,
    maxSize: KEPT.transfers,
    sizeCalculation: ({ length }) => Math.max(1, length),
  });
  const keyOf = ({ hash, blockHash }: TransactionRef) => `${blockHash} ${hash}`;
  return {
    events,
    fetch: async (transactions) => {
      const found = new Map<string, readonly TokenTransfer[]>();
      for (const one of transactions) {
        const transfers = known.get(keyOf(one));
        if (transfers !== undefined) found.set(one.hash, transfers);
      }
      const missing = transactions.filter(({ hash }) => !found.has(hash));
      for (let start = 0; start < missing.length; start += BATCH) {
        const batch = missing.slice(start, start + BATCH);
        const read = await fetchBatch(client, batch);
        for (const [index, one] of batch.entries()) {
          const transfers = read[index] ?? [];
          known.set(keyOf(one), transfers);
          found.set(one.hash, transfers);
        }
      }
      return found;
    },
  };
}

/** The transfers of each transaction. Throws `RpcFailure`, also for one that is not in its block. */
async function fetchBatch(
  client: ChainClient,
  transactions: readonly TransactionRef[],
): Promise<TokenTransfer[][]> {
  const calls = transactions.map(({ hash }) => ({
    method: "eth_getTransactionReceipt",
    params: [hash],
  }));
  try {
    const isSingle = transactions.length === 1;
    const answers = await requestBatch(client, calls, isSingle ? MAX_RECEIPT_BYTES : undefined);
    return transactions.map((one, index) => transfersIn(client, one, answers[index]));
  } catch (error) {
    if (!(error instanceof ResponseTooLarge) || transactions.length === 1) throw error;
    const half = Math.ceil(transactions.length / 2);
    return [
      ...(await fetchBatch(client, transactions.slice(0, half))),
      ...(await fetchBatch(client, transactions.slice(half))),
    ];
  }
}

type Answer = Awaited<ReturnType<typeof requestBatch>>[number];

function transfersIn(
  { chainId }: ChainClient,
  { hash, blockHash }: TransactionRef,
  answer: Answer | undefined,
): TokenTransfer[] {
  const result = answer !== undefined && "result" in answer ? answer.result : undefined;
  const receipt = TransferReceipt.safeParse(result);
  if (!receipt.success) throw new RpcFailure(`Chain ${chainId} returned no receipt of ${hash}`);
  if (receipt.data.transactionHash !== hash || receipt.data.blockHash !== blockHash) {
    throw new RpcFailure(`Chain ${chainId} has transaction ${hash} in another block`);
  }
  return parseTransfers(receipt.data.logs);
}
