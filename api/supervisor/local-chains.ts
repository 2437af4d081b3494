import { join } from "node:path";
import { z } from "zod";
import { type ChainId, chainIds } from "../../abis/deployments.ts";
import type { Config } from "../config.ts";
import { address } from "../config/setting.ts";

type Variables = Record<string, string | undefined>;

/** What the local chains print, as one line of JSON, when they can be used. */
const ReadyLine = z.object({
  ready: z.literal(true),
  chains: z.array(
    z.object({
      chainId: z.union(chainIds.map((chainId) => z.literal(chainId))),
      rpcUrl: z.url(),
      wsUrl: z.url(),
    }),
  ),
  feeRecipient: address.optional(),
});

export type LocalChains = z.output<typeof ReadyLine>;

export function parseReadyLine(line: string): LocalChains | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    return ReadyLine.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}

export const localChainsDirectory = (config: Config): string => join(config.dataDir, "devnet");

/** The local chains, told to a role in the words that name any other chain; the operator's own words stand. */
export function environmentOfLocalChains(
  config: Config,
  given: Variables,
  local: LocalChains,
): Record<string, string> {
  const environment: Record<string, string> = {
    CURATED_FILE: given.CURATED_FILE || join(localChainsDirectory(config), "collections.json"),
  };
  const feeRecipient = config.fees.recipient ?? local.feeRecipient;
  if (feeRecipient !== undefined) environment.FEE_RECIPIENT = feeRecipient;
  for (const { chainId, rpcUrl, wsUrl } of local.chains) {
    const chain = config.chains.find((each) => each.chainId === chainId);
    environment[`RPC_URL_${chainId}`] = rpcUrl;
    environment[`WS_URL_${chainId}`] = wsUrl;
    environment[`START_BLOCK_${chainId}`] = `${chain?.startBlock ?? 0}`;
    environment[`WRAPPED_NATIVE_EVENTS_${chainId}`] = chain?.wrappedNativeEvents ?? "all";
  }
  return environment;
}

/** The environment of a process that serves one chain: the others are blank, which counts as absent. */
export function withOneChain(
  environment: Variables,
  served: ChainId,
): Variables {
  const others = chainIds.filter((chainId) => chainId !== served);
  const blanks = others.flatMap((id) => [`RPC_URL_${id}`, `WS_URL_${id}`]);
  return { ...environment, ...Object.fromEntries(blanks.map((name) => [name, ""])) };
}
