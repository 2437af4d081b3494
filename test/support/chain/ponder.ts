import { join } from "node:path";
import { pino } from "pino";
import { readConfig } from "#ops/config/read-config.ts";
import { findFreePort } from "#ops/free-port.ts";
import { indexedSources } from "#ops/ponder/indexed-sources.ts";
import { readPonderLog } from "#ops/ponder/ponder-log.ts";
import { startPonder } from "#ops/ponder/ponder-process.ts";
import type { OrphanGuard } from "#ops/processes/child.ts";
import { ponderDirectory } from "#ops/programs.ts";
import { type PipelineChain, pipelineSettings } from "../database/pipeline.ts";

/** Ponder's command line as it is installed. */
export const installedPonder = join(ponderDirectory, "dist/esm/bin/ponder.js");

type Options = {
  chain: PipelineChain;
  databaseUrl: string;
  schema: string;
  orphanGuard: OrphanGuard;
};

/** Starts Ponder alone over a chain's node and waits until it follows new blocks. */
export async function startPonderAlone(options: Options): Promise<{ stop(): Promise<void> }> {
  const { databaseUrl, schema, orphanGuard } = options;
  const { chainId, rpcUrl, wsUrl = null } = options.chain;
  const config = readConfig(await pipelineSettings({ databaseUrl, chains: [options.chain] }));
  const chain = config.chains.find((one) => one.chainId === chainId);
  if (chain === undefined) throw new Error("the chain is not configured");
  const { sources } = indexedSources(chain, config.curated);
  // As often as the benchmarks' node may be asked.
  const rpcUrls = Array.from({ length: 16 }, () => rpcUrl);
  const settings = { databaseUrl, chainId, rpcUrls, wsUrl, sources };
  let onLive = () => {};
  const live = new Promise<"live">((resolve) => {
    onLive = () => resolve("live");
  });
  const ponder = startPonder({
    ...{ schema, settings, port: await findFreePort() },
    onLine: readPonderLog({
      ...{ chainId, indexer: schema, logger: pino({ level: "silent" }), secrets: [] },
      onLive,
    }),
  });
  orphanGuard.add(ponder.pid ?? 0, "SIGTERM");
  const end = await Promise.race([live, ponder.exited]);
  if (end !== "live") throw new Error(`Ponder exited before it followed new blocks (${end})`);
  return {
    async stop() {
      await ponder.stop();
      orphanGuard.remove(ponder.pid ?? 0);
    },
  };
}
