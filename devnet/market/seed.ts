import { zeroAddress } from "viem";
import type { ChainId } from "../../abis/deployments.ts";
import { erc721Abi } from "../../abis/tokens.ts";
import type { Nft } from "../../projections/domain/seaport/listing-components.ts";
import type { DevnetClient } from "../client.ts";
import { keepUpWithClock } from "../clock.ts";
import { contracts } from "../contracts/addresses.ts";
import { gatherActors } from "./actors.ts";
import { holdOpeningDay } from "./opening-day.ts";
import type { Venue } from "./party.ts";
import { drawEpisode, everyEpisode } from "./programme.ts";
import { seededRandom } from "./random.ts";
import { sendInThePast } from "./sending.ts";

const daySeconds = 24 * 60 * 60;
export const historySeconds = 3 * daySeconds;
const blocks = 240;

type SeedOptions = { chainId: ChainId; seed: number };

/**
 * Plays three days of trading that end now, on a chain with the contracts installed and nothing else.
 * The same seed gives the same trades at the same prices.
 */
export async function seedMarket(
  client: DevnetClient,
  { chainId, seed }: SeedOptions,
): Promise<void> {
  const head = await client.getBlock();
  const random = seededRandom(seed ^ chainId);
  const sending = sendInThePast(
    client,
    spreadTimes(Number(head.timestamp), seededRandom(seed).below),
  );
  const venue: Venue = { chainId, client, random, sending };
  const actors = gatherActors(venue);
  const lastBlock = Number(head.number) + blocks;

  await holdOpeningDay(venue, actors);
  for (const episode of everyEpisode) await episode(venue, actors);
  while (Number(await client.getBlockNumber()) < lastBlock)
    await drawEpisode(random)(venue, actors);
  await actors.dave.mints(lastMinted);
  await mineNow(client);
}

/** The last thing that happens in the history: where it is, the history is whole. */
const lastMinted: Nft = { standard: "erc721", contract: contracts.guarded, tokenId: 1n };

/** Whether the chain has its whole history; one that was interrupted has to be made anew. */
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

/** Times of blocks from three days ago, or from the head when it is younger, up to now. */
function spreadTimes(head: number, below: (bound: number) => number): () => bigint {
  const now = Math.floor(Date.now() / 1000);
  let time = Math.max(head, now - historySeconds);
  const gap = Math.max(0, Math.floor((now - time) / (blocks * 1.04)));
  return () => {
    const next = Math.min(time + Math.floor(gap / 2) + below(gap + 1), now - 1);
    time = Math.max(time + 1, next);
    return BigInt(time);
  };
}

/** Ends the history at the present; the node counts its time on from here. */
async function mineNow(client: DevnetClient): Promise<void> {
  const { timestamp } = await client.getBlock();
  const now = BigInt(Math.floor(Date.now() / 1000));
  await client.setNextBlockTimestamp({ timestamp: now > timestamp ? now : timestamp + 1n });
  await client.mine({ blocks: 1 });
  await keepUpWithClock(client);
}
