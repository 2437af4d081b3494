import type { Hex } from "viem";
import { z } from "zod";
import { type RpcAnswer, RpcFailure } from "./rpc-batch.ts";

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

/** The block that a call of eth_getBlockByNumber was answered with; null: there is none. */
export function blockOf(
  chainId: number,
  answer: RpcAnswer | undefined,
  asked: bigint | "latest",
): BlockHeader | null {
  if (answer === undefined || "error" in answer) {
    const message = answer?.error.message ?? "no answer";
    throw new RpcFailure(`Chain ${chainId} did not tell block ${asked}: ${message}`);
  }
  if (answer.result === null) return null;
  const header = Header.safeParse(answer.result);
  if (!header.success || (asked !== "latest" && header.data.number !== asked)) {
    throw new RpcFailure(`Chain ${chainId} answered block ${asked} with something else`);
  }
  return header.data;
}
