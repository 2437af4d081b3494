import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import type { ChainId } from "../abis/deployments.ts";
import { type Anvil, startAnvil } from "./anvil.ts";
import { connect, type DevnetClient } from "./client.ts";
import { installContracts } from "./install.ts";
import { historySeconds, isSeeded, seedMarket } from "./market/seed.ts";
import { keepTrading } from "./market/trading.ts";

const blockSeconds = 2;
const tradeEveryMs = 2_000;
const restartAfterMs = 500;
const seed = 20_260_101;

type LocalChainOptions = {
  chainId: ChainId;
  port: number;
  stateFile: string;
  /** Whether trading goes on after the history. */
  trading: boolean;
  say(progress: string): void;
};

/** A chain with its market, brought up again at the same port whenever its node dies. */
export type LocalChain = Pick<Anvil, "rpcUrl" | "wsUrl"> & { stop(): Promise<void> };

export async function runLocalChain(options: LocalChainOptions): Promise<LocalChain> {
  const { chainId, say } = options;
  const stopping = new AbortController();
  let anvil = await bringUp(options, stopping.signal);
  const port = Number(new URL(anvil.rpcUrl).port);

  const keepUp = async () => {
    while (!stopping.signal.aborted) {
      await anvil.exited;
      if (stopping.signal.aborted) return;
      say(`chain ${chainId}: the node ended, starting it again`);
      anvil = (await bringUpAgain({ ...options, port }, stopping.signal)) ?? anvil;
    }
  };
  const kept = keepUp();
  return {
    rpcUrl: anvil.rpcUrl,
    wsUrl: anvil.wsUrl,
    async stop() {
      stopping.abort();
      await anvil.stop();
      await kept;
    },
  };
}

/** Tries until the node is up or the chain is told to stop. */
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
  const anvil = await startSeeded(options);
  const client = connect(anvil);
  await client.setIntervalMining({ interval: blockSeconds });
  if (options.trading) {
    const ended = new AbortController();
    anvil.exited.then(() => ended.abort());
    const signal = AbortSignal.any([stopping, ended.signal]);
    void keepTrading(client, { chainId: options.chainId, everyMs: tradeEveryMs, signal });
  }
  return anvil;
}

/** A kept state without the whole history is of a start that was interrupted: nobody has seen it. */
async function startSeeded(options: LocalChainOptions): Promise<Anvil> {
  const { chainId, stateFile, say } = options;
  if (existsSync(stateFile)) {
    const kept = await startAnvil(options);
    if (await isSeeded(connect(kept))) return kept;
    await kept.stop();
    await rm(stateFile, { force: true });
  }
  const timestamp = Math.floor(Date.now() / 1000) - historySeconds;
  const anvil = await startAnvil({ ...options, timestamp });
  try {
    await makeHistory(connect(anvil), chainId, say);
    return anvil;
  } catch (error) {
    await anvil.stop();
    throw error;
  }
}

async function makeHistory(
  client: DevnetClient,
  chainId: ChainId,
  say: (progress: string) => void,
) {
  say(`chain ${chainId}: installing the exchange and the collections`);
  await installContracts(client);
  say(`chain ${chainId}: playing three days of trading`);
  await seedMarket(client, { chainId, seed });
  say(`chain ${chainId}: ${await client.getBlockNumber()} blocks`);
}
