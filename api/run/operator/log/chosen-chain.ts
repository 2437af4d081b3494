import type { ChainConfig } from "#api/run/config/chain-config.ts";
import type { Config } from "#api/run/config/config.ts";
import { ConfigurationError } from "#api/run/config/configuration-error.ts";

/** The chain that a command names. It must be configured and have an RPC. */
export function chosenChain({ chains }: Config, chainId: string): ChainConfig {
  const chain = chains.find((one) => String(one.chainId) === chainId);
  if (chain === undefined) {
    const served = chains.map((one) => one.chainId).join(" and ");
    throw new ConfigurationError([`--chain: expected a configured chain: ${served}`]);
  }
  if (chain.rpcUrls.length > 0) return chain;
  throw new ConfigurationError([
    `RPC_URL_${chainId}: required, unless \`npm start\` runs in the same DATA_DIR. ` +
      `Example: RPC_URL_${chainId}=https://rpc.example.com/key`,
  ]);
}
