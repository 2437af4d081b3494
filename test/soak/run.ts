import { setTimeout as delay } from "node:timers/promises";
import { connect } from "#devnet/client.ts";
import { largeMembers, members, release } from "#devnet/hostile-contracts/members.ts";
import { seededRandom } from "#devnet/market/random.ts";
import { type Disturbance, shuffled } from "./disturbances.ts";
import { describeLatencies, type Latencies, readUntil } from "./honest-caller.ts";
import { findBrokenLaws } from "./laws.ts";
import { openSoakMarket, type SoakMarket } from "./market.ts";
import { untilReady } from "./processes.ts";

type SoakOptions = {
  /** Empty; logs of the processes stay there. */
  directory: string;
  minutes: number;
  /** Disturbances, however long they take on a busy machine. */
  atLeast: number;
  seed: number;
  /** Of the disturbances' names; by default all. */
  only?: RegExp;
  report: (line: string) => void;
};

export type SoakReport = {
  disturbances: number;
  /** The longest time until the service was ready again, in seconds. */
  slowestSeconds: number;
  alone: Latencies;
  beside: Latencies;
  /** Hostile contracts that were deployed. */
  released: number;
  brokenLaws: string[];
};

const firstStartSeconds = 900;
/** Within which the service is ready again after each disturbance; a busy machine needs more than a quiet one. */
const recoverySeconds = 300;
const noticedMs = 3_000;
const calmMs = 5_000;
const hostilePauseMs = 3_000;
/** More often than by default, so that what has no event is noticed in the short form. */
const checkSeconds = 10;

/** Runs the market with one disturbance after the other, and hostile contracts; then checks every law. */
export async function soak(options: SoakOptions): Promise<SoakReport> {
  const { directory, minutes, report } = options;
  const market = await openSoakMarket(directory, { hasDisk: true, checkSeconds });
  try {
    if (market.disk === null)
      report("no disk of its own, which takes the right to mount: it is never full");
    report(`ready after ${await untilReady(market.baseUrl, firstStartSeconds)} s`);
    const aloneMs = Math.min(60_000, minutes * 6_000);
    const alone = await readUntil(market.baseUrl, AbortSignal.timeout(aloneMs), () => false);
    report(`alone: ${describeLatencies(alone)}`);

    const ending = new AbortController();
    let down = 0;
    const beside = readUntil(market.baseUrl, ending.signal, () => down > 0);
    const hostile = releaseUntil(market, ending.signal);
    const outcome = await disturb(market, options, (change) => {
      down += change;
    }).finally(() => ending.abort());
    const [latencies, released] = await Promise.all([beside, hostile]);
    report(`disturbed: ${describeLatencies(latencies)}; ${released} hostile contracts`);
    for (const fault of latencies.faults) report(`  fault: ${fault}`);

    report(`ready ${await untilReady(market.baseUrl, recoverySeconds)} s after the end`);
    const brokenLaws = await findBrokenLaws(market, report);
    return { ...outcome, alone, beside: latencies, released, brokenLaws };
  } finally {
    await market.close();
  }
}

async function disturb(
  market: SoakMarket,
  { minutes, atLeast, seed, report, only = /^/ }: SoakOptions,
  changeDown: (change: 1 | -1) => void,
): Promise<Pick<SoakReport, "disturbances" | "slowestSeconds">> {
  const random = seededRandom(seed);
  const endsAt = Date.now() + minutes * 60_000;
  const done = { disturbances: 0, slowestSeconds: 0 };
  const runOne = async (one: Disturbance) => {
    await one.run({ market, random });
    // Readiness is read now and then: at once it would be that of before.
    await delay(noticedMs);
    return await untilReady(market.baseUrl, recoverySeconds);
  };
  for (const one of shuffled(random, { hasDisk: market.disk !== null, only })) {
    if (Date.now() > endsAt && done.disturbances >= atLeast) return done;
    if (one.takesDown) changeDown(1);
    const seconds = await runOne(one);
    await delay(calmMs);
    if (one.takesDown) changeDown(-1);
    done.disturbances += 1;
    done.slowestSeconds = Math.max(done.slowestSeconds, seconds);
    report(`${one.name}: ready ${seconds} s after it was noticed`);
  }
  return done;
}

/** Lets one stranger after the other loose on chain 33139. */
async function releaseUntil({ rpcUrls }: SoakMarket, signal: AbortSignal): Promise<number> {
  const client = connect({ chainId: 33139, rpcUrl: rpcUrls[33139] });
  const names = Object.keys(members);
  let released = 0;
  for (let turn = 0; !signal.aborted; turn += 1) {
    const name = names[turn % names.length] ?? "";
    if (turn >= names.length && largeMembers.has(name)) continue;
    // A reorg may take its transaction away before it is mined.
    const isReleased = await release(client, name, Date.now()).then(
      () => true,
      () => false,
    );
    if (isReleased) released += 1;
    await delay(hostilePauseMs, undefined, { signal }).catch(() => {});
  }
  return released;
}
