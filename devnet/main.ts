import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import type { Address } from "viem";
import { type ChainId, chainIds } from "../chains/index.ts";
import { accounts } from "./accounts.ts";
import { contracts } from "./contracts/addresses.ts";
import { type LocalTrading, runLocalChain } from "./local-chain.ts";
import { runPartners } from "./marketplaces/run-partners.ts";
import { openApiClient } from "./order-book/api-client.ts";
import { startPriceFeed } from "./price-feed.ts";

/** A row of the curated set: a collection that people browse, of one contract or of a family. */
type CuratedCollection = {
  chainId: ChainId;
  slug: string;
  name: string;
  verified: boolean;
  primary: Address;
  contracts: readonly [Address, ...Address[]];
};

type Listed = Pick<CuratedCollection, "slug" | "name" | "contracts">;

const { punks, editions, familyOne, familyTwo, guarded, burnable, consecutive } = contracts;

const collections: readonly Listed[] = [
  { slug: "local-punks", name: "Local Punks", contracts: [punks] },
  { slug: "local-editions", name: "Local Editions", contracts: [editions] },
  { slug: "local-family", name: "Local Family", contracts: [familyOne, familyTwo] },
  { slug: "local-guarded", name: "Local Guarded", contracts: [guarded] },
  { slug: "local-burnable", name: "Local Burnable", contracts: [burnable] },
  { slug: "local-consecutive", name: "Local Consecutive", contracts: [consecutive] },
];

/** The curated set of the local chains, which have the same collections at the same addresses. */
async function writeCollections(path: string): Promise<void> {
  const rows: CuratedCollection[] = chainIds.flatMap((chainId) =>
    collections.map((collection) => ({
      chainId,
      ...collection,
      verified: true,
      primary: collection.contracts[0],
    })),
  );
  await writeFile(path, `${JSON.stringify(rows, null, 2)}\n`);
}

const examplePorts = chainIds.map((chainId, index) => `${chainId}:${8_545 + index}`).join(",");
const usage = `usage: node devnet/main.ts --data-dir DIR [--market on|off] [--ports ${examplePorts}] [--price-port 8547] [--partner-ports 8548,8549] [--api http://127.0.0.1:4000] [--verbose]

Runs both local chains, and stand-ins for price exchanges and for two partner marketplaces, until SIGTERM, SIGINT or the end of standard input, whichever comes first.
With --api, people trade on the order book of the service there, as soon as it is ready. --verbose prints why a trade failed.
Prints JSON lines: {"progress":"…"} while starting, then one
{"ready":true,"chains":{…},"feeRecipient":"0x…","priceFeed":{…},"partners":{…}}.
`;

/** The nodes keep their state at the stop; past this they are ended as they are. */
const stopWithinMs = 2_500;

type Flags = {
  directory: string;
  trading: boolean;
  ports: ReadonlyMap<ChainId, number>;
  pricePort: number;
  partnerPorts: { opensea: number; magiceden: number };
  /** Base URL of the service. */
  api: string | undefined;
  verbose: boolean;
};

/** Undefined when the command line makes no sense. */
function readFlags(args: string[]): Flags | undefined {
  const { values } = parseArgs({
    args,
    options: {
      "data-dir": { type: "string" },
      market: { type: "string", default: "on" },
      ports: { type: "string", default: "" },
      "price-port": { type: "string", default: "0" },
      "partner-ports": { type: "string", default: "0,0" },
      api: { type: "string" },
      verbose: { type: "boolean", default: false },
    },
  });
  const dataDir = values["data-dir"];
  const ports = readPorts(values.ports);
  const { market, "price-port": pricePort, api, verbose } = values;
  const partnerPorts = readPartnerPorts(values["partner-ports"]);
  if (dataDir === undefined || ports === undefined || partnerPorts === undefined) return undefined;
  if (!/^(on|off)$/.test(market) || !/^\d{1,5}$/.test(pricePort)) return undefined;
  const directory = join(dataDir, "devnet");
  if (api !== undefined && !URL.canParse(api)) return undefined;
  const trading = market === "on";
  return { directory, trading, ports, pricePort: Number(pricePort), partnerPorts, api, verbose };
}

