import { type Hex, keccak256, stringToHex } from "viem";
import { chainIds } from "#chains/index.ts";
import type { Observation } from "#projections/log/append.ts";
import { type Block, block, type ChainEvent } from "../support/database/given.ts";
import { receivedAt } from "../support/orders/order-facts.ts";
import { transaction } from "./events.ts";
import { placeTransfers } from "./exchanges/exchange-sales.ts";
import type { Happening } from "./happening.ts";
import { type Observed, observe } from "./observations.ts";
import type { Random } from "./random.ts";
import { makeOrders, stock, trade } from "./trades.ts";

export type HistoryOptions = {
  /** Turns of each chain: blocks mined, or a reorg. */
  turns: number;
  /** Blocks a reorg drops at most. Most drop few, some as many as there are. */
  reorgDepth: number;
};

const usualDepth = 6;
const ordersOfChain = 16;
const mostObservations = 4;

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

type Chain = Observed & { blocks: Mined[]; abandoned: Branch[]; seen: Happening[][] };

/** Two chains that mine, drop, return to what they dropped, and are observed. */
export function makeHistory(random: Random, options: HistoryOptions): History {
  const chains = chainIds.map((chainId): Chain => {
    const orders = makeOrders(random, chainId, ordersOfChain);
    return {
      chainId,
      orders,
      received: [],
      clock: receivedAt,
      floors: null,
      blocks: [],
      abandoned: [],
      seen: [],
    };
  });
  const turns: Turn[] = [];
  for (let turn = 0; turn < options.turns * chains.length; turn += 1) {
    const chain = random.pick(chains);
    turns.push(...happen(random, chain, options, turn));
    for (let count = random.int(0, mostObservations); count > 0; count -= 1) {
      const observations = seen(random, chain, turn * mostObservations + count);
      turns.push({ does: "observe", observations });
    }
  }
  const all = turns.flatMap((turn) => (turn.does === "observe" ? [] : turn.mined));
  return { turns, all, canonical: new Set(chains.flatMap(({ blocks }) => blocks)) };
}

/** Some blocks, a reorg, or a long quiet stretch of which a reorg then drops any part. */
function happen(
  random: Random,
  chain: Chain,
  { reorgDepth }: HistoryOptions,
  turn: number,
): Turn[] {
  const branch = `turn ${turn}`;
  if (reorgDepth > usualDepth && random.chance(0.08)) {
    const mined = grow(random, chain, random.int(usualDepth, reorgDepth), branch, quiet);
    return [{ does: "mine", mined }, reorg(random, chain, reorgDepth, `${branch} again`)];
  }
  if (chain.blocks.length > 1 && random.chance(0.3)) {
    const deepest = random.chance(0.8) ? Math.min(usualDepth, reorgDepth) : reorgDepth;
    return [reorg(random, chain, deepest, branch)];
  }
  return [{ does: "mine", mined: grow(random, chain, random.int(1, 3), branch) }];
}

/** Observers read at the newest blocks, and at some that are dropped by then. */
function seen(random: Random, chain: Chain, turn: number): Observation[] {
  const places = [
    ...chain.blocks.slice(-4),
    ...chain.abandoned.flatMap(({ blocks }) => blocks.slice(-2)),
  ];
  return observe(random, chain, places, turn);
}

/** Of a block's transactions: how many there are. */
type Traffic = (random: Random) => number;
const busy: Traffic = (random) => random.int(0, 3);
const quiet: Traffic = (random) => (random.chance(0.04) ? 1 : 0);

function grow(
  random: Random,
  chain: Chain,
  count: number,
  branch: string,
  traffic: Traffic = busy,
): Mined[] {
  const mined: Mined[] = [];
  for (let index = 0; index < count; index += 1) {
    const at = block(chain.chainId, chain.blocks.length + 1, branch);
    const one = { ...at, events: fillBlock(random, chain, at, traffic(random)) };
    chain.blocks.push(one);
    mined.push(one);
  }
  return mined;
}

/** Transactions of dropped blocks are often mined again, in another place. */
function fillBlock(random: Random, chain: Chain, at: Block, transactions: number): ChainEvent[] {
  const events: ChainEvent[] = [];
  let logIndex = -1;
  for (let transactionIndex = 0; transactionIndex < transactions; transactionIndex += 1) {
    const again = chain.seen.length > 0 && random.chance(0.3);
    const happenings = again ? random.pick(chain.seen) : newTransaction(random, chain);
    if (!again) chain.seen.push(happenings);
    const transactionHash = hashOf(chain.chainId, happenings);
    logIndex += random.int(0, 2);
    for (const happening of happenings) {
      if ((happening.subIndex ?? 0) === 0) logIndex += 1;
      const placed = placeTransfers(happening, logIndex);
      events.push({ ...placed, block: at, transactionIndex, transactionHash, logIndex });
    }
  }
  return events;
}

function newTransaction(random: Random, { chainId, orders, seen }: Chain): Happening[] {
  if (seen.length === 0) return stock(chainId);
  return random.chance(0.6) ? trade(random, chainId, orders) : transaction(random, chainId);
}

function reorg(random: Random, chain: Chain, deepest: number, branch: string): Turn {
  const old = chain.abandoned.filter(({ parent, blocks: [first] }) => {
    return first !== undefined && chain.blocks[first.number - 2] === parent;
  });
  if (old.length > 0 && random.chance(0.4)) {
    const back = random.pick(old);
    const height = back.blocks[0]?.number ?? 1;
    chain.abandoned.splice(chain.abandoned.indexOf(back), 1);
    const dropped = cut(chain, chain.blocks.length - (height - 1));
    chain.blocks.push(...back.blocks);
    return { does: "reorg", dropped, mined: [], returning: back.blocks };
  }
  const dropped = cut(chain, random.int(1, Math.min(deepest, chain.blocks.length)));
  const isLong = dropped.length > usualDepth;
  const mined = grow(
    random,
    chain,
    random.int(1, dropped.length + 1),
    branch,
    isLong ? quiet : busy,
  );
  return { does: "reorg", dropped, mined, returning: [] };
}

function cut(chain: Chain, depth: number): Mined[] {
  const dropped = chain.blocks.splice(chain.blocks.length - depth, depth);
  if (dropped.length > 0) chain.abandoned.push({ parent: chain.blocks.at(-1), blocks: dropped });
  return dropped;
}

function hashOf(chainId: number, content: unknown): Hex {
  const text = JSON.stringify(content, (_, value) =>
    typeof value === "bigint" ? `${value}n` : value,
  );
  return keccak256(stringToHex(`${chainId} ${text}`));
}
