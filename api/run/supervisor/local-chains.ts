import { join } from "node:path";
import { z } from "zod";
import { type ChainId, chainIds } from "../../../abis/deployments.ts";
import type { Config } from "../config/config.ts";
import { address } from "../config/setting.ts";

type Variables = Record<string, string | undefined>;

const LocalChain = z.object({ rpcUrl: z.url(), wsUrl: z.url() });

const Partner = z.object({ port: z.int(), url: z.url() });

/** What the local chains print, as one line of JSON, when they can be used. */
const ReadyLine = z.object({
  ready: z.literal(true),
  chains: z.object({ 1: LocalChain, 33139: LocalChain }),
  feeRecipient: address.optional(),
  /** Stands in for the exchanges; `urls` as in PRICE_FEED_URLS. */
  priceFeed: z.object({ port: z.int(), urls: z.string() }).optional(),
  /** Stand in for the partner marketplaces. */
  partners: z
    .object({ opensea: Partner.extend({ streamUrl: z.url() }), magiceden: Partner })
    .optional(),
});

export type LocalChains = z.output<typeof ReadyLine>;

const ProgressLine = z.object({ progress: z.string() });

/** A line of the local chains: that they are ready, how far they are, or something else. */
export function parseDevnetLine(line: string): LocalChains | string | undefined {
  try {
    const content: unknown = JSON.parse(line);
    return ReadyLine.safeParse(content).data ?? ProgressLine.safeParse(content).data?.progress;
  } catch {
    return undefined;
  }
}

/** The ports in the form of the local chains' own flags: started anew they stay where they were. */
export function portFlags({ chains, priceFeed, partners }: LocalChains): string[] {
  const ports = chainIds.map((chainId) => `${chainId}:${new URL(chains[chainId].rpcUrl).port}`);
  const prices = priceFeed === undefined ? [] : ["--price-port", `${priceFeed.port}`];
  const marketplaces =
    partners === undefined
      ? []
      : ["--partner-ports", `${partners.opensea.port},${partners.magiceden.port}`];
  return ["--ports", ports.join(","), ...prices, ...marketplaces];
}

/** The local chains, told to a role in the words that name any other chain; the operator's own words stand. */
export function localChainsEnvironment(
  config: Config,
  given: Variables,
  local: LocalChains,
): Record<string, string> {
  const environment: Record<string, string> = {
    CURATED_FILE: given.CURATED_FILE || join(config.dataDir, "devnet", "collections.json"),
  };
  const feeRecipient = config.fees.recipient ?? local.feeRecipient;
  if (feeRecipient !== undefined) environment.FEE_RECIPIENT = feeRecipient;
  const priceFeedUrls = given.PRICE_FEED_URLS || local.priceFeed?.urls;
  if (priceFeedUrls !== undefined) environment.PRICE_FEED_URLS = priceFeedUrls;
  for (const [name, url] of Object.entries(partnerUrls(given, local)))
    if (url !== undefined) environment[name] = url;
  for (const { chainId, startBlock, wrappedNativeEvents } of config.chains) {
    environment[`RPC_URL_${chainId}`] = local.chains[chainId].rpcUrl;
    environment[`WS_URL_${chainId}`] = local.chains[chainId].wsUrl;
    environment[`START_BLOCK_${chainId}`] = `${startBlock ?? 0}`;
    environment[`WRAPPED_NATIVE_EVENTS_${chainId}`] = wrappedNativeEvents;
  }
  return environment;
}

/** A partner that the operator names is not listened to at the stand-in. */
function partnerUrls(given: Variables, { partners }: LocalChains) {
  const streamUrl = given.PARTNER_A_URL ? undefined : partners?.opensea.streamUrl;
  return {
    PARTNER_A_URL: given.PARTNER_A_URL || partners?.opensea.url,
    PARTNER_A_STREAM_URL: given.PARTNER_A_STREAM_URL || streamUrl,
    PARTNER_B_URL: given.PARTNER_B_URL || partners?.magiceden.url,
  };
}

/** The environment of a process that serves one chain: the others are blank, which counts as absent. */
export function withOneChain(environment: Variables, served: ChainId): Variables {
  const others = chainIds.filter((chainId) => chainId !== served);
  const blanks = others.flatMap((id) => [`RPC_URL_${id}`, `WS_URL_${id}`]);
  return { ...environment, ...Object.fromEntries(blanks.map((name) => [name, ""])) };
}
