import { appendFile, mkdir, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { crashRecovery } from "./checks/crash-recovery.ts";
import { dataFidelity } from "./checks/data-fidelity.ts";
import { furtherHead } from "./checks/further-head.ts";
import { furtherHistory } from "./checks/further-history.ts";
import { headLatency } from "./checks/head-latency.ts";
import { readingReorgs } from "./checks/reading-reorgs.ts";
import { reorgs } from "./checks/reorgs.ts";
import { rpcFaults } from "./checks/rpc-faults.ts";
import { patience, runScenario, type Scenario } from "./checks/scenario.ts";
import { faultLaw } from "./fault-law.ts";
import { envio } from "./subjects/envio.ts";
import { ours } from "./subjects/ours.ts";
import { plainPonder } from "./subjects/plain-ponder.ts";
import { squid } from "./subjects/squid.ts";
import { type RunVerdict, renderTable } from "./table.ts";

const { values } = parseArgs({
  options: {
    /** Of `ours`, `ponder`, `envio` and `squid`, comma-separated. */
    subject: { type: "string", default: "ours,ponder" },
    /** Of the checks' ids, as a regular expression. */
    only: { type: "string", default: "" },
    runs: { type: "string", default: "3" },
    /** Of the random fault law; 0: it does not run. */
    seeds: { type: "string", default: "0" },
    /** Times as long as on a machine of its own. */
    patience: { type: "string", default: "1" },
    directory: { type: "string" },
  },
});

patience.seconds *= Number(values.patience);
patience.startSeconds *= Number(values.patience);

const published: readonly Scenario[] = [
  ...[...crashRecovery, ...reorgs, ...rpcFaults, ...dataFidelity, headLatency],
];
const further: readonly Scenario[] = [...furtherHistory, ...furtherHead, readingReorgs];
const pattern = new RegExp(values.only);
const idsOf = ({ group, checks }: Scenario) => checks.map((check) => `${group} / ${check}`);
const laws = Array.from({ length: Number(values.seeds) }, (_, index) => faultLaw(index + 1));
const scenarios = [...published, ...further, ...laws].filter((one) =>
  idsOf(one).some((id) => pattern.test(id)),
);
const subjects = [ours, plainPonder, envio, squid].filter(({ name }) =>
  values.subject.split(",").includes(name),
);

const print = (line: string) =>
  process.stdout.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`);
const directory = values.directory ?? (await mkdtemp(join(tmpdir(), "reliability-")));
await mkdir(directory, { recursive: true });
print(`logs and results: ${directory}`);

const verdicts: RunVerdict[] = [];
for (let run = 1; run <= Number(values.runs); run += 1) {
  for (const subject of subjects) {
    for (const scenario of scenarios) await runOne(subject, scenario, run);
  }
}
process.stdout.write(`${renderTable(verdicts)}\n`);
process.exit(verdicts.every((one) => one.isRight || one.subject !== "ours") ? 0 : 1);

async function runOne(subject: typeof ours, scenario: Scenario, run: number): Promise<void> {
  const name = `${subject.name}-${scenario.group}-${scenario.checks[0]}-${run}`;
  const startedAt = Date.now();
  const found = await runScenario(scenario, { subject, directory: join(directory, name) });
  const seconds = Math.round((Date.now() - startedAt) / 1_000);
  for (const one of found.filter(({ check }) => pattern.test(check))) {
    const verdict = { subject: subject.name, run, ...one };
    verdicts.push(verdict);
    await appendFile(join(directory, "results.jsonl"), `${JSON.stringify(verdict)}\n`);
    print(`${subject.name} ${one.check}: ${one.isRight ? "pass" : "FAIL"} (${one.seen})`);
  }
  print(`${name}: ${seconds} s`);
}
