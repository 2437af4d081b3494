import { type Command, InvalidArgumentError } from "commander";
import { type Address, isAddress } from "viem";
import { backfillChain } from "#api/run/indexer/backfill-chain.ts";
import { transferSources } from "#api/run/indexer/indexed-sources.ts";
import { readIndexers, recordedSources } from "#api/run/indexer/indexers.ts";
import { withDatabase } from "../cli/open-database.ts";
import { print } from "../cli/output.ts";
import { openProgress } from "../cli/progress.ts";
import { chosenChain } from "./chosen-chain.ts";

type Options = { chain: string; from: number; to: number; collection?: Address; json?: boolean };

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
    .option("--json", "print JSON")
    .exitOverride()
    .action(backfill);
}

function parseBlock(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError("expected a block number");
  return Number(text);
}

function parseAddress(text: string): Address {
  if (!isAddress(text, { strict: false })) throw new InvalidArgumentError("expected an address");
  return text.toLowerCase() as Address;
}

async function backfill({ chain: chainId, from, to, collection, json }: Options): Promise<void> {
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
