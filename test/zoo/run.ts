import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { connect } from "../../devnet/client.ts";
import { largeMembers } from "../../devnet/zoo/members.ts";
import { release } from "../../devnet/zoo/release.ts";
import { coins } from "../../projections/facts/price-ticked.ts";
import { findBrokenLaws } from "../soak/laws.ts";
import { openSoakMarket, type SoakMarket } from "../soak/market.ts";
import { untilReady } from "../soak/processes.ts";
import {
  beyond,
  type Costs,
  costsBetween,
  nothing,
  readCosts,
  sumOf,
  watchMemory,
} from "./costs.ts";
import { tradeHonestly } from "./honest-trading.ts";
import { askAbout } from "./hostile-caller.ts";
import { describeSamples, noSamples, quantile, type Samples } from "./samples.ts";

export type ZooOptions = {
  /** Empty; data and logs of the processes stay there. */
  directory: string;
  /** With all of them at once. */
  minutes: number;
  /** Seconds of each trick by itself, for its costs. */
  eachSeconds: number;
  names: readonly string[];
  report: (line: string) => void;
};

/** What a trick cost the attacker and us, beyond what the same time costs alone. */
export type TrickCosts = {
  readonly name: string;
  readonly times: number;
  readonly gas: number;
  readonly costs: Costs;
  /** Of honest reads: how many, and how many took longer than 99 % do alone. */
  readonly reads: number;
  readonly delayed: number;
};

export type ZooReport = {
  readonly alone: Samples;
  readonly beside: Samples;
  readonly tricks: readonly TrickCosts[];
  /** Of the time with all of them. */
  readonly mixed: { readonly gas: number; readonly costs: Costs };
  readonly memory: ReadonlyMap<string, number>;
  readonly readySeconds: number;
  readonly brokenLaws: readonly string[];
};

const firstStartSeconds = 900;
const recoverySeconds = 300;
const warmUpMs = 15_000;
const aloneMs = 20_000;
/** Between two tricks by themselves. */
const briefMs = 8_000;
const mixedMs = 60_000;
/** After a trick: what it left in queues is worked off. */
const settleMs = 8_000;
const pauseMs = 200;
const memoryMs = 1_000;

/** Runs the market of the soak with the zoo, in turn with times without it. */
export async function runZoo(options: ZooOptions): Promise<ZooReport> {
  const market = await openSoakMarket(options.directory, { hasDisk: false });
  try {
    options.report(`ready after ${await untilReady(market.baseUrl, firstStartSeconds)} s`);
    return await measure(market, options);
  } finally {
    await market.close();
  }
}

async function measure(market: SoakMarket, options: ZooOptions): Promise<ZooReport> {
  const { minutes, eachSeconds, names, report } = options;
  const ending = new AbortController();
  let phase: Samples | null = null;
  let isWriting = false;
  await untilPriceHistory(options.directory);
  const honest = tradeHonestly({
    ...{ baseUrl: market.baseUrl, rpcUrl: market.rpcUrls[33139] },
    phase: () => phase,
    isWriting: () => isWriting,
    signal: ending.signal,
  });
  const memory = watchMemory(market, () => delay(memoryMs), ending.signal);
  const [alone, beside, readAlone] = [noSamples(), noSamples(), noSamples()];

  const rest = async (samples: Samples, ms: number) => {
    phase = samples;
    const before = await readCosts(market);
    await delay(ms);
    phase = null;
    return costsBetween(before, await readCosts(market));
  };
  const attack = async (samples: Samples, attacking: readonly string[], ms: number) => {
    const before = await readCosts(market);
    phase = samples;
    const released = await releaseFor(market, attacking, AbortSignal.timeout(ms));
    phase = null;
    await untilReady(market.baseUrl, recoverySeconds);
    await delay(settleMs);
    return { ...released, costs: costsBetween(before, await readCosts(market)) };
  };

  await delay(warmUpMs);
  const measured: (Omit<TrickCosts, "delayed"> & { samples: Samples })[] = [];
  let readingCosts = await rest(readAlone, aloneMs);
  for (const name of eachSeconds > 0 ? names : []) {
    readingCosts = sumOf(readingCosts, await rest(readAlone, briefMs));
    const samples = noSamples();
    const { gas, times, costs } = await attack(samples, [name], eachSeconds * 1_000);
    beside.faults.push(...samples.faults);
    measured.push({ name, times, gas, costs, reads: samples.reads.length, samples });
    const { bytes, cpuSeconds, rpcCalls } = beyond(costs, readingCosts);
    report(
      `${name}: ${times} times, ${gas} gas, ${Math.round(bytes)} bytes, ${cpuSeconds.toFixed(1)} CPU s, ` +
        `${Math.round(rpcCalls)} calls; ${describeSamples(samples)}`,
    );
  }
  alone.faults.push(...readAlone.faults);
  isWriting = true;
  await delay(warmUpMs);
  let aloneCosts = nothing;
  let mixed = { gas: 0, costs: nothing };
  for (let done = 0; done < minutes * 60_000; done += mixedMs) {
    aloneCosts = sumOf(aloneCosts, await rest(alone, aloneMs));
    // What is large comes once in a run.
    const attacking = names.filter((name) => done === 0 || !largeMembers.has(name));
    const { gas, costs } = await attack(beside, attacking, mixedMs);
    mixed = { gas: mixed.gas + gas, costs: sumOf(mixed.costs, costs) };
    report(`alone: ${describeSamples(alone)}`);
    report(`with the zoo: ${describeSamples(beside)}`);
  }
  ending.abort();
  await honest;
  const readySeconds = await untilReady(market.baseUrl, recoverySeconds);
  const late = quantile(readAlone.reads, 0.99);
  return {
    ...{ alone, beside, readySeconds },
    tricks: measured.map(({ samples, ...trick }) => ({
      ...trick,
      costs: beyond(trick.costs, readingCosts),
      delayed: samples.reads.filter((ms) => ms > late).length,
    })),
    mixed: { ...mixed, costs: beyond(mixed.costs, aloneCosts) },
    memory: await memory,
    brokenLaws: await findBrokenLaws(market, report),
  };
}

/** A new installation fetches a year of prices, which is no part of any figure. */
async function untilPriceHistory(directory: string): Promise<void> {
  const log = join(directory, "service.log");
  for (const deadline = Date.now() + firstStartSeconds * 1_000; Date.now() < deadline; ) {
    const recorded = (await readFile(log, "utf8")).split("price history recorded").length - 1;
    if (recorded >= coins.length) return;
    await delay(memoryMs);
  }
}

/** Sets them free again and again, and asks the service about each. */
async function releaseFor(
  { baseUrl, rpcUrls }: SoakMarket,
  names: readonly string[],
  signal: AbortSignal,
): Promise<{ gas: number; times: number }> {
  const client = connect({ chainId: 33139, rpcUrl: rpcUrls[33139] });
  const spent = { gas: 0, times: 0 };
  // The round is part of a contract's address: a run must not meet the contracts of the run before it.
  for (let round = Date.now(), first = true; first || !signal.aborted; round += 1, first = false) {
    const releases = names
      .filter((name) => first || !largeMembers.has(name))
      .map(async (name) => {
        // The node may have no block for it in time.
        const released = await release(client, name, round).catch(() => null);
        if (released === null) return;
        spent.gas += Number(released.gas);
        spent.times += 1;
        await askAbout(baseUrl, released.address);
      });
    await Promise.all(releases);
    await delay(pauseMs, undefined, { signal }).catch(() => {});
  }
  return spent;
}
