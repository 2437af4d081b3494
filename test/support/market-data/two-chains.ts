import { keccak256 } from "viem";
import { allProjections } from "../../../projections/all.ts";
import { randomFrom } from "../../simulation/random.ts";
import { setBlocks } from "../database/given.ts";
import { feeRecipient } from "../orders/order-facts.ts";
import { type Fact, openProjectedLog } from "../orders/projected-log.ts";
import { collectionsRegistered, openTokenMarket } from "./token-market.ts";

export const twoChains = [1, 33139] as const;
type ChainId = (typeof twoChains)[number];

/** What happens on Ethereum, on another chain. */
function onChain(fact: Fact, chainId: ChainId): Fact {
  if (chainId === 1) return fact;
  if (!("identity" in fact)) return { ...fact, block: blockOn(fact.block, chainId) };
  const { basis, chainId: named, identity } = fact;
  const there = named === undefined ? {} : { chainId, identity: keccak256(identity) };
  return { ...fact, ...there, ...(basis && { basis: { ...basis, hash: keccak256(basis.hash) } }) };
}

const blockOn = <Block extends { hash: `0x${string}` }>(block: Block, chainId: ChainId) =>
  chainId === 1 ? block : { ...block, chainId, hash: keccak256(block.hash) };

/** A market on each of two chains, of one log: orders, trades, metadata, partners' listings and reorgs. */
export async function openTwoChains(seed: number) {
  const projections = allProjections({ feeRecipient });
  const book = await openProjectedLog(projections);
  await book.emptyTargets();
  const markets = new Map(
    twoChains.map((chainId) => [chainId, openTokenMarket(randomFrom(seed * 100_000 + chainId))]),
  );
  for (const [chainId, market] of markets) {
    const { events, observations } = market.opening();
    await book.happens(
      ...[...events, ...observations, ...collectionsRegistered()].map((fact) =>
        onChain(fact, chainId),
      ),
    );
  }
  /** The next facts of a chain, in a database that takes them. */
  const step = async (chainId: ChainId, db = book.db): Promise<void> => {
    const next = markets.get(chainId)?.next();
    if (next === undefined) return;
    if ("facts" in next) await book.happens(...next.facts.map((fact) => onChain(fact, chainId)));
    else if ("drop" in next) await setBlocks(db, "block_retracted", [blockOn(next.drop, chainId)]);
    else await setBlocks(db, "block_readopted", [blockOn(next.restore, chainId)]);
    await book.happens();
  };
  return { book, projections, step };
}
