import type { Hex } from "viem";
import { z } from "zod";
import { RpcFailure, type RpcResponse } from "./rpc.ts";

export type BlockHeader = { number: bigint; hash: Hex; timestamp: Date };

const quantity = z
  .string()
  .regex(/^0x[0-9a-f]{1,16}$/i)
  .transform((hex) => BigInt(hex));

const Header = z.object({
  number: quantity,
  hash: z
    .string()
    .regex(/^0x[0-9a-f]{64}$/i)
    .transform((hash) => hash.toLowerCase() as Hex),
  timestamp: quantity.transform((seconds) => new Date(Number(seconds) * 1000)),
});

/** Parses the response of eth_getBlockByNumber; null without such a block. Throws `RpcFailure`. */
export function parseBlockHeader(
  chainId: number,
  answer: RpcResponse | undefined,
  expected: bigint | "latest",
): BlockHeader | null {
  if (answer === undefined || "error" in answer) {
    const message = answer?.error.message ?? "no answer";
    throw new RpcFailure(`Chain ${chainId} did not return block ${expected}: ${message}`);
  }
  if (answer.result === null) return null;
  const header = Header.safeParse(answer.result);
  if (!header.success || (expected !== "latest" && header.data.number !== expected)) {
    throw new RpcFailure(`Chain ${chainId} returned another block than ${expected}`);
  }
  return header.data;
}
