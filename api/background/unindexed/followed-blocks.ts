import { type BlockHeader, type ChainClient, fetchCanonicalHashes } from "#jobs/chain/client.ts";
import { type ChainQuery, queryKey } from "#jobs/chain/chain-query.ts";

/** The last block of a followed range, and what the range touched, or was read at it for another reason. */
type FollowedBlock = Pick<BlockHeader, "number" | "hash"> & { touched: readonly ChainQuery[] };

/** Memory of the newest followed blocks, to find what a reorg undid. */
export type FollowedBlocks = {
  last(): FollowedBlock | undefined;
  add(block: FollowedBlock): void;
  /** State was read at the last block. */
  touch(queries: readonly ChainQuery[]): void;
  /** Forgets the blocks that left the chain; what they touched. A node without a block decides nothing. */
  dropReorged(client: ChainClient): Promise<ChainQuery[]>;
  clear(): void;
};

/** More than a reorg reverts that Ponder follows; a deeper one has everything read again. */
const remembered = 256;

export function createFollowedBlocks(): FollowedBlocks {
  const blocks: FollowedBlock[] = [];
  return {
    last: () => blocks.at(-1),
    add(block) {
      blocks.push(block);
      if (blocks.length > remembered) blocks.shift();
    },
    touch(queries) {
      const last = blocks.pop();
      if (last === undefined) return;
      const touched = new Map([...last.touched, ...queries].map((one) => [queryKey(one), one]));
      blocks.push({ ...last, touched: [...touched.values()] });
    },
    async dropReorged(client) {
      // The newest alone first: a node that lags behind another does not have it.
      for (const some of [blocks.slice(-1), blocks]) {
        const numbers = some.map(({ number }) => number);
        const hashes = await fetchCanonicalHashes(client, numbers);
        const reorged = some.find(({ number, hash }) => (hashes.get(number) ?? hash) !== hash);
        if (reorged === undefined) return [];
        if (some === blocks) {
          return blocks.splice(blocks.indexOf(reorged)).flatMap(({ touched }) => touched);
        }
      }
      return [];
    },
    clear() {
      blocks.length = 0;
    },
  };
}
