import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { startAnvil } from "../../devnet/anvil.ts";
import { largeMembers } from "../../devnet/zoo/members.ts";
import { coins } from "../../projections/facts/price-ticked.ts";
import { findBrokenLaws } from "../soak/laws.ts";
import { openSoakMarket, type SoakMarket } from "../soak/market.ts";
import { untilReady } from "../soak/processes.ts";
import { type Attacker, openAttacker } from "./attacker.ts";
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
  /** With the same members on a chain that nobody follows: what the attacker's node costs on the same processors. */
  readonly unfollowed: Samples;
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
const unfollowedMs = 30_000;
/** After a trick: what it left in queues is worked off. */
const settleMs = 8_000;
const memoryMs = 1_000;

/** Runs the market of the soak with the zoo, in turn with times without it. */
export async function runZoo(options: ZooOptions): Promise<ZooReport> {
  const market = await openSoakMarket(options.directory, {
    hasDisk: false,
    checkSeconds: null,
  });
  const opened: { close(): Promise<void> }[] = [market];
  try {
    options.report(`ready after ${await untilReady(market.baseUrl, firstStartSeconds)} s`);
    const attacker = await openAttacker();
    opened.push(attacker);
    const unfollowed = await startAnvil({ chainId: 33139 });
    opened.push({ close: unfollowed.stop });
    return await measure({ market, attacker, unfollowedUrl: unfollowed.rpcUrl }, options);
  } finally {
    for (const one of opened.toReversed()) await one.close();
  }
}

type Stage = {
  readonly market: SoakMarket;
  readonly attacker: Attacker;
  /** Of a chain that nobody follows. */
  readonly unfollowedUrl: string;
};

async function measure(
  { market, attacker, unfollowedUrl }: Stage,
  options: ZooOptions,
): Promise<ZooReport> {
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
  const unfollowed = noSamples();

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
    const { baseUrl, rpcUrls } = market;
    const spent = await attacker.attack({ rpcUrl: rpcUrls[33139], baseUrl, names: attacking, ms });
    phase = null;
    await untilReady(market.baseUrl, recoverySeconds);
    await delay(settleMs);
    return { ...spent, costs: costsBetween(before, await readCosts(market)) };
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
    phase = unfollowed;
    await attacker.attack({
      rpcUrl: unfollowedUrl,
      baseUrl: null,
      names: attacking,
      ms: unfollowedMs,
    });
    phase = null;
    const { gas, costs } = await attack(beside, attacking, mixedMs);
    mixed = { gas: mixed.gas + gas, costs: sumOf(mixed.costs, costs) };
    report(`alone: ${describeSamples(alone)}`);
    report(`with the zoo on a chain of its own: ${describeSamples(unfollowed)}`);
    report(`with the zoo: ${describeSamples(beside)}`);
  }
  ending.abort();
  await honest;
  const readySeconds = await untilReady(market.baseUrl, recoverySeconds);
  const late = quantile(readAlone.reads, 0.99);
  return {
    ...{ alone, unfollowed, beside, readySeconds },
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
