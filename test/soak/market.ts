import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type ChainId, chainIds } from "#chains/index.ts";
import { readConfig } from "#ops/config/read-config.ts";
import { findFreePort } from "#ops/free-port.ts";
import { type OrphanGuard, startOrphanGuard } from "#ops/processes/child.ts";
import { localChainsEnvironment } from "#ops/processes/local-chains.ts";
import { launch } from "#ops/programs.ts";
import { type Disk, mountDisk } from "./disk.ts";
import { type FaultyProxy, startFaultyProxy } from "./faulty-proxy.ts";
import { type Running, start, stop, untilChainsReady } from "./processes.ts";

/** The whole service over local chains on which people trade; between it and every host a proxy that can misbehave. */
export type SoakMarket = {
  baseUrl: string;
  dataDir: string;
  /** Of the nodes themselves. */
  rpcUrls: Record<ChainId, string>;
  nodes: Record<ChainId, FaultyProxy>;
  partners: FaultyProxy[];
  /** The service's settings. */
  environment: Record<string, string>;
  service(): Running;
  /** That holds the database; null where nothing may be mounted. */
  disk: Disk | null;
  /** Starts the service again after it was killed. */
  startService(): void;
  close(): Promise<void>;
};

type Options = {
  hasDisk: boolean;
  /** Seconds between two checks of open orders for what has no event; null: the default. */
  checkSeconds: number | null;
};

export async function openSoakMarket(
  directory: string,
  { hasDisk, checkSeconds }: Options,
): Promise<SoakMarket> {
  const orphanGuard = startOrphanGuard();
  const port = await findFreePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const [chainsDir, dataDir] = [join(directory, "chains"), join(directory, "data")];
  await Promise.all([chainsDir, dataDir].map((one) => mkdir(one, { recursive: true })));
  const chains = start({
    name: "chains",
    args: launch("devnet", "--data-dir", chainsDir, "--api", baseUrl),
    environment: {},
    directory,
    orphanGuard,
  });
  const local = await untilChainsReady(chains);
  const disk = hasDisk ? await mountDisk(dataDir) : null;
  const config = readConfig({ DATA_DIR: chainsDir });
  const given = localChainsEnvironment(config, {}, local);
  const proxied = await openProxies(given);
  const environment: Record<string, string> = {
    ...withoutSockets(given),
    ...proxied.urls,
    DATA_DIR: dataDir,
    PORT: `${port}`,
    RATE_LIMIT_KEYLESS: "0",
    ...(checkSeconds !== null && { CHECK_INTERVAL_SECONDS: `${checkSeconds}` }),
    LOG_FORMAT: "json",
  };
  const startService = () =>
    start({ name: "service", args: launch("service"), environment, directory, orphanGuard });
  let service = startService();
  const { nodes, partners } = proxied;
  return {
    ...{ baseUrl, dataDir, environment, nodes, partners, disk },
    rpcUrls: { 1: local.chains[1].rpcUrl, 33139: local.chains[33139].rpcUrl },
    service: () => service,
    startService() {
      service = startService();
    },
    async close() {
      await close({ service, chains, orphanGuard, proxies: Object.values(proxied.all) });
      await disk?.unmount();
    },
  };
}

type Closing = {
  service: Running;
  chains: Running;
  orphanGuard: OrphanGuard;
  proxies: readonly FaultyProxy[];
};

async function close({ service, chains, orphanGuard, proxies }: Closing): Promise<void> {
  await stop(service);
  await stop(chains);
  await Promise.all(proxies.map((proxy) => proxy.close()));
  orphanGuard.killAll();
}

/** New blocks come by polling: a websocket would pass the proxies by. */
function withoutSockets(given: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(given).filter(([name]) => !/^WS_URL_|_STREAM_URL$/.test(name)),
  );
}

async function openProxies(given: Record<string, string>) {
  const named = Object.entries(given).filter(([name]) =>
    /^(RPC_URL_\d+|PARTNER_\w+_URL)$/.test(name),
  );
  const hosts = named.filter(([name]) => !name.endsWith("_STREAM_URL"));
  const all: Record<string, FaultyProxy> = {};
  for (const [name, url] of hosts) all[name] = await startFaultyProxy(url);
  const node = (chainId: ChainId) => {
    const proxy = all[`RPC_URL_${chainId}`];
    if (proxy === undefined) throw new Error(`chain ${chainId} has no node`);
    return proxy;
  };
  const urls = Object.fromEntries(
    hosts.map(([name, url]) => [
      name,
      `${all[name]?.url}${new URL(url).pathname}`.replace(/\/$/, ""),
    ]),
  );
  const isNode = (name: string) => chainIds.some((chainId) => name === `RPC_URL_${chainId}`);
  const partners = Object.entries(all).flatMap(([name, proxy]) => (isNode(name) ? [] : [proxy]));
  return { all, urls, partners, nodes: { 1: node(1), 33139: node(33139) } };
}
