import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { connect } from "../client.ts";
import { type Figures, quantile, readHonestly } from "./honest-caller.ts";
import { members } from "./members.ts";
import { readMemory } from "./process-memory.ts";
import { release } from "./release.ts";
import { readRunningMarket } from "./running-market.ts";

const usage = `usage: npm run zoo -- [--data-dir .data] [--api http://127.0.0.1:4000] [--minutes 10] [NAME…]

Sets hostile contracts on a running local market (chain 33139), all of them or those named, while honest callers read.
Start the service with RATE_LIMIT_KEYLESS=0, or an honest caller has 30 reads a minute.
Names: ${Object.keys(members).join(", ")}.
`;

type Flags = { dataDir: string; api: string; minutes: number; names: string[] };

/** Undefined when the command line makes no sense. */
function readFlags(): Flags | undefined {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      "data-dir": { type: "string", default: ".data" },
      api: { type: "string", default: "http://127.0.0.1:4000" },
      minutes: { type: "string", default: "10" },
    },
  });
  const { api, "data-dir": dataDir } = values;
  const minutes = Number(values.minutes);
  const names = positionals.length > 0 ? positionals : Object.keys(members);
  if (!(minutes > 0) || names.some((name) => !(name in members))) return undefined;
  return { dataDir, api, minutes, names };
}

const print = (line: string) => process.stdout.write(`${line}\n`);

function printFigures(title: string, { ms, statuses, faults }: Figures): void {
  const answers = [...statuses].map(([status, count]) => `${count} × ${status}`).join(", ");
  const [p50, p99] = [quantile(ms, 0.5), quantile(ms, 0.99)];
  print(`${title}: ${ms.length} reads, p50 ${p50} ms, p99 ${p99} ms; ${answers || "no answers"}`);
  for (const fault of faults) print(`  fault: ${fault}`);
}

/** Between two rounds of the zoo. */
const pauseMs = 200;

/** Sets all of them free, again and again; gas by member. */
async function releaseUntil(
  rpcUrl: string,
  names: readonly string[],
  signal: AbortSignal,
): Promise<Map<string, bigint>> {
  const client = connect({ chainId: 33139, rpcUrl });
  const spent = new Map<string, bigint>();
  // The round is part of a contract's address: a run must not meet the contracts of the run before it.
  for (let round = Date.now(); !signal.aborted; round += 1) {
    // At a time: each awaits its block.
    const releases = names.map(async (name) => {
      const { gas } = await release(client, name, round);
      spent.set(name, (spent.get(name) ?? 0n) + gas);
    });
    await Promise.all(releases);
    await delay(pauseMs, undefined, { signal }).catch(() => {});
  }
  return spent;
}

/** Seconds until the service is current again; null: it was not within the time. */
async function readySeconds(api: string): Promise<number | null> {
  const begin = Date.now();
  for (let tries = 0; tries < 300; tries += 1) {
    const { ok } = await fetch(`${api}/readyz`);
    if (ok) return Math.round((Date.now() - begin) / 1_000);
    await delay(1_000);
  }
  return null;
}

/** Smaller processes are not printed. */
const printedMegabytes = 100;

async function printMemory(pid: number): Promise<void> {
  for (const [name, megabytes] of await readMemory(pid))
    if (megabytes >= printedMegabytes) print(`  ${megabytes} MB  ${name}`);
}

/** The honest market grows too: bytes per gas are at most what the zoo costs. */
function printGrowth(bytes: number, spent: ReadonlyMap<string, bigint>): void {
  for (const [name, gas] of spent) print(`  ${gas} gas  ${name}`);
  const gas = Number([...spent.values()].reduce((sum, one) => sum + one, 0n));
  print(`database: ${(bytes / 1e6).toFixed(1)} MB more, ${(bytes / gas).toFixed(3)} bytes per gas`);
}

async function run(flags: Flags): Promise<boolean> {
  const { dataDir, api, minutes, names } = flags;
  const { rpcUrl, pid, readDatabaseBytes } = await readRunningMarket(dataDir);
  const aloneMs = Math.min(minutes, 2) * 60_000;
  print(`Honest callers alone for ${aloneMs / 60_000} min.`);
  const alone = await readHonestly(api, AbortSignal.timeout(aloneMs));
  printFigures("alone", alone);
  await printMemory(pid);

  print(`With the zoo for ${minutes} min: ${names.join(", ")}.`);
  const bytesBefore = await readDatabaseBytes();
  const over = AbortSignal.timeout(minutes * 60_000);
  const [beside, spent] = await Promise.all([
    readHonestly(api, over),
    releaseUntil(rpcUrl, names, over),
  ]);
  printFigures("with the zoo", beside);
  await printMemory(pid);

  printGrowth((await readDatabaseBytes()) - bytesBefore, spent);

  const seconds = await readySeconds(api);
  print(seconds === null ? "not ready after 5 min" : `ready ${seconds} s after the end`);
  return seconds !== null && alone.faults.length + beside.faults.length === 0;
}

const flags = readFlags();
if (flags === undefined) {
  process.stderr.write(usage);
  process.exitCode = 64;
} else if (!(await run(flags))) process.exitCode = 1;
