import type { Hex } from "viem";
import type { RpcBlock } from "./block-proof.ts";
import type { BlockPlace, BlockReader } from "./read-blocks.ts";

/** The newest part of the branch that is followed, by height. */
export type Branch = {
  /** Undefined where it is not known. */
  hashAt(number: number): Hex | undefined;
  /** Makes a block the branch's head, all of it at once. Throws `RpcFailure` when a block below cannot be read. */
  follow(head: RpcBlock): Promise<void>;
};

const remembered = 512;

export function openBranch(blocks: BlockReader, readForMs: number): Branch {
  let hashes: ReadonlyMap<number, Hex> = new Map();
  return {
    hashAt: (number) => hashes.get(number),
    async follow(head) {
      const number = Number(head.number);
      const below = [...hashes].filter(
        ([height]) => height < number && height > number - remembered,
      );
      const next = new Map([...below, [number, head.hash]]);
      let child: RpcBlock | null = head;
      while (child !== null) {
        const isWrong = correctParent(next, child);
        const parent: BlockPlace = { number: Number(child.number) - 1, hash: child.parentHash };
        child = isWrong ? await blocks.byHash(parent, false, readForMs) : null;
      }
      hashes = next;
    },
  };
}

/** Whether another parent was known: then those below it are to be looked at, too. Without one nothing below is linked. */
function correctParent(hashes: Map<number, Hex>, { number, parentHash }: RpcBlock): boolean {
  const height = Number(number) - 1;
  const known = hashes.get(height);
  if (known === undefined) {
    for (const lower of hashes.keys()) if (lower < height) hashes.delete(lower);
  }
  if (height >= 0) hashes.set(height, parentHash);
  return known !== undefined && known !== parentHash;
}
