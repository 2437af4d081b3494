import { setTimeout as delay } from "node:timers/promises";
import type { ChainId } from "../../abis/deployments.ts";
import type { DevnetClient } from "../client.ts";
import { gatherActors } from "./actors.ts";
import type { Venue } from "./party.ts";
import { drawEpisode } from "./programme.ts";
import { seededRandom } from "./random.ts";
import { sendAsMined } from "./sending.ts";

type TradingOptions = {
  chainId: ChainId;
  /** Least time from one episode's end to the next one's start. */
  everyMs: number;
  signal: AbortSignal;
  /** Told of an episode that failed; trading goes on. */
  onFailure?: (error: unknown) => void;
};

/**
 * Plays one episode after the other on a seeded chain until told to stop; never two at once, so a slow
 * chain slows the market and nothing piles up.
 */
export async function keepTrading(client: DevnetClient, options: TradingOptions): Promise<void> {
  const { chainId, everyMs, signal, onFailure } = options;
  // Seeded by the head: a market that starts again does not repeat the trades it has made.
  const seed = await readHeadSeed(client).catch(() => 0);
  const random = seededRandom(seed ^ chainId);
  const venue: Venue = { chainId, client, random, sending: sendAsMined(client) };
  const actors = gatherActors(venue);
  while (!signal.aborted) {
    await drawEpisode(random)(venue, actors).catch(onFailure ?? (() => {}));
    await delay(everyMs, undefined, { signal }).catch(() => {});
  }
}

const readHeadSeed = async (client: DevnetClient) => Number(await client.getBlockNumber());
