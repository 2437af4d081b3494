import { ensChain } from "../chains/index.ts";
import type { DevnetClient } from "./client.ts";
import { installEns } from "./ens.ts";
import { installExchange } from "./exchange.ts";
import { installTokens } from "./tokens.ts";

/** Everything a market needs, at the same addresses on every chain. Does nothing where it has been done. */
export async function installContracts(client: DevnetClient): Promise<void> {
  await installExchange(client);
  await installTokens(client);
  if (client.chain.id === ensChain.id) await installEns(client);
}
