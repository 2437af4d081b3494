import { type Address, decodeEventLog, type Hex, numberToHex } from "viem";
import { z } from "zod";
import { seaportAddresses } from "#abis/deployments.ts";
import { seaportEvents } from "#abis/seaport.ts";
import type { ReadingBasis } from "#projections/log/readings.ts";
import { type ChainClient, parseBlockHeader } from "./client.ts";
import { requestBatch } from "./node-client.ts";
import { RpcFailure, type RpcResponse } from "./rpc.ts";

/** An event of the exchange that orders here are made for, about an order or a maker. */
export type ReceiptEvent = { logIndex: number; offerer: Address } & (
  | { kind: "order_cancelled"; orderHash: Hex }
  | { kind: "order_fulfilled"; orderHash: Hex }
  | { kind: "counter_incremented"; newCounter: bigint }
);

/** What a transaction proves. `basis`: its canonical block; later transactions in it may have changed more. */
export type TransactionProof =
  | { basis: ReadingBasis; events: readonly ReceiptEvent[] }
  | { proves: "nothing"; reason: "unknown" | "failed" | "not_canonical" | "no_events" };

const hex = z
  .string()
  .regex(/^0x[0-9a-f]*$/i)
  .transform((text) => text.toLowerCase() as Hex);
const quantity = z.string().regex(/^0x[0-9a-f]{1,16}$/i);

const Receipt = z.object({
  transactionHash: hex,
  status: quantity.transform((status) => BigInt(status) === 1n),
  blockHash: hex,
  blockNumber: quantity.transform(BigInt),
  logs: z.array(
    z.object({
      address: hex,
      topics: z.array(hex),
      data: hex,
      logIndex: quantity.transform(Number),
    }),
  ),
});

type ReceiptLog = z.infer<typeof Receipt>["logs"][number];

/** A transaction's events from its receipt, if it is in a canonical block. Throws `RpcFailure`. */
export async function fetchTransactionProof(
  client: ChainClient,
  txHash: Hex,
): Promise<TransactionProof> {
  const receipt = await fetchReceipt(client, txHash);
  if (receipt === null) return { proves: "nothing", reason: "unknown" };
  if (!receipt.status) return { proves: "nothing", reason: "failed" };
  const { blockNumber, blockHash } = receipt;
  const [answer] = await requestBatch(client, [
    { method: "eth_getBlockByNumber", params: [numberToHex(blockNumber), false] },
  ]);
  const block = parseBlockHeader(client.chainId, answer, blockNumber);
  if (block?.hash !== blockHash) return { proves: "nothing", reason: "not_canonical" };
  const events = receipt.logs.flatMap(parseEvent);
  return events.length === 0
    ? { proves: "nothing", reason: "no_events" }
    : { basis: block, events };
}

async function fetchReceipt(client: ChainClient, txHash: Hex) {
  const [answer] = await requestBatch(client, [
    { method: "eth_getTransactionReceipt", params: [txHash] },
  ]);
  const result = resultOf(client, answer);
  if (result === null) return null;
  const receipt = Receipt.safeParse(result);
  if (!receipt.success || receipt.data.transactionHash !== txHash.toLowerCase()) {
    throw new RpcFailure(`Chain ${client.chainId} returned an invalid receipt`);
  }
  return receipt.data;
}

function resultOf({ chainId }: ChainClient, answer: RpcResponse | undefined): unknown {
  if (answer !== undefined && "result" in answer) return answer.result;
  const message = answer?.error.message ?? "no answer";
  throw new RpcFailure(`Chain ${chainId} did not return the receipt: ${message}`);
}

function parseEvent({ address, topics, data, logIndex }: ReceiptLog): ReceiptEvent[] {
  const decoded = address === seaportAddresses["1.6"] ? decodeLog(topics, data) : null;
  if (decoded?.eventName === "OrderCancelled" || decoded?.eventName === "OrderFulfilled") {
    const { orderHash, offerer } = decoded.args;
    const kind = decoded.eventName === "OrderCancelled" ? "order_cancelled" : "order_fulfilled";
    return [{ kind, orderHash, offerer: toLowerCase(offerer), logIndex }];
  }
  if (decoded?.eventName === "CounterIncremented") {
    const { newCounter, offerer } = decoded.args;
    return [{ kind: "counter_incremented", newCounter, offerer: toLowerCase(offerer), logIndex }];
  }
  return [];
}

function decodeLog([signature, ...indexed]: Hex[], data: Hex) {
  if (signature === undefined) return null;
  try {
    return decodeEventLog({ abi: seaportEvents, topics: [signature, ...indexed], data });
  } catch {
    return null;
  }
}

const toLowerCase = (address: Address): Address => `0x${address.slice(2).toLowerCase()}`;
