import { type Command, InvalidArgumentError } from "commander";
import { type Address, isAddress } from "viem";
import { backfillChain } from "../../indexer/backfill-chain.ts";
import { indexedSources } from "../../indexer/indexed-sources.ts";
import { withDatabase } from "../cli/open-database.ts";
import { print } from "../cli/output.ts";
import { chosenChain } from "./chosen-chain.ts";

type Options = { chain: string; from: number; to: number; collection?: Address; json?: boolean };

export function addBackfill(program: Command): void {
  program
    .command("backfill")
    .description(
      "append the facts of a range of blocks from the chain's logs, as far as it is final",
    )
    .requiredOption("--chain <id>", "the chain")
    .requiredOption("--from <block>", "the first block", parseBlock)
    .requiredOption("--to <block>", "the last block", parseBlock)
    .option(
      "--collection <address>",
      "its transfers alone, whether it is indexed or not",
      parseAddress,
    )
    .option("--json", "for machines")
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
    const done = await backfillChain({
      db,
      chain,
      sources: indexedSources(chain, config.curated),
      from,
      to,
      collection: collection ?? null,
      onProgress({ to: reached, until, appended }) {
        if (process.stderr.isTTY)
          process.stderr.write(`\r\u001b[K${reached} of ${until}, ${appended} facts appended`);
      },
    });
    print(json, { backfill: done }, [
      done.to < from
        ? `chain ${chainId}: nothing is final from block ${from} on`
        : `chain ${chainId}: blocks ${from} to ${done.to}, ${done.appended} facts appended`,
    ]);
  });
}
