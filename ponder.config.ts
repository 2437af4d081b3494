import { createConfig } from "ponder";
import { type EventSource, settings } from "./src/settings.ts";

// One process indexes one chain, through the indexer's chain reader.
const chain = `chain_${settings.chainId}`;

export default createConfig({
  database: { kind: "postgres", connectionString: settings.databaseUrl },
  chains: {
    [chain]: {
      id: settings.chainId,
      rpc: [...settings.rpcUrls],
      ...(settings.wsUrl === null ? {} : { ws: settings.wsUrl }),
      pollingInterval: 200,
      // The reader divides what a node does not answer at once.
      ethGetLogsBlockRange: 500,
    },
  },
  contracts: Object.fromEntries(
    settings.sources.map((source) => [source.name, contractOf(source)]),
  ),
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
