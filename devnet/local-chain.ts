import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import type { ChainId } from "../chains/index.ts";
import { type Anvil, startAnvil } from "./anvil.ts";
import { connect, type DevnetClient } from "./client.ts";
import { installContracts } from "./install.ts";
import type { Scenario } from "./market/actors.ts";
import { hasOtherExchanges, otherExchanges } from "./market/other-exchanges.ts";
import { historySeconds, isSeeded, seedMarket } from "./market/seed.ts";
import { anyScenario, runTrading } from "./market/trading.ts";
import type { ApiClient } from "./order-book/api-client.ts";
import { tradeOnOrderBook } from "./order-book/trade-on-order-book.ts";

const blockMs = 2_000;
const tradeEveryMs = 2_000;
const calm = { afterScenarios: 60, everyMs: 8_000 };
const restartAfterMs = 500;
const seed = 20_260_101;

type LocalChainOptions = {
  chainId: ChainId;
  port: number;
  stateFile: string;
  /** How trading goes on after the history; null: it does not. */
  trading: LocalTrading | null;
  say(progress: string): void;
};

/** With an API, people trade on the order book of the service once it is ready; without one, past it. */
export type LocalTrading = { api: ApiClient | null; onFailure(error: unknown): void };

/** A chain with its market, brought up again at the same port whenever its node dies. */
export type LocalChain = Pick<Anvil, "chainId" | "rpcUrl" | "wsUrl" | "pid" | "stop">;

export async function runLocalChain(options: LocalChainOptions): Promise<LocalChain> {
  const { chainId, say } = options;
  const stopping = new AbortController();
  const stopped = new Promise((resolve) => stopping.signal.addEventListener("abort", resolve));
  let anvil = await bringUp(options, stopping.signal);
  const { rpcUrl, wsUrl, pid } = anvil;
  const port = Number(new URL(rpcUrl).port);

  const keepUp = async () => {
    while (!stopping.signal.aborted) {
      await Promise.race([anvil.exited, stopped]);
      if (stopping.signal.aborted) break;
      say(`chain ${chainId}: the node ended, starting it again`);
      anvil = (await bringUpAgain({ ...options, port }, stopping.signal)) ?? anvil;
    }
    await anvil.stop();
  };
  const kept = keepUp();
  const stop = () => {
    stopping.abort();
    return kept;
  };
  return { chainId, rpcUrl, wsUrl, pid, stop };
}

/** Tries until the node is up or the chain is asked to stop. */
async function bringUpAgain(
  options: LocalChainOptions,
  stopping: AbortSignal,
): Promise<Anvil | undefined> {
  while (!stopping.aborted) {
    await delay(restartAfterMs, undefined, { signal: stopping }).catch(() => {});
    try {
      return await bringUp(options, stopping);
    } catch (error) {
      options.say(`chain ${options.chainId}: ${error instanceof Error ? error.message : error}`);
    }
  }
  return undefined;
}

async function bringUp(options: LocalChainOptions, stopping: AbortSignal): Promise<Anvil> {
  const anvil = (await startWithHistory(options)) ?? (await startAfterMakingHistory(options));
  const client = connect(anvil);
  const ended = new AbortController();
  void anvil.exited.then(() => ended.abort());
  const signal = AbortSignal.any([stopping, ended.signal]);
  await client.setAutomine(false);
  void mineBlocks(client, signal);
  if (options.trading !== null) void trade(client, options.trading, signal);
  return anvil;
}

/** In place of the node's own interval, with which it keeps the states of 1,500 blocks, a gigabyte. */
async function mineBlocks(client: DevnetClient, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await delay(blockMs, undefined, { signal }).catch(() => {});
    // A node that does not answer has ended, or is about to, and is started again.
    if (!signal.aborted) await client.mine({ blocks: 1 }).catch(() => {});
  }
}

async function trade(
  client: DevnetClient,
  { api, onFailure }: LocalTrading,
  signal: AbortSignal,
): Promise<void> {
  await api?.untilReady(signal);
  const chainId = client.chain.id as ChainId;
  const scenario = api === null ? anyScenario : tradeOnOrderBook(api);
  await runTrading(client, {
    chainId,
    everyMs: tradeEveryMs,
    calm,
    signal,
    onFailure,
    scenario: hasOtherExchanges(chainId) ? besideOtherExchanges(scenario) : scenario,
  });
}

/** One trade of eight is made on another exchange. */
function besideOtherExchanges(scenario: Scenario): Scenario {
  return (market, actors) => {
    const { random } = market;
    const chosen = random.below(8) === 0 ? random.pick(otherExchanges) : scenario;
    return chosen(market, actors);
  };
}

async function startWithHistory(options: LocalChainOptions): Promise<Anvil | undefined> {
  if (!existsSync(options.stateFile)) return undefined;
  const anvil = await startAnvil(options);
  const client = connect(anvil);
  if (await isSeeded(client)) {
    // A state kept before a contract was added lacks it.
    await installContracts(client);
    return anvil;
  }
  await anvil.stop();
  return undefined;
}

/** The history is on disk before anybody sees it: a node killed later comes back with the same blocks. */
async function startAfterMakingHistory(options: LocalChainOptions): Promise<Anvil> {
  const { chainId, stateFile, say } = options;
  // What an interrupted start left: half a history, which nobody has seen.
  await rm(stateFile, { force: true });
  const timestamp = Math.floor(Date.now() / 1000) - historySeconds;
  const maker = await startAnvil({ chainId, stateFile, timestamp });
  try {
    const client = connect(maker);
    say(`chain ${chainId}: installing the exchange and the collections`);
    await installContracts(client);
    say(`chain ${chainId}: playing three days of trading`);
    await seedMarket(client, {
      chainId,
      seed,
      more: hasOtherExchanges(chainId) ? otherExchanges : [],
    });
    say(`chain ${chainId}: ${await client.getBlockNumber()} blocks`);
  } finally {
    await maker.stop();
  }
  return startAnvil(options);
}
