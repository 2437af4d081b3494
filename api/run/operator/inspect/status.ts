import type { Command } from "commander";
import { describeExcludedFacts } from "#projections/engine/quarantine.ts";
import { readServiceProgress, type ServiceProgress } from "#api/run/inspection/read-status.ts";
import { withDatabase } from "../cli/open-database.ts";
import { print, tableLines } from "../cli/output.ts";

/** `op status` */
export function addStatus(program: Command): void {
  program
    .command("status")
    .description("show how far chains, log and projections are")
    .option("--json", "print JSON")
    .action(async ({ json }: { json?: boolean }) => {
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
