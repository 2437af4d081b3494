import process from "node:process";
import { type Command, InvalidArgumentError } from "commander";
import type { Difference } from "../../../../projections/log/audit.ts";
import type { Config } from "../../config/config.ts";
import { type Audit, auditChain } from "../../indexer/audit-chain.ts";
import { indexedSources } from "../../indexer/indexed-sources.ts";
import { type Opened, withDatabase } from "../cli/open-database.ts";
import { print } from "../cli/output.ts";
import { chosenChain } from "./chosen-chain.ts";

type Range = { from?: number; to?: number };
type Options = { repair?: boolean; json?: boolean };

export function addAudit(program: Command): void {
  program
    .command("audit")
    .description("compare the log with the chains' own logs, as far as they are final")
    .argument("[chain]", "one of the chains served; all of them when left out")
    .argument("[range]", "blocks, as from..to, from.. or ..to", parseRange)
    .option("--repair", "append what is missing, retract what is not the chain's")
    .option("--json", "for machines")
    .exitOverride()
    .action(audit);
}

function parseRange(text: string): Range {
  const match = /^(\d{0,15})\.\.(\d{0,15})$/.exec(text);
  if (match === null) throw new InvalidArgumentError("expected from..to, as 100..200");
  const [, from, to] = match;
  return {
    ...(from ? { from: Number(from) } : {}),
    ...(to ? { to: Number(to) } : {}),
  };
}

async function audit(
  chainId: string | undefined,
  range: Range | undefined,
  { repair = false, json }: Options,
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
  return await auditChain({
    db,
    chain,
    sources: indexedSources(chain, config.curated),
    range,
    repair,
    onProgress({ to, until }) {
      if (process.stderr.isTTY)
        process.stderr.write(`\r\u001b[Kchain ${chainId}: ${to} of ${until}`);
    },
  });
}

function linesOf({ chainId, from, to, blocks, events, found, left, differences }: Audit): string[] {
  if (to < from) return [`chain ${chainId}: nothing is final from block ${from} on`];
  const repaired = found > left ? `, ${left} left after the repair` : "";
  return [
    ...differences.map(
      (one) => `chain ${chainId} block ${one.number} ${one.hash}: ${wordsOf(one)}`,
    ),
    `chain ${chainId}: blocks ${from} to ${to}, ${events} events in ${blocks} blocks compared, ` +
      `${found} differences${repaired}`,
  ];
}

const words: Record<Difference["kind"], string> = {
  missing: "the log lacks events",
  surplus: "the log holds events that the chain does not",
  wrong_block: "it counts in the log and is not the chain's; events",
  dropped_block: "it is the chain's and does not count in the log; events",
};

const wordsOf = ({ kind, logIndexes }: Difference): string =>
  `${words[kind]} ${logIndexes.join(", ")}`;
