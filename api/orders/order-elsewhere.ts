import type { Hex } from "viem";
import { type ChainId, chainIds } from "#chains/index.ts";
import { type Rejection, reject } from "#projections/domain/rejection.ts";

type OrderName = {
  readonly noun: string;
  readonly chainId: ChainId;
  /** As the caller wrote it. */
  readonly id: string;
  /** null: the id is none. */
  readonly orderHash: Hex | null;
};

/** The refusal of an id that the chain does not have. It names the chain that has it: orders are rarely of the chain that is meant by default. */
export async function rejectUnknownOrder(
  { noun, chainId, id, orderHash }: OrderName,
  read: (chainId: ChainId, orderHash: Hex) => Promise<unknown>,
): Promise<Rejection<"not_found">> {
  const message = `No ${noun} ${id} on chain ${chainId}`;
  if (orderHash === null) return reject("not_found", message);
  for (const other of chainIds.filter((one) => one !== chainId)) {
    if ((await read(other, orderHash)) === null) continue;
    const where = `it is on chain ${other}`;
    return reject("not_found", `${message}: ${where}`, [
      { field: "chainId", expected: String(other), actual: String(chainId), message: where },
    ]);
  }
  return reject("not_found", message);
}
