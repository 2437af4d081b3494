import { once } from "node:events";
import { join } from "node:path";
import { z } from "zod";
import { type ChainId, chainIds } from "#chains/index.ts";
import { partnerNames, partners } from "#projections/domain/partners.ts";
import { type Config, listeningUrl } from "../config/config.ts";
import { addressSetting } from "../config/setting.ts";
import { launch } from "../programs.ts";
import { keepRunning, startChild } from "./child.ts";
import type { SupervisorContext } from "./supervisor-context.ts";

/** Runs the local chains and waits until they are ready; they keep their ports when they are restarted. */
export async function startLocalChains(context: SupervisorContext): Promise<LocalChains> {
  const { config, roles, environment, logger, orphanGuard, sink, signal, progress } = context;
  const ready = new EventTarget();
  let chains: LocalChains | undefined;
  const onLine = (line: string): boolean => {
    const message = parseDevnetLine(line);
    if (typeof message === "string") progress.show(`starting the local chains  ${message}`);
    else if (message !== undefined) {
      chains = message;
      ready.dispatchEvent(new Event("ready"));
    }
    return message !== undefined;
  };
  const start = async () =>
    startChild({
      name: "devnet",
      script: launch(
        "devnet",
        ...["--data-dir", config.dataDir],
        ...["--market", config.devnet.market ? "on" : "off"],
        ...(roles.includes("api") ? ["--api", listeningUrl(config.http)] : []),
        ...(["trace", "debug"].includes(config.log.level) ? ["--verbose"] : []),
        ...(chains === undefined ? [] : portFlags(chains)),
      ),
      environment,
      orphanGuard,
      sink,
      onLine,
    });
  logger.info("starting local chains");
  const { onConfigurationError } = context;
  const running = await keepRunning({ name: "devnet", start, logger, onConfigurationError });
  context.addStopStage().push(running);
  if (chains === undefined) await once(ready, "ready", { signal });
  if (chains === undefined) throw new Error("The local chains have no address");
  progress.clear();
  logger.info({ chainIds: Object.keys(chains.chains).map(Number) }, "local chains started");
  return chains;
}

type Variables = Record<string, string | undefined>;

const LocalChain = z.object({ rpcUrl: z.url(), wsUrl: z.url() });

const Partner = z.object({ port: z.int(), url: z.url(), streamUrl: z.url().optional() });

/** The JSON line that the local chains print when they are ready. */
const ReadyLine = z.object({
  ready: z.literal(true),
  chains: z.object(
    Object.fromEntries(chainIds.map((id) => [id, LocalChain])) as unknown as Record<
      ChainId,
      typeof LocalChain
    >,
  ),
  feeRecipient: addressSetting.optional(),
  /** The simulated exchanges; `urls` as in PRICE_FEED_URLS. */
  priceFeed: z.object({ port: z.int(), urls: z.string() }).optional(),
  /** The simulated partner marketplaces. */
  partners: z.record(z.string(), Partner).optional(),
});

export type LocalChains = z.output<typeof ReadyLine>;

const ProgressLine = z.object({ progress: z.string() });

/** Parses a line of the local chains: their addresses once they are ready, a progress text, or undefined. */
export function parseDevnetLine(line: string): LocalChains | string | undefined {
  try {
    const content: unknown = JSON.parse(line);
    return ReadyLine.safeParse(content).data ?? ProgressLine.safeParse(content).data?.progress;
  } catch {
    return undefined;
  }
}

/** Command-line flags that make restarted local chains use the same ports. */
function portFlags({ chains, priceFeed, partners }: LocalChains): string[] {
  const ports = chainIds.map((chainId) => `${chainId}:${new URL(chains[chainId].rpcUrl).port}`);
  const prices = priceFeed === undefined ? [] : ["--price-port", `${priceFeed.port}`];
  const marketplaces =
    partners === undefined
      ? []
      : [
          "--partner-ports",
          Object.values(partners)
            .map(({ port }) => port)
            .join(","),
        ];
  return ["--ports", ports.join(","), ...prices, ...marketplaces];
}

/** The local chains as settings of a role. Settings that the operator has given take precedence. */
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

/** URLs of the stand-ins. A partner whose URL the operator sets gets no stream of the stand-in. */
function partnerUrls(given: Variables, { partners: standIns }: LocalChains): Variables {
  const urls = partnerNames.flatMap((name) => {
    const prefix = partners[name].alias.toUpperCase();
    const givenUrl = given[`${prefix}_URL`];
    const standIn = standIns?.[name];
    const streamUrl = givenUrl ? undefined : standIn?.streamUrl;
    return [
      [`${prefix}_URL`, givenUrl || standIn?.url],
      [`${prefix}_STREAM_URL`, given[`${prefix}_STREAM_URL`] || streamUrl],
    ];
  });
  return Object.fromEntries(urls);
}

/** The environment of a process for one chain: the RPC URLs of the others are blank, which means absent. */
export function withOneChain(environment: Variables, served: ChainId): Variables {
  const others = chainIds.filter((chainId) => chainId !== served);
  const blanks = others.flatMap((id) => [`RPC_URL_${id}`, `WS_URL_${id}`]);
  return { ...environment, ...Object.fromEntries(blanks.map((name) => [name, ""])) };
}
