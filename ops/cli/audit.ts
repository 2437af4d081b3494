import process from "node:process";
import { type Command, InvalidArgumentError } from "commander";
import type { Address } from "viem";
import type { Difference } from "#projections/log/audit.ts";
import type { Config } from "../config/config.ts";
import { type Audit, auditChain } from "../ponder/audit-chain.ts";
import { backfillChain } from "../ponder/backfill-chain.ts";
import { transferSources } from "../ponder/indexed-sources.ts";
import { readIndexers, recordedSources } from "../ponder/indexers.ts";
import { chosenChain, parseAddress, parseBlock } from "./arguments.ts";
import { type Opened, withDatabase } from "./open-database.ts";
import { openProgress, print } from "./output.ts";

type Range = { from?: number; to?: number };
type AuditFlags = { repair?: boolean; json?: boolean };

export function addAudit(program: Command): void {
  program
    .command("audit")
    .description("compare the log with the chains' own event logs, up to the last final block")
    .argument("[chain]", "chain id; default: all configured chains")
    .argument("[range]", "blocks: from..to, from.. or ..to", parseRange)
    .option("--repair", "append missing events and retract blocks that are not on the chain")
    .action(audit);
}

function parseRange(text: string): Range {
  const match = /^(\d{0,15})\.\.(\d{0,15})$/.exec(text);
  if (match === null) throw new InvalidArgumentError("expected from..to, for example 100..200");
  const [, from, to] = match;
  return {
    ...(from ? { from: Number(from) } : {}),
    ...(to ? { to: Number(to) } : {}),
  };
}

async function audit(
  chainId: string | undefined,
  range: Range | undefined,
  { repair = false, json }: AuditFlags,
): Promise<void> {
  await withDatabase("audit", async (opened) => {
    const audits: Audit[] = [];
    for (const id of chainId === undefined ? chainsOf(opened.config) : [chainId]) {
      audits.push(await auditOne(opened, id, range ?? {}, repair));
    }
    print(json, { audits }, audits.flatMap(linesOf));
    if (audits.some(({ left }) => left > 0)) process.exitCode = 1;
  });
}

const chainsOf = ({ chains }: Config): string[] => chains.map((chain) => String(chain.chainId));

async function auditOne(
  { db, config }: Opened,
  chainId: string,
  range: Range,
  repair: boolean,
): Promise<Audit> {
  const chain = chosenChain(config, chainId);
  const progress = openProgress("comparing");
  return await auditChain({
    db,
    chain,
    indexers: await readIndexers(db, chain, config.curated),
    range,
    repair,
    onProgress: ({ to, until }) =>
      progress.report({ task: `chain ${chainId}`, done: to, total: until, unit: "blocks" }),
  }).finally(progress.end);
}

function linesOf(audit: Audit): string[] {
  const { chainId, from, to, blocks, events, found, left, differences, catchingUp } = audit;
  if (to < from) return [`chain ${chainId}: no block from ${from} on is final`];
  const repaired = found > left ? `, ${left} left after the repair` : "";
  return [
    ...catchingUp.map((name) => `chain ${chainId}: ${name} is catching up and was not compared`),
    ...differences.map(
      (one) => `chain ${chainId} block ${one.number} ${one.hash}: ${describe(one)}`,
    ),
    `chain ${chainId}: blocks ${from} to ${to}, ${events} events in ${blocks} blocks compared, ` +
      `${found} differences${repaired}`,
  ];
}

const descriptions: Record<Difference["kind"], string> = {
  missing: "events missing in the log:",
  surplus: "events that are not on the chain:",
  wrong_block: "block is not on the chain but effective in the log, events",
  dropped_block: "block is on the chain but retracted in the log, events",
};

const describe = ({ kind, logIndexes }: Difference): string =>
  `${descriptions[kind]} ${logIndexes.join(", ")}`;

type BackfillFlags = {
  chain: string;
  from: number;
  to: number;
  collection?: Address;
  json?: boolean;
};

export function addBackfill(program: Command): void {
  program
    .command("backfill")
    .description("append the facts of a range of final blocks from the chain's event logs")
    .requiredOption("--chain <id>", "chain id")
    .requiredOption("--from <block>", "first block", parseBlock)
    .requiredOption("--to <block>", "last block", parseBlock)
    .option(
      "--collection <address>",
      "only transfers of this contract, indexed or not",
      parseAddress,
    )
    .action(backfill);
}

async function backfill({
  chain: chainId,
  from,
  to,
  collection,
  json,
}: BackfillFlags): Promise<void> {
  await withDatabase("backfill", async ({ db, config }) => {
    const chain = chosenChain(config, chainId);
    const indexers = await readIndexers(db, chain, config.curated);
    const progress = openProgress("appending");
    const done = await backfillChain({
      db,
      chain,
      sources: collection ? transferSources([collection], 0) : recordedSources(indexers),
      what: collection ?? "everything",
      from,
      to,
      onProgress: ({ to: reached, until }) =>
        progress.report({ task: `chain ${chainId}`, done: reached, total: until, unit: "blocks" }),
    }).finally(progress.end);
    print(json, { backfill: done }, [
      done.to < from
        ? `chain ${chainId}: no block from ${from} on is final`
        : `chain ${chainId}: blocks ${from} to ${done.to}, ${done.appended} facts appended`,
    ]);
  });
}
