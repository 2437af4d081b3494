import type { Command } from "commander";
import { indexedSources } from "../../indexer/indexed-sources.ts";
import { reindexChain } from "../../indexer/reindex.ts";
import { createLogger } from "../../output/logger.ts";
import { withDatabase } from "../cli/open-database.ts";
import { print } from "../cli/output.ts";
import { chosenChain } from "./chosen-chain.ts";

export function addReindex(program: Command): void {
  program
    .command("reindex")
    .description("index a chain again from Ponder's cache into a new schema, then switch to it")
    .requiredOption("--chain <id>", "chain id")
    .option("--json", "print JSON")
    .exitOverride()
    .action(reindex);
}

async function reindex({ chain: chainId, json }: { chain: string; json?: boolean }): Promise<void> {
  await withDatabase(
    "reindex",
    async ({ db, config, url }) => {
      const chain = chosenChain(config, chainId);
      const sink = (line: string) => void process.stderr.write(`${line}\n`);
      const ending = new AbortController();
      const end = () => ending.abort();
      process.once("SIGINT", end).once("SIGTERM", end);
      const schema = await reindexChain({
        chain,
        sources: indexedSources(chain, config.curated),
        databaseUrl: url,
        db,
        logger: createLogger("op", config.log.level, sink),
        signal: ending.signal,
      });
      print(json, { chainId: chain.chainId, schema }, [
        `chain ${chainId}: indexed into ${schema}, which is now recorded; op prune drops the previous schema`,
      ]);
    },
    { as: "indexer" },
  );
}
