import type { Command } from "commander";
import { indexedSources } from "../../indexer/indexed-sources.ts";
import { recoverChain } from "../../indexer/recover.ts";
import { createLogger } from "../../output/logger.ts";
import { withDatabase } from "../cli/open-database.ts";
import { print } from "../cli/output.ts";
import { chosenChain } from "./chosen-chain.ts";

export function addRecover(program: Command): void {
  program
    .command("recover")
    .description("leave a branch that was reorganised away below what the indexer holds for final")
    .requiredOption("--chain <id>", "the chain")
    .option("--json", "for machines")
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
      sources: indexedSources(chain, config.curated),
      databaseUrl: url,
      db,
      logger: createLogger("op", config.log.level, sink),
      signal: new AbortController().signal,
    });
    print(json, { chainId: chain.chainId, recovery }, [
      recovery === null
        ? `chain ${chainId}: every block stored is the chain's; nothing was changed`
        : `chain ${chainId}: left at block ${recovery.fork}, ${recovery.retracted} blocks retracted; ` +
          `it is indexed into ${recovery.schema} now`,
    ]);
  });
}
