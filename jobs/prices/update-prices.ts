import type { Logger } from "pino";
import {
  type Address,
  decodeFunctionResult,
  encodeFunctionData,
  type Hex,
  parseAbi,
  size,
} from "viem";
import { type Coin, coins } from "#chains/coins.ts";
import { bucketStart } from "#projections/domain/candles.ts";
import { appendObservations } from "#projections/log/append.ts";
import type { Database } from "#projections/log/database.ts";
import {
  type PriceSource,
  type PriceTick,
  priceDecimals,
  priceTicked,
} from "#projections/prices/coin-prices.ts";
import type { ChainClient } from "../chain/client.ts";
import { callContracts, fetchReadBasis } from "../chain/contract-calls.ts";
import { RpcFailure } from "../chain/rpc.ts";
import type { Job } from "../runner/job.ts";
import { priceHistory } from "./backfill-prices.ts";
import type { PriceFeed } from "./exchanges.ts";
import { fetchTickers } from "./fetch-prices.ts";
import { agreeOnPrice } from "./price.ts";

const minuteMs = 60_000;

type PriceOptions = {
  db: Database;
  feeds: readonly PriceFeed[];
  /** Ethereum's client, if served: Chainlink is read while the exchanges disagree. */
  ethereum: ChainClient | undefined;
  logger: Logger;
  /** Overrides of the wait between two requests for history, and of its length. */
  pauseMs?: number;
  historyDays?: number;
};

type PriceTurn = PriceOptions & { signal: AbortSignal };

type PriceOrigin = "exchanges" | "chainlink" | "none";

/**
 * Appends each coin's price once a minute, and beside it the hourly prices of the last year that are missing. A minute
 * without agreement has no price.
 */
export function priceUpdates(options: PriceOptions): Job[] {
  return [priceHistory(options), minutePrices(options)];
}

function minutePrices(options: PriceOptions): Job {
  const { logger } = options;
  const origins = new Map<Coin, PriceOrigin>();
  return {
    name: "coin prices",
    async run(signal) {
      const minute = bucketStart(Date.now(), minuteMs);
      await tickPrices({ ...options, signal }, minute, (coin, origin, failures) => {
        if (signal.aborted) return;
        const before = origins.get(coin);
        origins.set(coin, origin);
        if (before !== origin) logOrigin(logger, coin, origin, before, failures);
      });
      // One millisecond after the minute: timers may fire early.
      return Math.max(minute + minuteMs - Date.now() + 1, 0);
    },
  };
}

type OnOrigin = (coin: Coin, origin: PriceOrigin, failures: readonly string[]) => void;

/** Fetches every coin's price once and appends it as the price of a minute. */
export async function tickPrices(
  options: PriceTurn,
  minute: number,
  onOrigin: OnOrigin,
): Promise<void> {
  const ticks = await Promise.all(coins.map((coin) => fetchPrice(options, coin, minute, onOrigin)));
  const found = ticks.filter((tick) => tick !== null);
  if (found.length > 0) await appendObservations(options.db, found.map(priceTicked));
}

async function fetchPrice(
  options: PriceTurn,
  coin: Coin,
  minute: number,
  onOrigin: OnOrigin,
): Promise<PriceTick | null> {
  const { found, failures } = await fetchTickers(options.feeds, coin, options.signal);
  const agreed = agreeOnPrice(found);
  if (agreed !== null) {
    onOrigin(coin, "exchanges", failures);
    return { coin, minuteMs: minute, ...agreed };
  }
  // Exchanges that a stop has cut off do not disagree.
  if (options.signal.aborted) return null;
  const fallback = await fetchFromChainlink(options, coin, failures);
  onOrigin(coin, fallback === null ? "none" : "chainlink", failures);
  return fallback && { coin, minuteMs: minute, priceE8: fallback.priceE8, sources: [fallback] };
}

async function fetchFromChainlink({ ethereum }: PriceOptions, coin: Coin, failures: string[]) {
  if (ethereum === undefined) return null;
  try {
    return await fetchChainlinkPrice(ethereum, coin, new Date());
  } catch (error) {
    if (!(error instanceof RpcFailure)) throw error;
    failures.push(error.message);
    return null;
  }
}

/** Logs only changes. */
function logOrigin(
  logger: Logger,
  coin: Coin,
  origin: PriceOrigin,
  before: PriceOrigin | undefined,
  failures: readonly string[],
): void {
  if (origin === "exchanges") {
    if (before !== undefined) logger.info({ coin }, "exchanges agree on price again");
    return;
  }
  logger.warn({ coin, fallback: origin, failures }, "exchanges disagree on price");
}

const abi = parseAbi([
  "function decimals() view returns (uint8)",
  "function latestRoundData() view returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound)",
]);

const decimals = encodeFunctionData({ abi, functionName: "decimals" });
const latestRound = encodeFunctionData({ abi, functionName: "latestRoundData" });

/** Chainlink aggregators on Ethereum. Each updates at least every `heartbeatSeconds`. */
export const aggregators: Record<Coin, { address: Address; heartbeatSeconds: number }> = {
  ethereum: { address: "0x5f4ec3df9cbd43714fe2740f5e3616155c5b8419", heartbeatSeconds: 3_600 },
  apecoin: { address: "0xd10abbc76679a20055e167bb80a24ac851b37056", heartbeatSeconds: 86_400 },
};

/** Tolerated delay after the heartbeat. */
const graceSeconds = 600;

/**
 * A coin's price from its aggregator; null without a valid price that is recent at `now`. Throws `RpcFailure`.
 */
async function fetchChainlinkPrice(
  client: ChainClient,
  coin: Coin,
  now: Date,
): Promise<PriceSource | null> {
  const { address: to, heartbeatSeconds } = aggregators[coin];
  const basis = await fetchReadBasis(client);
  const calls = [decimals, latestRound].map((data) => ({ to, data }));
  const [scale, round] = await callContracts(client, basis, calls);
  if (wordOf(scale) !== BigInt(priceDecimals) || !isWords(round, 5)) return null;
  const [roundId, answer, , updatedAt, answeredInRound] = decodeFunctionResult({
    abi,
    functionName: "latestRoundData",
    data: round,
  });
  const ageSeconds = now.getTime() / 1000 - Number(updatedAt);
  if (answer <= 0n || answeredInRound < roundId) return null;
  if (ageSeconds > heartbeatSeconds + graceSeconds) return null;
  return { name: "chainlink", priceE8: answer };
}

const isWords = (result: Hex | null | undefined, count: number): result is Hex =>
  result !== null && result !== undefined && size(result) === count * 32;

const wordOf = (said: Hex | null | undefined): bigint | null =>
  isWords(said, 1) ? BigInt(said) : null;
