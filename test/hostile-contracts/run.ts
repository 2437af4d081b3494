import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { coins } from "#chains/coins.ts";
import { startAnvil } from "#devnet/anvil.ts";
import { largeMembers } from "#devnet/hostile-contracts/members.ts";
import { findBrokenLaws } from "../soak/laws.ts";
import { openSoakMarket } from "../soak/market.ts";
import { untilReady } from "../soak/processes.ts";
import { openAttacker } from "./attacker.ts";
import { beyond, type Costs, nothing, sumOf, watchMemory } from "./costs.ts";
import { tradeHonestly } from "./honest-trading.ts";
import { openPhases, type Phases, recoverySeconds, type Stage } from "./phases.ts";
import { describeSamples, noSamples, quantile, type Samples } from "./samples.ts";

export type HostileOptions = {
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

export type HostileReport = {
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
const warmUpMs = 15_000;
const aloneMs = 20_000;
/** Between two tricks by themselves. */
const briefMs = 8_000;
const mixedMs = 60_000;
const memoryMs = 1_000;

/** Runs the market of the soak with hostile contracts, in turn with times without it. */
export async function runHostileContracts(options: HostileOptions): Promise<HostileReport> {
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

async function measure(stage: Stage, options: HostileOptions): Promise<HostileReport> {
  const { market } = stage;
  const ending = new AbortController();
  const phases = openPhases(stage);
  await untilPriceHistory(options.directory);
  const honest = tradeHonestly({
    ...{ baseUrl: market.baseUrl, rpcUrl: market.rpcUrls[33139] },
    ...{ phase: phases.current, isWriting: phases.isWriting, signal: ending.signal },
  });
  const memory = watchMemory(market, () => delay(memoryMs), ending.signal);
  await delay(warmUpMs);
  const each = await measureEach(phases, options);
  phases.beginWriting();
  await delay(warmUpMs);
  const together = await measureTogether(phases, options);
  ending.abort();
  await honest;
  const readySeconds = await untilReady(market.baseUrl, recoverySeconds);
  const { alone, beside } = together;
  return {
    ...together,
    alone: { ...alone, faults: [...each.readAlone.faults, ...alone.faults] },
    beside: { ...beside, faults: [...each.faults, ...beside.faults] },
    ...{ readySeconds, tricks: each.tricks, memory: await memory },
    brokenLaws: await findBrokenLaws(market, options.report),
  };
}

type Each = { tricks: readonly TrickCosts[]; readAlone: Samples; faults: Samples["faults"] };

/** Each trick by itself, between times of reading alone. */
async function measureEach(phases: Phases, options: HostileOptions): Promise<Each> {
  const { eachSeconds, names, report } = options;
  const readAlone = noSamples();
  const measured: (Omit<TrickCosts, "delayed"> & { samples: Samples })[] = [];
  let readingCosts = await phases.rest(readAlone, aloneMs);
  for (const name of eachSeconds > 0 ? names : []) {
    readingCosts = sumOf(readingCosts, await phases.rest(readAlone, briefMs));
    const samples = noSamples();
    const spent = await phases.attack(samples, [name], eachSeconds * 1_000);
    measured.push({ name, ...spent, reads: samples.reads.length, samples });
    const { bytes, cpuSeconds, rpcCalls } = beyond(spent.costs, readingCosts);
    report(
      `${name}: ${spent.times} times, ${spent.gas} gas, ${Math.round(bytes)} bytes, ${cpuSeconds.toFixed(1)} CPU s, ` +
        `${Math.round(rpcCalls)} calls; ${describeSamples(samples)}`,
    );
  }
  const late = quantile(readAlone.reads, 0.99);
  const tricks = measured.map(({ samples, ...trick }) => ({
    ...trick,
    costs: beyond(trick.costs, readingCosts),
    delayed: samples.reads.filter((ms) => ms > late).length,
  }));
  return { tricks, readAlone, faults: measured.flatMap(({ samples }) => samples.faults) };
}

/** Alone, then all tricks on a chain that nobody follows, then on ours: in turns until the time is over. */
async function measureTogether(
  phases: Phases,
  { minutes, names, report }: HostileOptions,
): Promise<Pick<HostileReport, "alone" | "unfollowed" | "beside" | "mixed">> {
  const [alone, unfollowed, beside] = [noSamples(), noSamples(), noSamples()];
  let aloneCosts = nothing;
  let mixed = { gas: 0, costs: nothing };
  for (let done = 0; done < minutes * 60_000; done += mixedMs) {
    aloneCosts = sumOf(aloneCosts, await phases.rest(alone, aloneMs));
    // What is large comes once in a run.
    const attacking = names.filter((name) => done === 0 || !largeMembers.has(name));
    await phases.attackElsewhere(unfollowed, attacking);
    const { gas, costs } = await phases.attack(beside, attacking, mixedMs);
    mixed = { gas: mixed.gas + gas, costs: sumOf(mixed.costs, costs) };
    report(`alone: ${describeSamples(alone)}`);
    report(`with hostile contracts on a chain of their own: ${describeSamples(unfollowed)}`);
    report(`with hostile contracts: ${describeSamples(beside)}`);
  }
  return { alone, unfollowed, beside, mixed: { ...mixed, costs: beyond(mixed.costs, aloneCosts) } };
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
