import type { Hex } from "viem";
import type { RpcBlock } from "./block-proof.ts";
import type { BlockReader } from "./read-blocks.ts";

/** The newest part of the branch that is followed, by height. */
export type Branch = {
  /** Undefined where it is not known. */
  hashAt(number: number): Hex | undefined;
  /** Makes a block the branch's head: the heights below are corrected, down to where they are right or not known. */
  follow(head: RpcBlock): Promise<void>;
};

const remembered = 512;

export function openBranch(blocks: BlockReader, readForMs: number): Branch {
  const hashes = new Map<number, Hex>();
  /** Whether another parent was known. */
  const correctParent = ({ number, parentHash }: RpcBlock): boolean => {
    const height = Number(number) - 1;
    const known = hashes.get(height);
    if (height >= 0) hashes.set(height, parentHash);
    return known !== undefined && known !== parentHash;
  };
  return {
    hashAt: (number) => hashes.get(number),
    async follow(head) {
      const number = Number(head.number);
      for (const height of hashes.keys()) {
        if (height > number || height <= number - remembered) hashes.delete(height);
      }
      hashes.set(number, head.hash);
      for (let child: RpcBlock | null = head; child !== null; ) {
        const isWrong: boolean = correctParent(child);
        child = isWrong ? await blocks.byHash(child.parentHash, false, readForMs) : null;
      }
    },
  };
}
