import type { RpcResponse } from "#jobs/chain/rpc.ts";
import type { Job } from "#jobs/runner/job.ts";
import {
  type ChainFinality,
  readChainFinality,
  storeChainFinality,
} from "#projections/log/chain-state.ts";
import type { Database } from "#projections/log/database.ts";
import type { ChainConfig } from "../config/config.ts";
import type { ChainReader } from "../reader/chain-reader.ts";
import type { ChainFaults } from "./tell-faults.ts";

type FinalityOptions = {
  db: Database;
  chain: Pick<ChainConfig, "chainId" | "finalityBlocks">;
  reader: ChainReader;
  faults: ChainFaults;
};

const everyMs = 6_000;
const faultPart = "finalized block";

/**
 * Follows which blocks are final: by the `finalized` tag of the chain's nodes (on ApeChain: what is posted to and final on
 * its parent chain, as far as nodes tell), else by the configured depth, which is never smaller than the tag was seen to be.
 */
export const finalBlocks = (options: FinalityOptions): Job => ({
  name: "final blocks",
  about: { chainId: options.chain.chainId },
  every: everyMs,
  retry: { firstMs: everyMs, mostMs: everyMs },
  async run() {
    await update(options);
    return undefined;
  },
});

async function update({ db, chain, reader, faults }: FinalityOptions): Promise<void> {
  const { chainId, finalityBlocks } = chain;
  const head = reader.heads.head();
  if (head === null) return;
  const known = await readChainFinality(db, chainId);
  const next = finalityOf(Number(head.number), await readTags(reader), { known, finalityBlocks });
  if (next.fault === null) faults.delete(faultPart);
  else faults.set(faultPart, next.fault);
  await storeChainFinality(db, chainId, next);
}

type Known = { known: ChainFinality | null; finalityBlocks: number };

/** What is final at a head, by what each node says: null where it does not serve the tag. */
export function finalityOf(
  head: number,
  tags: readonly (number | null)[],
  { known, finalityBlocks }: Known,
): ChainFinality & { fault: string | null } {
  const told = tags.flatMap((tag) => (tag === null ? [] : [Math.min(tag, head)]));
  const {
    number: before,
    deepest: seen,
    saidBy,
  } = known ?? { number: -1, deepest: 0, saidBy: "depth" };
  // The lowest of those that are on: what one node says alone is not final for all.
  const onward = told.filter((tag) => tag >= before).toSorted((a, b) => a - b)[0];
  if (onward !== undefined) {
    return { number: onward, saidBy: "tag", deepest: Math.max(seen, head - onward), fault: null };
  }
  if (told.length > 0) {
    const fault = `nodes say ${Math.max(...told)}, before they said ${before}`;
    return { number: before, saidBy: "tag", deepest: seen, fault };
  }
  const number = Math.max(before, head - Math.max(finalityBlocks, seen));
  const fault = saidBy === "tag" || seen > 0 ? "no node tells of it any more" : null;
  return { number, saidBy: "depth", deepest: seen, fault };
}

/** What each node says; null where it does not serve the tag, or not now. */
const readTags = ({ pool }: Pick<ChainReader, "pool">): Promise<(number | null)[]> =>
  Promise.all(
    pool.nodes.map((node) =>
      pool
        .askOne(node, {
          calls: [{ method: "eth_getBlockByNumber", params: ["finalized", false] }],
          accept: ([answer]) => numberOf(answer),
        })
        .catch(() => null),
    ),
  );

function numberOf(answer: RpcResponse | undefined): number | null {
  const block =
    answer !== undefined && "result" in answer
      ? (answer.result as { number?: unknown } | null)
      : null;
  const number = typeof block?.number === "string" ? Number(block.number) : Number.NaN;
  return Number.isSafeInteger(number) ? number : null;
}
