import { type Hex, hexToBigInt, slice } from "viem";
import { type Block, type ChainStyle, mineBlock, zeroHash } from "./block.ts";
import { type BlockPlan, contentsOf, type PlannedTransaction, transferTopic } from "./contents.ts";

type Shape = {
  readonly chainId: number;
  readonly style: ChainStyle;
  /** Number of the lowest block, in which nothing is. */
  readonly firstBlock: number;
  /** Seconds between two blocks; below one, some have equal times. */
  readonly blockSeconds: number;
  /** Told from any other chain of the same id; 0: the usual one. */
  readonly world: number;
};

/** A chain that can fork. Listeners hear of each new head. */
export type ProvableChain = Shape & {
  head(): Block;
  /** On the present branch. */
  blockAt(number: number): Block | undefined;
  /** On any branch. */
  blockOf(hash: Hex): Block | undefined;
  transactionOf(hash: Hex): { block: Block; index: number } | undefined;
  /** Adds blocks to the head, one for each plan. */
  add(plans: readonly BlockPlan[]): void;
  /** Takes blocks off the head and adds others. */
  replace(depth: number, plans: readonly BlockPlan[]): void;
  onHead(listener: (block: Block) => void): () => void;
  /** The blocks of the present branch, lowest first. */
  blocks(): readonly Block[];
};

/** How long ago the last block of the history was made: later ones come faster than their times say. */
const headAgeSeconds = 3_600;

const usualShape: Shape = {
  ...{ chainId: 1, style: "ethereum", firstBlock: 999_999, blockSeconds: 12, world: 0 },
};

/** The same of a chain made with Arbitrum's software: four blocks a second. */
export const orbitShape: Partial<Shape> = { chainId: 33139, style: "orbit", blockSeconds: 0.25 };

/** `count` plans of usual blocks. */
export const usualBlocks = (count: number): BlockPlan[] =>
  Array.from({ length: count }, () => ({}));
export const emptyBlocks = (count: number): BlockPlan[] =>
  Array.from({ length: count }, () => ({ isEmpty: true }));

export function growChain(
  history: readonly BlockPlan[],
  given: Partial<Shape> = {},
): ProvableChain {
  const shape = { ...usualShape, ...given };
  const { firstBlock, blockSeconds, world } = shape;
  const firstTime =
    Math.floor(Date.now() / 1_000) - headAgeSeconds - Math.ceil(history.length * blockSeconds);
  const listeners = new Set<(block: Block) => void>();
  const known = new Map<Hex, Block>();
  const branches = { last: world };
  let blocks: Block[] = [];

  const mine = (plan: BlockPlan) => {
    const number = firstBlock + blocks.length;
    const parent = blocks.at(-1);
    const place = { number, branch: branches.last };
    const tokenOf = (blocksBefore: number) => heldToken(blocks, blocks.length - blocksBefore);
    const block = mineBlock(
      {
        ...{ ...shape, ...place, parentHash: parent?.hash ?? zeroHash },
        timestamp: firstTime + Math.floor((number - firstBlock) * blockSeconds),
      },
      contentsOf({ ...place, tokenOf }, plan),
    );
    blocks.push(block);
    known.set(block.hash, block);
    return block;
  };
  const announce = (block: Block | undefined) => {
    if (block !== undefined) for (const listener of listeners) listener(block);
  };
  for (const plan of [{ isEmpty: true }, ...history]) mine(plan);
  return {
    ...shape,
    head: () => lastOf(blocks),
    blockAt: (number) => blocks[number - firstBlock],
    blockOf: (hash) => known.get(hash),
    transactionOf: (hash) => findTransaction(blocks, hash),
    add(plans) {
      for (const plan of plans) announce(mine(plan));
    },
    replace(depth, plans) {
      blocks = blocks.slice(0, -depth);
      branches.last += 1;
      for (const plan of plans) mine(plan);
      announce(blocks.at(-1));
    },
    onHead(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    blocks: () => blocks,
  };
}

function lastOf(blocks: readonly Block[]): Block {
  const last = blocks.at(-1);
  if (last === undefined) throw new Error("the chain has no block");
  return last;
}

function findTransaction(blocks: readonly Block[], hash: Hex) {
  for (let at = blocks.length - 1; at >= 0; at -= 1) {
    const block = blocks[at];
    const index = block?.transactions.findIndex((one) => one.hash === hash) ?? -1;
    if (block !== undefined && index >= 0) return { block, index };
  }
  return undefined;
}

/** The token minted in a block, with its owner now. */
function heldToken(blocks: readonly Block[], at: number) {
  const minted = blocks[at]?.transactions.find(isMint)?.logs.find(isTransfer)?.topics[3];
  if (minted === undefined) return undefined;
  for (let place = blocks.length - 1; place >= at; place -= 1) {
    const logs = blocks[place]?.transactions.flatMap((one) => one.logs) ?? [];
    const last = logs.findLast((log) => log.topics[3] === minted);
    const owner = last?.topics[2];
    if (owner !== undefined) return { tokenId: hexToBigInt(minted), owner: slice(owner, 12) };
  }
  return undefined;
}

const isTransfer = ({ topics }: { topics: readonly Hex[] }): boolean =>
  topics[0] === transferTopic && topics.length === 4;

const isMint = ({ logs }: PlannedTransaction): boolean =>
  logs.some((log) => isTransfer(log) && log.topics[1] === zeroHash);
