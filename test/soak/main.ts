import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { soak } from "./run.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "60" },
    seed: { type: "string", default: "1" },
    directory: { type: "string" },
    only: { type: "string", default: "" },
  },
});

const print = (line: string) =>
  process.stdout.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`);
const directory = values.directory ?? (await mkdtemp(join(tmpdir(), "soak-")));
print(`logs and data: ${directory}`);
const { disturbances, slowestSeconds, beside, brokenLaws } = await soak({
  directory,
  minutes: Number(values.minutes),
  atLeast: 1,
  seed: Number(values.seed),
  only: new RegExp(values.only),
  report: print,
});
print(`seed ${values.seed}: ${disturbances} disturbances, ready within ${slowestSeconds} s`);
for (const one of brokenLaws) print(`broken: ${one}`);
process.exit(brokenLaws.length + beside.faults.length === 0 ? 0 : 1);
