import { type Address, parseEther, zeroAddress } from "viem";
import { erc721Abi } from "#abis/tokens.ts";
import type { ChainId } from "#chains/index.ts";
import type { Nft } from "#projections/domain/seaport/draft-components.ts";
import { syncWithClock } from "../anvil.ts";
import type { DevnetClient } from "../client.ts";
import { contracts } from "../contracts/addresses.ts";
import { type Actor, type Actors, createActors, type Scenario } from "./actors.ts";
import { seededRandom } from "./random.ts";
import {
  consecutiveRange,
  editionIds,
  editionUnits,
  multiContractRanges,
  punkRange,
} from "./seed-tokens.ts";
import { type MarketContext, sendInThePast } from "./signer.ts";
import { allScenarios, pickScenario } from "./trading.ts";

const daySeconds = 24 * 60 * 60;
export const historySeconds = 3 * daySeconds;
const seededBlocks = 240;

/** `more`: scenarios that are run once beside all that every market has. */
type SeedOptions = { chainId: ChainId; seed: number; more?: readonly Scenario[] };

/**
 * Runs three days of trading that end now, on a chain with nothing but the contracts installed.
 * The same seed gives the same trades at the same prices.
 */
export async function seedMarket(
  client: DevnetClient,
  { chainId, seed, more = [] }: SeedOptions,
): Promise<void> {
  const head = await client.getBlock();
  const random = seededRandom(seed ^ chainId);
  const sending = sendInThePast(
    client,
    spreadTimes(Number(head.timestamp), seededRandom(seed).below),
  );
  const market: MarketContext = { chainId, client, random, sending };
  const actors = createActors(market);
  const lastBlock = Number(head.number) + seededBlocks;

  await setUpMarket(market, actors);
  for (const scenario of [...allScenarios, ...more]) await scenario(market, actors);
  while (Number(await client.getBlockNumber()) < lastBlock)
    await pickScenario(random)(market, actors);
  await actors.dave.mints(lastMinted);
  await mineNow(client);
}

/** The last token minted by the seed: if it exists, the seed is complete. */
const lastMinted: Nft = { standard: "erc721", contract: contracts.guarded, tokenId: 1n };

/** Whether seeding completed; an interrupted one has to start again on a new chain. */
export async function isSeeded(client: DevnetClient): Promise<boolean> {
  if ((await client.getCode({ address: lastMinted.contract })) === undefined) return false;
  const minted = await client.getContractEvents({
    address: lastMinted.contract,
    abi: erc721Abi,
    eventName: "Transfer",
    args: { from: zeroAddress, tokenId: lastMinted.tokenId },
    fromBlock: 0n,
  });
  return minted.length > 0;
}

/** Block times from three days ago (or the head's time, if later) until now. */
function spreadTimes(head: number, below: (bound: number) => number): () => bigint {
  const now = Math.floor(Date.now() / 1000);
  let time = Math.max(head, now - historySeconds);
  const gap = Math.max(0, Math.floor((now - time) / (seededBlocks * 1.04)));
  return () => {
    const next = Math.min(time + Math.floor(gap / 2) + below(gap + 1), now - 1);
    time = Math.max(time + 1, next);
    return BigInt(time);
  };
}

/** Mines a block at the present time, from which the node's clock continues. */
async function mineNow(client: DevnetClient): Promise<void> {
  const { timestamp } = await client.getBlock();
  const now = BigInt(Math.floor(Date.now() / 1000));
  await client.setNextBlockTimestamp({ timestamp: now > timestamp ? now : timestamp + 1n });
  await client.mine({ blocks: 1 });
  await syncWithClock(client);
}

const initialBalanceWei = parseEther("1000000");

/** Mints the tokens, funds every actor and approves the conduit for the traded contracts. */
export async function setUpMarket(market: MarketContext, actors: Actors): Promise<void> {
  const { wallet, ...traders } = actors;
  const people = Object.values(traders);
  for (const { address } of [...people, wallet]) {
    await market.client.setBalance({ address, value: initialBalanceWei });
  }
  for (const range of [punkRange, ...multiContractRanges]) {
    const share = range.count / BigInt(people.length);
    for (const [index, person] of people.entries()) {
      await person.mintsRange(range.contract, range.firstId + BigInt(index) * share, share);
    }
  }
  await actors.grace.mintsConsecutive(consecutiveRange.contract, consecutiveRange.count);
  for (const person of people) {
    await person.mintsEditions({
      contract: contracts.editions,
      tokenIds: editionIds,
      units: editionUnits,
    });
    await approveAll(person);
  }
  await wallet.approves(contracts.punks);
}

async function approveAll(person: Actor): Promise<void> {
  const traded: Address[] = [
    contracts.punks,
    contracts.editions,
    contracts.familyOne,
    contracts.familyTwo,
    contracts.consecutive,
  ];
  for (const contract of traded) await person.approves(contract);
}
