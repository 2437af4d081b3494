import { type Address, type Hex, keccak256, stringToHex } from "viem";
import type { Observation } from "../../projections/log/append.ts";
import { addressOf, type Block, block, type ChainEvent } from "../given.ts";
import { type Happening, transaction } from "./events.ts";
import type { Random } from "./random.ts";

export type HistoryOptions = {
  /** Turns of each chain: blocks mined, or a reorg. */
  turns: number;
  /** Blocks a reorg drops at most. */
  reorgDepth: number;
};

/** A block with what it emitted. */
export type Mined = Block & { events: ChainEvent[] };

export type Turn =
  | { does: "mine"; mined: Mined[] }
  /** `dropped` leave the chain, `mined` and the once dropped `returning` take their places. */
  | { does: "reorg"; dropped: Mined[]; mined: Mined[]; returning: Mined[] }
  | { does: "observe"; observations: Observation[] };

/** What happened to some chains, in the order in which somebody watching would have seen it. */
export type History = {
  turns: Turn[];
  /** Every block that a turn mined. */
  all: Mined[];
  /** Those that stand at the end. */
  canonical: ReadonlySet<Mined>;
};

/** Blocks that left the chain together, and the block below them (none under the first). */
type Branch = { parent: Mined | undefined; blocks: Mined[] };

type Chain = { chainId: number; blocks: Mined[]; left: Branch[]; seen: Happening[][] };

/** Two chains that mine, drop, return to what they dropped, and are observed. */
export function makeHistory(random: Random, options: HistoryOptions): History {
  const chains: Chain[] = [1, 33139].map((chainId) => {
    return { chainId, blocks: [], left: [], seen: [] };
  });
  const turns: Turn[] = [];
  for (let turn = 0; turn < options.turns * chains.length; turn += 1) {
    const chain = random.pick(chains);
    const branch = `turn ${turn}`;
    const isReorg = chain.blocks.length > 1 && random.chance(0.3);
    if (isReorg) turns.push(reorg(random, chain, options.reorgDepth, branch));
    else turns.push({ does: "mine", mined: grow(random, chain, random.int(1, 3), branch) });
    if (random.chance(0.3)) turns.push(observe(random, chain, turn));
  }
  const all = turns.flatMap((turn) => (turn.does === "observe" ? [] : turn.mined));
  return { turns, all, canonical: new Set(chains.flatMap(({ blocks }) => blocks)) };
}

function grow(random: Random, chain: Chain, count: number, branch: string): Mined[] {
  const mined: Mined[] = [];
  for (let index = 0; index < count; index += 1) {
    const at = block(chain.chainId, chain.blocks.length + 1, branch);
    const one = { ...at, events: fillBlock(random, chain, at) };
    chain.blocks.push(one);
    mined.push(one);
  }
  return mined;
}

/** Transactions of dropped blocks are often mined again, in another place. */
function fillBlock(random: Random, chain: Chain, at: Block): ChainEvent[] {
  const events: ChainEvent[] = [];
  let logIndex = -1;
  const transactions = random.int(0, 3);
  for (let transactionIndex = 0; transactionIndex < transactions; transactionIndex += 1) {
    const again = chain.seen.length > 0 && random.chance(0.3);
    const happenings = again ? random.pick(chain.seen) : transaction(random, chain.chainId);
    if (!again) chain.seen.push(happenings);
    const transactionHash = hashOf(chain.chainId, happenings);
    logIndex += random.int(0, 2);
    for (const happening of happenings) {
      if ((happening.subIndex ?? 0) === 0) logIndex += 1;
      events.push({ ...happening, block: at, transactionIndex, transactionHash, logIndex });
    }
  }
  return events;
}

function reorg(random: Random, chain: Chain, deepest: number, branch: string): Turn {
  const old = chain.left.filter(({ parent, blocks: [first] }) => {
    return first !== undefined && chain.blocks[first.number - 2] === parent;
  });
  if (old.length > 0 && random.chance(0.4)) {
    const back = random.pick(old);
    const height = back.blocks[0]?.number ?? 1;
    chain.left.splice(chain.left.indexOf(back), 1);
    const dropped = cut(chain, chain.blocks.length - (height - 1));
    chain.blocks.push(...back.blocks);
    return { does: "reorg", dropped, mined: [], returning: back.blocks };
  }
  const dropped = cut(chain, random.int(1, Math.min(deepest, chain.blocks.length)));
  const mined = grow(random, chain, random.int(1, dropped.length + 1), branch);
  return { does: "reorg", dropped, mined, returning: [] };
}

function cut(chain: Chain, depth: number): Mined[] {
  const dropped = chain.blocks.splice(chain.blocks.length - depth, depth);
  if (dropped.length > 0) chain.left.push({ parent: chain.blocks.at(-1), blocks: dropped });
  return dropped;
}

/** Descriptions read at a block, registrations decided by people. */
function observe(random: Random, { chainId, blocks }: Chain, turn: number): Turn {
  const at = blocks.at(-random.int(1, 3));
  const recordedAt = new Date(1_800_000_000_000 + turn * 1_000);
  const common = { chainId, recordedAt, identity: hashOf(chainId, { turn }) };
  const contract: Address = addressOf(50 + random.int(0, 3));
  const observation: Observation =
    at === undefined || random.chance(0.3)
      ? {
          ...common,
          kind: "collection_registered",
          contract,
          payload: {
            slug: random.pick(["apes", "bears"]),
            name: `Registered in ${turn}`,
            verified: random.chance(0.5),
            contracts: [contract, addressOf(50 + random.int(0, 3))],
          },
        }
      : {
          ...common,
          kind: "contract_described",
          contract,
          basis: {
            number: BigInt(at.number),
            hash: at.hash,
            timestamp: new Date(at.timestamp * 1_000),
          },
          payload: {
            name: `Read in ${turn}`,
            symbol: null,
            standard: random.pick(["erc721", "erc1155", null]),
          },
        };
  return { does: "observe", observations: [observation] };
}

function hashOf(chainId: number, content: unknown): Hex {
  const text = JSON.stringify(content, (_, value) =>
    typeof value === "bigint" ? `${value}n` : value,
  );
  return keccak256(stringToHex(`${chainId} ${text}`));
}
