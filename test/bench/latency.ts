import { Agent, get } from "node:http";
import { json } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import type { Hex } from "viem";
import { createActors } from "#devnet/market/actors.ts";
import { seededRandom } from "#devnet/market/random.ts";
import type { MarketContext, Sending } from "#devnet/market/signer.ts";
import { sellsToken } from "#devnet/market/trade-scenarios.ts";
import { runTrading } from "#devnet/market/trading.ts";
import type { Market } from "../support/chain/market.ts";
import { type Figure, percentileFigures } from "./figure.ts";
import { type Installation, withInstallation } from "./installation.ts";
import { watchParts } from "./latency-parts.ts";

const samples = 100;
const warmUps = 5;
const pollEveryMs = 2;
/** A random pause, so that blocks fall on any phase of the second. */
const pauseMs = { least: 300, span: 900 };
const giveUpMs = 30_000;

/** With a websocket the node announces blocks; without one Ponder polls every 200 ms. */
const percentiles = {
  websocket: [
    { percent: 50, goalMs: 45 },
    { percent: 95, goalMs: null },
    { percent: 99, goalMs: 150 },
  ],
  polling: [50, 95, 99].map((percent) => ({ percent, goalMs: null })),
};

/** From just before a block of chain 1 is mined until its sale is in the answer of `GET /v1/sales`. */
export function run(): Promise<Figure[]> {
  return withInstallation(async (installation) => {
    const stopping = new AbortController();
    const { client } = installation.apechain;
    await client.setIntervalMining({ interval: 1 });
    const others = runTrading(client, { chainId: 33139, everyMs: 1_000, signal: stopping.signal });
    try {
      const on = await measure(installation, "websocket");
      const off = await measure(installation, "polling");
      return [...on, ...off];
    } finally {
      stopping.abort();
      await others;
    }
  });
}

async function measure(
  { ethereum, apechain, whileServing }: Installation,
  heads: keyof typeof percentiles,
): Promise<Figure[]> {
  const chains = [ethereum.anvil, apechain.anvil].map(({ chainId, rpcUrl, wsUrl }) =>
    heads === "websocket" ? { chainId, rpcUrl, wsUrl } : { chainId, rpcUrl },
  );
  // A websocket announces new blocks only, so the head would not be reached without mining.
  await ethereum.client.setIntervalMining({ interval: 1 });
  return whileServing(chains, async (baseUrl, databaseUrl) => {
    const agent = new Agent({ keepAlive: true });
    const parts = await watchParts(databaseUrl);
    const durationsMs = await timeSales(ethereum, async (hash, minedAt) => {
      const arrivedAt = await soldAt(baseUrl, agent, hash);
      parts.add(minedAt, arrivedAt);
      return arrivedAt;
    });
    agent.destroy();
    await parts.stop();
    const blocks = await ethereum.client.getBlockNumber();
    const { total } = (await readSales(baseUrl, new Agent({ keepAlive: true }))).meta;
    const size = `chain 1: ${blocks} blocks, ${total} sales; chain 33139 trades meanwhile`;
    return [
      ...percentileFigures(`latency, ${heads},`, durationsMs, percentiles[heads], size),
      ...parts.figures(`latency, ${heads},`, size, samples),
    ];
  });
}

/**
 * One sale after the other, each in a block of its own: milliseconds from just before the block is mined until the time
 * (since 1970) at which it has arrived.
 */
export async function timeSales(
  { client }: Market,
  arrivedAt: (hash: Hex, minedAt: number) => Promise<number>,
): Promise<number[]> {
  await client.setIntervalMining({ interval: 0 });
  await client.setAutomine(false);
  const random = seededRandom(5);
  const durationsMs: number[] = [];
  const sending: Sending = {
    now: async () => (await client.getBlock()).timestamp,
    async send(account, call) {
      const { chain } = client;
      const hash = await client.sendTransaction({ account, chain, ...call, gas: 1_500_000n });
      const minedAt = nowMs();
      await client.mine({ blocks: 1 });
      durationsMs.push((await arrivedAt(hash, minedAt)) - minedAt);
      return client.getTransactionReceipt({ hash });
    },
  };
  const marketContext: MarketContext = { chainId: 1, client, random, sending };
  const actors = createActors(marketContext);
  for (let sale = 0; sale < warmUps + samples; sale += 1) {
    await delay(pauseMs.least + random.below(pauseMs.span));
    await sellsToken(marketContext, actors);
  }
  return durationsMs.slice(warmUps);
}

/** Since 1970, with fractions: the same clock in every process of the machine. */
export const nowMs = () => performance.timeOrigin + performance.now();

/** When the newest sale of the API's chain 1 is that of a transaction. */
export async function soldAt(baseUrl: string, agent: Agent, hash: Hex): Promise<number> {
  const deadline = performance.now() + giveUpMs;
  for (;;) {
    const { data } = await readSales(baseUrl, agent);
    if (data[0]?.txHash === hash) return nowMs();
    if (performance.now() > deadline) throw new Error(`the sale of ${hash} does not appear`);
    await delay(pollEveryMs);
  }
}

type Sales = { data: { txHash: Hex }[]; meta: { total: number } };

/** The newest sale of chain 1, on a connection that stays open. */
function readSales(baseUrl: string, agent: Agent): Promise<Sales> {
  return new Promise((resolve, reject) => {
    get(`${baseUrl}/v1/sales?chainId=1&per_page=1`, { agent }, (response) => {
      json(response).then((body) => resolve(body as Sales), reject);
    }).on("error", reject);
  });
}
