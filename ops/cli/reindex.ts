import type { Command } from "commander";
import { createLogger } from "../output/logger.ts";
import { readIndexers } from "../ponder/indexers.ts";
import { recoverChain } from "../ponder/recover.ts";
import { reindexChain } from "../ponder/reindex.ts";
import { fetchChainHead } from "../reports/read-status.ts";
import { chosenChain } from "./arguments.ts";
import { withDatabase } from "./open-database.ts";
import { openProgress, print } from "./output.ts";

export function addReindex(program: Command): void {
  program
    .command("reindex")
    .description("index a chain again from Ponder's cache into new schemas, then switch to them")
    .requiredOption("--chain <id>", "chain id")
    .option("--indexer <name>", "only this indexer, as op sources names it")
    .action(reindex);
}

type ReindexFlags = { chain: string; indexer?: string; json?: boolean };

async function reindex({ chain: chainId, indexer: chosen, json }: ReindexFlags): Promise<void> {
  await withDatabase(
    "reindex",
    async ({ db, config, url }) => {
      const chain = chosenChain(config, chainId);
      const all = await readIndexers(db, chain, config.curated);
      const indexers = all.filter(({ name }) => chosen === undefined || name === chosen);
      if (indexers.length === 0) {
        const names = all.map(({ name }) => name).join(", ");
        throw new Error(`chain ${chainId} has no indexer ${chosen}; it has ${names}`);
      }
      const sink = (line: string) => void process.stderr.write(`${line}\n`);
      const ending = new AbortController();
      const end = () => ending.abort();
      process.once("SIGINT", end).once("SIGTERM", end);
      const { head } = await fetchChainHead(chain);
      const progress = openProgress("indexing");
      const reindexOne = async ({ name: indexer, recorded }: (typeof indexers)[number]) => {
        const task = `chain ${chainId} ${indexer}`;
        const schema = await reindexChain({
          chain,
          indexer,
          databaseUrl: url,
          db,
          readSources: async () => recorded,
          logger: createLogger("op", config.log.level, sink),
          signal: ending.signal,
          onProgress: (block) =>
            progress.report({ task, done: block, total: head?.number ?? null, unit: "blocks" }),
        });
        progress.done(task);
        return { indexer, schema };
      };
      const done: { indexer: string; schema: string }[] = [];
      try {
        for (const one of indexers) done.push(await reindexOne(one));
      } finally {
        progress.end();
      }
      print(json, { chainId: chain.chainId, indexers: done }, [
        ...done.map(
          ({ indexer, schema }) =>
            `chain ${chainId}: ${indexer} indexed into ${schema}, which is now recorded`,
        ),
        "op prune drops the previous schemas",
      ]);
    },
    { as: "indexer" },
  );
}

export function addRecover(program: Command): void {
  program
    .command("recover")
    .description("recover from a reorg below the indexer's finalized block")
    .requiredOption("--chain <id>", "chain id")
    .action(recover);
}

type RecoverFlags = { chain: string; json?: boolean };

async function recover({ chain: chainId, json }: RecoverFlags): Promise<void> {
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
