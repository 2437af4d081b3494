import type { Command } from "commander";
import { describeExcludedFacts } from "#projections/engine/quarantine.ts";
import { findProblems } from "../reports/find-problems.ts";
import type { Finding } from "../reports/find-server-problems.ts";
import { readServiceProgress, type ServiceProgress } from "../reports/read-status.ts";
import { withDatabase } from "./open-database.ts";
import { type JsonFlag, print, tableLines } from "./output.ts";

/** `op status` */
export function addStatus(program: Command): void {
  program
    .command("status")
    .description("show how far chains, log and projections are")
    .action(async ({ json }: JsonFlag) => {
      await withDatabase("status", async ({ db, config }) => {
        const progress = await readServiceProgress(db, config);
        const { logHead, paused, chains, projections, prices, excluded } = progress;
        print(json, progress, [
          `log head ${logHead}`,
          ...paused.map((name) => `${name} is paused: op resume ${name}`),
          "",
          ...chainLines(chains),
          "",
          ...projectionLines(projections),
          "",
          ...prices.map(
            ({ coin, recorded, hours }) => `prices of ${coin}: ${recorded} of ${hours} hours`,
          ),
          ...excluded.map(
            (one) => `${one.projection} ${describeExcludedFacts(one)}: op quarantine list`,
          ),
        ]);
      });
    });
}

type Chain = ServiceProgress["chains"][number];

function chainLines(chains: readonly Chain[]): string[] {
  const columns = [
    "head",
    "indexed",
    "recorded",
    "finalized",
    "lagBlocks",
    "lagSeconds",
    "proved",
  ] as const;
  return [
    ...tableLines([
      [
        "chain",
        "head",
        "indexed",
        "recorded",
        "finalized",
        "lag blocks",
        "lag s",
        "history proved",
      ],
      ...chains.map((chain) => [
        `${chain.chainId}`,
        ...columns.map((column) => `${chain[column] ?? "unknown"}`),
      ]),
    ]),
    ...chains.flatMap(({ chainId, faults }) => faults.map((fault) => `chain ${chainId}: ${fault}`)),
  ];
}

type Row = ServiceProgress["projections"][number];

function projectionLines(rows: readonly Row[]): string[] {
  const previousText = (one: { version: number; position: number } | null) =>
    one === null ? "-" : `version ${one.version} at ${one.position}`;
  const table = tableLines([
    ["projection", "schema", "version", "position", "lag", "updated", "rebuilding", "previous"],
    ...rows.map((row) => [
      row.name,
      row.schema,
      `${row.version ?? "none"}${row.isCurrent ? "" : " (not this program's)"}`,
      `${row.position ?? "-"}`,
      `${row.lag ?? "-"}`,
      row.updatedAt ?? "-",
      row.rebuilding?.progress ?? "-",
      previousText(row.previous),
    ]),
  ]);
  const others = rows.flatMap(({ name, others }) =>
    others.map(
      ({ schema, version, position, updatedAt }) =>
        `${name} version ${version} of another release (schema ${schema}): at ${position}, updated ${updatedAt ?? "-"}`,
    ),
  );
  return [...table, ...others];
}

/** `op doctor` */
export function addDoctor(program: Command): void {
  program
    .command("doctor")
    .description("check database, nodes, tables and disk; exit 1 when a fault is found")
    .action(async ({ json }: JsonFlag) => {
      await withDatabase(
        "doctor",
        async ({ db, config }) => {
          const findings = await findProblems(db, config);
          print(
            json,
            { findings },
            findings.length === 0 ? ["no problem found"] : groupsOf(findings).map(linesOf),
          );
          if (findings.some(({ isFault }) => isFault)) process.exitCode = 1;
        },
        { mayLackMigrations: true },
      );
    });
}

/** Findings of one kind: about the same, with the same advice. */
function groupsOf(findings: readonly Finding[]): [Finding, ...Finding[]][] {
  const groups = new Map<string, [Finding, ...Finding[]]>();
  for (const one of findings) {
    const key = JSON.stringify([one.about, one.isFault, one.advice]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [one]);
    else group.push(one);
  }
  return [...groups.values()];
}

/** Of a group that many are shown; `--json` has all. */
const mostShown = 5;

function linesOf([first, ...more]: [Finding, ...Finding[]]): string {
  const { about, isFault, finding, advice } = first;
  const title = isFault ? "FAULT " : "note  ";
  if (more.length === 0) return `${title} ${about}: ${finding}\n       ${advice}`;
  const shown = [first, ...more].slice(0, mostShown).map((one) => `       - ${one.finding}`);
  const left = more.length + 1 - shown.length;
  return [
    `${title} ${about}: ${more.length + 1} of a kind`,
    ...shown,
    ...(left > 0 ? [`       and ${left} more: --json has all`] : []),
    `       ${advice}`,
  ].join("\n");
}
