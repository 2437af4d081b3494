import { setTimeout as delay } from "node:timers/promises";
import type { ChainId } from "#chains/index.ts";
import type { DevnetClient } from "../client.ts";
import { createActors, type Scenario } from "./actors.ts";
import * as maintenance from "./maintenance-scenarios.ts";
import { type Random, seededRandom } from "./random.ts";
import { type MarketContext, sendAsMined } from "./signer.ts";
import * as trades from "./trade-scenarios.ts";

type TradingOptions = {
  chainId: ChainId;
  /** Pause between the end of a scenario and the start of the next. */
  everyMs: number;
  /** A longer pause after so many scenarios: a chain that is left running stays small. */
  calm?: { afterScenarios: number; everyMs: number };
  /** Run again and again; by default a random one of all. */
  scenario?: Scenario;
  signal: AbortSignal;
  /** Called with a scenario's error; trading continues. */
  onFailure?: (error: unknown) => void;
};

/**
 * Runs scenarios one after the other on a seeded chain until `signal` aborts. Never two at once, so that a slow
 * chain slows trading and nothing queues up.
 */
export async function runTrading(client: DevnetClient, options: TradingOptions): Promise<void> {
  const { chainId, everyMs, calm, scenario = anyScenario, signal, onFailure } = options;
  // Seeded by the head, so that a restart does not repeat earlier trades.
  const seed = await readHeadSeed(client).catch(() => 0);
  const random = seededRandom(seed ^ chainId);
  const market: MarketContext = { chainId, client, random, sending: sendAsMined(client) };
  const actors = createActors(market);
  for (let done = 1; !signal.aborted; done += 1) {
    await scenario(market, actors).catch(onFailure ?? (() => {}));
    const pauseMs = calm !== undefined && done > calm.afterScenarios ? calm.everyMs : everyMs;
    await delay(pauseMs, undefined, { signal }).catch(() => {});
  }
}

export const anyScenario: Scenario = (market, actors) =>
  pickScenario(market.random)(market, actors);

const readHeadSeed = async (client: DevnetClient) => Number(await client.getBlockNumber());

/** Every scenario once. */
export const allScenarios: readonly Scenario[] = [
  ...Object.values(trades),
  ...Object.values(maintenance),
];

/** Scenarios drawn more often. */
const commonScenarios = [
  trades.sellsToken,
  trades.sellsToken,
  trades.sellsToken,
  trades.sellsElsewhere,
  trades.sellsPartOfEdition,
  trades.sellsIntoItemOffer,
  trades.sellsIntoCollectionOffer,
  maintenance.transfersToken,
] as const;

export function pickScenario(random: Random): Scenario {
  const [first, ...rest] = commonScenarios;
  return random.pick([first, ...rest, ...allScenarios]);
}
