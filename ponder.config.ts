import { createConfig } from "ponder";
import { type EventSource, optionalSetting, setting, sources } from "./src/settings.ts";

// One process indexes one chain. The launcher (api/run/indexer/ponder-settings.ts) passes everything by the environment.
const chainId = Number(setting("INDEXER_CHAIN_ID"));
const chain = `chain_${chainId}`;
const ws = optionalSetting("INDEXER_WS_URL");
const logsBlockRange = optionalSetting("INDEXER_LOGS_BLOCK_RANGE");

export default createConfig({
  database: {
    kind: "postgres",
    connectionString: setting("DATABASE_URL"),
    poolConfig: { max: 11 },
  },
  chains: {
    [chain]: {
      id: chainId,
      rpc: setting("INDEXER_RPC_URLS").split(","),
      pollingInterval: 200,
      ...(ws === undefined ? {} : { ws }),
      ...(logsBlockRange === undefined ? {} : { ethGetLogsBlockRange: Number(logsBlockRange) }),
    },
  },
  contracts: Object.fromEntries(sources.map((source) => [source.name, contractOf(source)])),
});

function contractOf({ events, addresses, args, firstBlock }: EventSource) {
  const [event] = events;
  return {
    chain,
    abi: events,
    startBlock: firstBlock,
    ...(addresses === null ? {} : { address: addresses }),
    ...(args === undefined || event === undefined ? {} : { filter: { event: event.name, args } }),
  };
}
