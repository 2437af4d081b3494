import type { Command } from "commander";
import { sql } from "kysely";
import type { Database } from "../../../../projections/database.ts";
import { isCurrent, readCheckpoints } from "../../../../projections/engine/checkpoint.ts";
import type { Projection } from "../../../../projections/engine/projection.ts";
import {
  describeExcludedFacts,
  readExcludedFacts,
} from "../../../../projections/engine/quarantine.ts";
import { readUnfinishedRebuilds } from "../../../../projections/engine/rebuild-progress.ts";
import { shadowSchemas } from "../../../../projections/engine/shadow-schema.ts";
import { readLogHead } from "../../../../projections/log/read-log-head.ts";
import { readIndexedBlocks, readRecordedHead } from "../../../../projections/log/status.ts";
import { readPaused } from "../../../../projections/log/switches.ts";
import { readPriceHistory } from "../../../../projections/reads/coin-prices/read-price-history.ts";
import type { ChainConfig } from "../../config/chain-config.ts";
import { configuredProjections, withDatabase } from "../cli/open-database.ts";
import { print, tableLines } from "../cli/output.ts";
import { fetchChainHead } from "./fetch-chain-head.ts";

/** `op status` */
export function addStatus(program: Command): void {
  program
    .command("status")
    .description("show how far chains, log and projections are")
    .option("--json", "print JSON")
    .action(async ({ json }: { json?: boolean }) => {
      await withDatabase("status", async ({ db, config }) => {
        const head = await readLogHead(db);
        const [chains, projections] = await Promise.all([
          Promise.all(config.chains.map((chain) => readChain(db, chain))),
          readProjections(db, configuredProjections(config), head),
        ]);
        const [paused, leftOut] = [await readPaused(db), await readExcludedFacts(db)];
        const prices = await readPriceHistory(db, new Date());
        print(json, { logHead: Number(head), paused, chains, projections, prices, leftOut }, [
          `log head ${head}`,
          ...paused.map((name) => `${name} is paused: op resume ${name}`),
          "",
          ...chainLines(chains),
          "",
          ...projectionLines(projections),
          "",
          ...prices.map(
            ({ coin, recorded, hours }) => `prices of ${coin}: ${recorded} of ${hours} hours`,
          ),
          ...leftOut.map(
            (one) => `${one.projection} ${describeExcludedFacts(one)}: op quarantine list`,
          ),
        ]);
      });
    });
}

async function readChain(db: Database, chain: ChainConfig) {
  const { chainId } = chain;
  const [{ head, faults }, blocks] = await Promise.all([
    fetchChainHead(chain),
    readIndexedBlocks(db, chainId),
  ]);
  const recorded = await readRecordedHead(db, chainId, blocks?.indexed.number ?? 0);
  const indexed = blocks?.indexed ?? null;
  const isKnown = head !== null && indexed !== null;
  return {
    chainId,
    head: head?.number ?? null,
    indexed: indexed?.number ?? null,
    recorded: recorded.recorded?.number ?? null,
    finalized: blocks?.finalized.number ?? null,
    lagBlocks: isKnown ? Math.max(0, head.number - indexed.number) : null,
    lagSeconds: isKnown ? Math.max(0, head.timestamp - indexed.timestamp) : null,
    faults: faults.map(({ message }) => message),
  };
}

type Chain = Awaited<ReturnType<typeof readChain>>;

function chainLines(chains: readonly Chain[]): string[] {
  const columns = ["head", "indexed", "recorded", "finalized", "lagBlocks", "lagSeconds"] as const;
  return [
    ...tableLines([
      ["chain", "head", "indexed", "recorded", "finalized", "lag blocks", "lag s"],
      ...chains.map((chain) => [
        `${chain.chainId}`,
        ...columns.map((column) => `${chain[column] ?? "unknown"}`),
      ]),
    ]),
    ...chains.flatMap(({ chainId, faults }) => faults.map((fault) => `chain ${chainId}: ${fault}`)),
  ];
}

async function readProjections(db: Database, all: readonly Projection[], head: bigint) {
  const checkpoints = await readCheckpoints(db);
  const rebuilds = await readUnfinishedRebuilds(db, all);
  const { rows } = await sql<{ schema: string; updatedAt: Date }>`
    select projection as schema, updated_at as "updatedAt" from engine.checkpoint`.execute(db);
  const updatedAt = new Map(rows.map((row) => [row.schema, row.updatedAt.toISOString()]));
  return all.map((projection) => {
    const { name } = projection;
    const { previous } = shadowSchemas(name);
    const unfinished = rebuilds.find((one) => one.name === name);
    const stored = checkpoints.get(name);
    const at = (schema: string) => {
      const one = checkpoints.get(schema);
      return one === undefined ? null : { version: one.version, position: Number(one.position) };
    };
    return {
      name,
      version: stored?.version ?? null,
      isCurrent: stored !== undefined && isCurrent(stored, projection),
      position: stored === undefined ? null : Number(stored.position),
      lag: stored === undefined ? null : Number(head - stored.position),
      updatedAt: updatedAt.get(name) ?? null,
      rebuilding:
        unfinished === undefined
          ? null
          : { ...unfinished, name: undefined, position: Number(unfinished.position) },
      previous: at(previous),
    };
  });
}

type Row = Awaited<ReturnType<typeof readProjections>>[number];

function projectionLines(rows: readonly Row[]): string[] {
  const previousText = (one: { version: number; position: number } | null) =>
    one === null ? "-" : `version ${one.version} at ${one.position}`;
  return tableLines([
    ["projection", "version", "position", "lag", "updated", "rebuilding", "previous"],
    ...rows.map((row) => [
      row.name,
      `${row.version ?? "none"}${row.isCurrent ? "" : " (not this program's)"}`,
      `${row.position ?? "-"}`,
      `${row.lag ?? "-"}`,
      row.updatedAt ?? "-",
      row.rebuilding?.progress ?? "-",
      previousText(row.previous),
    ]),
  ]);
}
