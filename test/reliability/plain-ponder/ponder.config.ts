import { env } from "node:process";
import { createConfig } from "ponder";
import { seaportAddresses } from "#abis/deployments.ts";
import { seaportEvents } from "#abis/seaport.ts";
import { erc721Abi } from "#abis/tokens.ts";

function setting(name: string): string {
  const value = env[name];
  if (value === undefined || value === "") throw new Error(`${name} is not set`);
  return value;
}

const from = { chain: "tried", startBlock: Number(setting("RELIABILITY_START_BLOCK")) } as const;
const ws = env.RELIABILITY_WS_URL;

/** Ponder as its documentation has it: no setting beside the addresses. */
export default createConfig({
  database: { kind: "postgres", connectionString: setting("DATABASE_URL") },
  chains: {
    tried: {
      id: Number(setting("RELIABILITY_CHAIN_ID")),
      rpc: setting("RELIABILITY_RPC_URLS").split(","),
      ...(ws === undefined ? {} : { ws }),
    },
  },
  contracts: {
    Exchange: { ...from, abi: seaportEvents, address: seaportAddresses["1.6"] },
    Erc721: { ...from, abi: erc721Abi },
  },
});
