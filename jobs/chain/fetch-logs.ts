import { type Address, type Hex, numberToHex } from "viem";
import { z } from "zod";
import { type BlockHeader, type ChainClient, parseBlockHeader } from "./client.ts";
import { BasisReorged } from "./contract-calls.ts";
import { requestBatch } from "./node-client.ts";
import { ResponseTooLarge, type RpcCall, RpcFailure, type RpcResponse } from "./rpc.ts";

export type ChainLog = {
  address: Address;
  topics: Hex[];
  data: Hex;
  blockNumber: number;
  blockHash: Hex;
  transactionHash: Hex;
  transactionIndex: number;
  logIndex: number;
};

/** Of each topic one value, several, or any. */
export type LogFilter = {
  addresses: readonly Address[] | null;
  topics: readonly (Hex | readonly Hex[] | null)[];
};

type LogQuery = LogFilter & { from: number; to: number };

const hex = z
  .string()
  .regex(/^0x[0-9a-f]*$/i)
  .transform((text) => text.toLowerCase() as Hex);
const number = z
  .string()
  .regex(/^0x[0-9a-f]{1,13}$/i)
  .transform(Number);
const Logs = z.array(
  z.object({
    address: hex,
    topics: z.array(hex),
    data: hex,
    blockNumber: number,
    blockHash: hex,
    transactionHash: hex,
    transactionIndex: number,
    logIndex: number,
    removed: z.literal(false).optional(),
  }),
);
type BlockRef = Pick<BlockHeader, "number" | "hash">;

/**
 * The logs of the blocks after one up to another, and the header of the latter, in one request. "reorged": the first
 * block left the chain; null: the range is too large for the node. Throws `RpcFailure`.
 */
export async function fetchLogsAfter(
  client: ChainClient,
  filters: readonly LogFilter[],
  after: BlockRef,
  to: bigint,
): Promise<{ logs: ChainLog[]; header: BlockHeader } | "reorged" | null> {
  const range = { from: Number(after.number) + 1, to: Number(to) };
  const isOneBlock = range.from === range.to;
  const numbers = [after.number, to];
  const calls = [
    ...filters.map((filter) => logsCall({ ...filter, ...range })),
    ...numbers.map((number) => headerCall(Number(number))),
  ];
  try {
    const answers = await requestBatch(client, calls);
    // A node that lags behind the one that announced the block may not have it, nor its logs.
    const [first, last] = answers
      .splice(filters.length)
      .map((answer, index) => parseBlockHeader(client.chainId, answer, numbers[index] ?? 0n));
    if (!first || !last) throw new BasisReorged(`Chain ${client.chainId} has no block ${to} yet`);
    if (first.hash !== after.hash) return "reorged";
    if (answers.some((answer) => "error" in answer) && !isOneBlock) return null;
    const logs = answers.flatMap((answer) => Logs.parse(resultOf(client, answer)));
    return { logs, header: last };
  } catch (error) {
    if (error instanceof ResponseTooLarge && !isOneBlock) return null;
    throw error;
  }
}

function logsCall({ addresses, topics, from, to }: LogQuery): RpcCall {
  const address = addresses === null ? {} : { address: addresses };
  const range = { fromBlock: numberToHex(from), toBlock: numberToHex(to) };
  return { method: "eth_getLogs", params: [{ ...address, topics, ...range }] };
}

const headerCall = (number: number): RpcCall => ({
  method: "eth_getBlockByNumber",
  params: [numberToHex(number), false],
});

function resultOf({ chainId }: ChainClient, answer: RpcResponse | undefined): unknown {
  if (answer !== undefined && "result" in answer) return answer.result;
  throw new RpcFailure(
    `Chain ${chainId} refused the call: ${answer?.error.message ?? "no answer"}`,
  );
}
