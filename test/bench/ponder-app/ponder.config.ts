import { env } from "node:process";
import { createConfig } from "ponder";
import { seaportAddresses } from "#abis/deployments.ts";
import { seaportEvents } from "#abis/seaport.ts";
import { erc721Abi, erc1155Abi } from "#abis/tokens.ts";

function setting(name: string): string {
  const value = env[name];
  if (value === undefined || value === "") throw new Error(`${name} is not set`);
  return value;
}

const everywhere = { chain: "local", startBlock: 0 } as const;

/** Every collection and the exchange, as our own indexer sees them. The benchmark writes the environment. */
export default createConfig({
  database: { kind: "postgres", connectionString: setting("DATABASE_URL") },
  chains: {
    local: {
      id: Number(setting("BENCH_CHAIN_ID")),
      rpc: setting("BENCH_RPC_URLS").split(","),
      ethGetLogsBlockRange: Number(setting("BENCH_LOGS_BLOCK_RANGE")),
    },
  },
  contracts: {
    Exchange: { ...everywhere, abi: seaportEvents, address: seaportAddresses["1.6"] },
    Erc721: { ...everywhere, abi: erc721Abi },
    Erc1155: { ...everywhere, abi: erc1155Abi },
  },
});
