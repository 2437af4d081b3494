import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { members } from "#devnet/hostile-contracts/members.ts";
import { goalsOf, tableOf } from "./goals.ts";
import { runHostileContracts } from "./run.ts";

const usage = `usage: npm run hostile-contracts -- [--minutes 10] [--each 12] [--directory DIR] [NAME…]

Starts the whole service over local chains, and sets hostile contracts on it, all of them or those named, while honest
callers read, list and mint: each for some seconds by itself (0: not), then all of them for some minutes, in turn with
times without any. Prints what each costs, and the goals; exits with 1 when one is missed.
Names: ${Object.keys(members).join(", ")}.
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: "string", default: "10" },
    each: { type: "string", default: "12" },
    directory: { type: "string" },
  },
});
const [minutes, eachSeconds] = [Number(values.minutes), Number(values.each)];
const names = positionals.length > 0 ? positionals : Object.keys(members);
if (!(minutes >= 0 && eachSeconds >= 0) || names.some((name) => !(name in members))) {
  process.stderr.write(usage);
  process.exit(64);
}

const print = (line: string) =>
  process.stdout.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`);
const directory = values.directory ?? (await mkdtemp(join(tmpdir(), "hostile-")));
print(`logs and data: ${directory}`);
const found = await runHostileContracts({ directory, minutes, eachSeconds, names, report: print });
process.stdout.write(`\n${tableOf(found.tricks)}\n\n`);
for (const [name, megabytes] of found.memory)
  if (megabytes >= 100) print(`${megabytes} MB ${name}`);
for (const fault of [...found.alone.faults, ...found.beside.faults].slice(0, 20))
  print(`fault: ${fault}`);
for (const law of found.brokenLaws) print(`broken: ${law}`);
const goals = goalsOf(found);
for (const { text, isMet } of goals) print(`${isMet ? "met   " : "MISSED"} ${text}`);
process.exit(goals.every(({ isMet }) => isMet) ? 0 : 1);
