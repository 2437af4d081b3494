import type { Command } from "commander";
import { readIndexers } from "#api/run/indexer/indexers.ts";
import { recoverChain } from "#api/run/indexer/recover.ts";
import { createLogger } from "#api/run/output/logger.ts";
import { withDatabase } from "../cli/open-database.ts";
import { print } from "../cli/output.ts";
import { chosenChain } from "./chosen-chain.ts";

export function addRecover(program: Command): void {
  program
    .command("recover")
    .description("recover from a reorg below the indexer's finalized block")
    .requiredOption("--chain <id>", "chain id")
    .option("--json", "print JSON")
    .exitOverride()
    .action(recover);
}

type Options = { chain: string; json?: boolean };

async function recover({ chain: chainId, json }: Options): Promise<void> {
  await withDatabase("recover", async ({ db, config, url }) => {
    const chain = chosenChain(config, chainId);
    const sink = (line: string) => void process.stderr.write(`${line}\n`);
    const recovery = await recoverChain({
      chain,
      indexers: await readIndexers(db, chain, config.curated, { removed: true }),
      databaseUrl: url,
      db,
      logger: createLogger("op", config.log.level, sink),
      signal: new AbortController().signal,
    });
    print(json, { chainId: chain.chainId, recovery }, [
      recovery === null
        ? `chain ${chainId}: all stored blocks are on the chain; nothing was changed`
        : `chain ${chainId}: branch abandoned from block ${recovery.fork} on, ${recovery.retracted} blocks retracted; ` +
          `now indexed into ${recovery.schemas.join(" and ")}`,
    ]);
  });
}
