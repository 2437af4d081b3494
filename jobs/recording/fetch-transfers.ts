import { LRUCache } from "lru-cache";
import { decodeEventLog, type Hex, toEventSelector } from "viem";
import { z } from "zod";
import { erc721Abi, erc1155Abi } from "#abis/tokens.ts";
import { isOfCryptopunks, punkTransfer } from "#projections/exchanges/cryptopunks/cryptopunks.ts";
import { nativeTransferLogs, type TokenTransfer } from "#projections/exchanges/model/exchange.ts";
import type {
  TransactionRef,
  TransferReader,
} from "#projections/log/recording/missing-transfers.ts";
import type { ChainClient } from "../chain/client.ts";
import { requestBatch } from "../chain/node-client.ts";
import { ResponseTooLarge, RpcFailure } from "../chain/rpc.ts";

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

const hex = z
  .string()
  .regex(/^0x[0-9a-f]*$/i)
  .transform((text) => text.toLowerCase() as Hex);

/** The part of a receipt that transfers are read from. */
const TransferReceipt = z.object({
  transactionHash: hex,
  blockHash: hex,
  logs: z.array(
    z.object({
      address: hex,
      topics: z.array(hex),
      data: hex,
      logIndex: z
        .string()
        .regex(/^0x[0-9a-f]{1,8}$/i)
        .transform(Number),
    }),
  ),
});

type Log = z.infer<typeof TransferReceipt>["logs"][number];
type Movement = Pick<TokenTransfer, "from" | "to" | "tokenId" | "amount">;

const [transferAbi, singleAbi, batchAbi] = [
  ...erc721Abi.filter((item) => item.type === "event" && item.name === "Transfer"),
  ...erc1155Abi.filter((item) => item.type === "event"),
] as const;
const selectors = {
  transfer: toEventSelector(transferAbi as (typeof erc721Abi)[0]),
  single: toEventSelector(singleAbi as (typeof erc1155Abi)[0]),
  batch: toEventSelector(batchAbi as (typeof erc1155Abi)[1]),
};

/**
 * Transfers of a transaction that are returned. One that moves anything costs thousands of gas, so that no transaction with
 * a trade has as many; an entry of a batch that moves nothing costs 512.
 */
export const maxTransfers = 5_000;

/**
 * The transfers of NFTs and coins among a receipt's logs, in their order; none where there are more than `maxTransfers`.
 * A log that does not decode is none.
 */
export function parseTransfers(receiptLogs: readonly Log[]): TokenTransfer[] {
  const logs = receiptLogs.filter(({ address }) => address !== nativeTransferLogs);
  const found = logs.flatMap((log, index) => {
    try {
      const movements = isOfCryptopunks(log)
        ? [punkTransfer(logs, index) ?? []].flat()
        : movementsOf(log);
      return movements.map(({ standard, ...movement }) => {
        const { logIndex, address: contract } = log;
        return { logIndex, standard, contract, ...lowerCase(movement) };
      });
    } catch {
      return [];
    }
  });
  return found.length > maxTransfers ? [] : found;
}

function movementsOf({ topics, data }: Log): (Movement & Pick<TokenTransfer, "standard">)[] {
  const [selector, first, second, third] = topics;
  if (selector === selectors.transfer) {
    if (first === undefined || second === undefined) return [];
    const parties = { from: addressIn(first), to: addressIn(second) };
    if (third !== undefined) {
      return [{ standard: "erc721", ...parties, tokenId: `${BigInt(third)}`, amount: "1" }];
    }
    if (data.length !== 66) return [];
    return [{ standard: "erc20", ...parties, tokenId: null, amount: `${BigInt(data)}` }];
  }
  if (selector !== selectors.single && selector !== selectors.batch) return [];
  const log = { topics: topics as [Hex, ...Hex[]], data };
  const event = decodeEventLog({ abi: erc1155Abi, ...log, strict: true });
  const { from, to } = event.args;
  const [ids, values] =
    event.eventName === "TransferBatch"
      ? [event.args.ids, event.args.values]
      : [[event.args.id], [event.args.value]];
  return ids.slice(0, values.length).map((id, index) => {
    const parties = { from, to, tokenId: `${id}` };
    return { standard: "erc1155", ...parties, amount: `${values[index] ?? 0n}` };
  });
}

/** The address in a topic, whatever stands before it. */
const addressIn = (topic: Hex): Hex => `0x${topic.slice(-40)}`;

function lowerCase({ from, to, ...movement }: Movement): Movement {
  return { ...movement, from: from.toLowerCase() as Hex, to: to.toLowerCase() as Hex };
}