function readPartnerPorts(text: string): Flags["partnerPorts"] | undefined {
  const [, opensea, magiceden] = /^(\d{1,5}),(\d{1,5})$/.exec(text) ?? [];
  if (opensea === undefined) return undefined;
  return { opensea: Number(opensea), magiceden: Number(magiceden) };
}

function readPorts(text: string): ReadonlyMap<ChainId, number> | undefined {
  const ports = new Map<ChainId, number>();
  for (const pair of text.split(",").filter(Boolean)) {
    const [, id, port] = /^(\d+):(\d+)$/.exec(pair) ?? [];
    const chainId = chainIds.find((known) => `${known}` === id);
    if (chainId === undefined) return undefined;
    ports.set(chainId, Number(port));
  }
  return ports;
}

function parseFlags(args: string[]): Flags {
  try {
    const flags = readFlags(args);
    if (flags !== undefined) return flags;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  }
  process.stderr.write(usage);
  process.exit(2);
}

const printLine = (line: unknown) => process.stdout.write(`${JSON.stringify(line)}\n`);

/** The chains share the API's client: one key and its rate for both. */
function openTrading({ directory, api, verbose }: Flags): LocalTrading {
  return {
    api:
      api === undefined
        ? null
        : openApiClient({ baseUrl: api, keyFile: join(directory, "api-key") }),
    onFailure: (error) => {
      const reason = error instanceof Error ? error.message : `${error}`;
      const line = { level: 20, time: Date.now(), part: "devnet", reason, msg: "trade failed" };
      if (verbose) printLine(line);
    },
  };
}

/** Whoever started this has gone, or wants it to end. */
function toldToStop(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => resolve());
    process.stdin
      .once("close", () => resolve())
      .once("error", () => resolve())
      .resume();
    process.stdout.once("error", () => resolve());
  });
}

async function run(flags: Flags): Promise<void> {
  const { directory, trading, ports, pricePort, partnerPorts } = flags;
  const stopping = toldToStop();
  await mkdir(directory, { recursive: true });
  await writeCollections(join(directory, "collections.json"));
  const priceFeed = await startPriceFeed({ port: pricePort });
  const localTrading = trading ? openTrading(flags) : null;
  const starting = Promise.all(
    chainIds.map((chainId) =>
      runLocalChain({
        chainId,
        port: ports.get(chainId) ?? 0,
        stateFile: join(directory, `chain-${chainId}.state`),
        trading: localTrading,
        say: (progress) => printLine({ progress }),
      }),
    ),
  );
  const chains = await Promise.race([starting, stopping]);
  // Nodes of a start that was cut short end with this process.
  if (chains === undefined) return;
  const nodes = chains.map(({ chainId, rpcUrl, wsUrl, pid }) => [chainId, { rpcUrl, wsUrl, pid }]);
  const closing = new AbortController();
  const partners = await runPartners({
    chains,
    ports: partnerPorts,
    selling: trading,
    signal: closing.signal,
  });
  printLine({
    ready: true,
    chains: Object.fromEntries(nodes),
    feeRecipient: accounts.feeRecipient,
    priceFeed: { port: priceFeed.port, urls: priceFeed.urls },
    partners,
  });
  await stopping;
  closing.abort();
  await Promise.race([Promise.all(chains.map((chain) => chain.stop())), delay(stopWithinMs)]);
}

run(parseFlags(process.argv.slice(2))).then(
  () => process.exit(0),
  (error) => {
    process.stderr.write(
      `The local chains failed: ${error instanceof Error ? error.stack : error}\n`,
    );
    process.exit(1);
  },
);
