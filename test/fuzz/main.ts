import { parseArgs } from "node:util";
import { allowedStallMs, describe, fuzz } from "./run.ts";

const usage = `usage: npm run fuzz -- [--data-dir .data] [--requests 100000] [--seed 1] [--concurrency 4]

Sends requests drawn from both documents to an API process of its own, over a running local market (npm start).
`;

const { values } = parseArgs({
  options: {
    "data-dir": { type: "string", default: ".data" },
    requests: { type: "string", default: "100000" },
    seed: { type: "string", default: "1" },
    concurrency: { type: "string", default: "4" },
  },
});
const [requests, seed, concurrency] = [values.requests, values.seed, values.concurrency].map(
  Number,
) as [number, number, number];

if (!(requests > 0 && concurrency > 0)) {
  process.stderr.write(usage);
  process.exit(64);
}
const report = (line: string) =>
  process.stdout.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`);
const found = await fuzz({ dataDir: values["data-dir"], requests, seed, concurrency, report });
report(describe(found));
for (const fault of found.faults.slice(0, 50)) report(`fault: ${fault}`);
for (const stall of found.stalls.slice(0, 50)) report(`over ${allowedStallMs} ms: ${stall}`);
process.exit(found.faults.length + found.stalls.length === 0 ? 0 : 1);
