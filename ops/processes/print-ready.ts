import { chainNames, defaultChain } from "#chains/index.ts";
import { type Config, listeningUrl } from "../config/config.ts";
import { maskUrl } from "../config/setting.ts";
import type { LocalChains } from "./local-chains.ts";
import type { SupervisorContext } from "./supervisor-context.ts";

type Ready = Pick<Config, "http" | "console" | "chains" | "database" | "dataDir" | "devnet">;

/** A line of the first screen: what it is, and its address or an explanation. */
type Row = [label: string, text: string];
/** A command to try, and what it shows. */
type Command = { shows: string; command: string };

/** Prints the line that scripts wait for; then what runs, where to look and what to try: as text, or as a log line. */
export function printReady(
  { config, roles, logger }: Pick<SupervisorContext, "config" | "roles" | "logger">,
  local: LocalChains | undefined,
  print: (text: string) => void = (text) => void process.stdout.write(text),
): void {
  if (!roles.includes("api")) {
    print(`ready ${roles.join(", ")}\n`);
    return;
  }
  print(`ready ${config.http.baseUrl}\n`);
  if (config.log.format === "pretty") {
    print(renderScreen(config, local));
    return;
  }
  const fields = {
    baseUrl: config.http.baseUrl,
    runs: Object.fromEntries(parts(config, local)),
    pages: Object.fromEntries(pages(config)),
    commands: commands(config).map(({ command }) => command),
  };
  logger.info(fields, "service ready");
}

function renderScreen(config: Ready, local: LocalChains | undefined): string {
  const rows = (all: Row[]) => all.map(([label, text]) => `    ${label.padEnd(24)}${text}`);
  const lines = [
    "",
    "  What runs",
    ...rows(parts(config, local)),
    "",
    "  Where to look",
    ...rows(pagesOfApi(config)),
    "",
    "  What to try, in another terminal",
    ...commands(config).flatMap(({ shows, command }) => [`    # ${shows}`, `    ${command}`]),
    "    # how far everything is",
    "    npm run op -- status",
    "",
    "  Ctrl-C stops everything. The next start continues where this one stopped.",
    "",
    `  The market, in a browser: ${marketUrl(config)}`,
    "",
  ];
  return `${lines.join("\n")}\n`;
}

function parts({ http, chains, database, dataDir, devnet }: Ready, local?: LocalChains): Row[] {
  const chainRows = chains.map(({ chainId, rpcUrls }): Row => {
    const localUrl = local?.chains[chainId].rpcUrl;
    const [rpcUrl = ""] = rpcUrls;
    const where = localUrl === undefined ? maskUrl(rpcUrl) : `a local chain, ${localUrl}`;
    return [`${chainNames[chainId]} (${chainId})`, where];
  });
  const isTrading = local !== undefined && devnet.market;
  const market: Row = ["market", "simulated people list, bid and trade on the local chains"];
  const embedded = `embedded PostgreSQL in ${dataDir}; delete it to start anew`;
  return [
    ["API", http.baseUrl],
    ...chainRows,
    ["database", database.url === null ? embedded : maskUrl(database.url)],
    ...(isTrading ? [market] : []),
  ];
}

/** The page of the last chain, whose collections are all indexed by default. */
function marketUrl({ http: { baseUrl, siteUrl }, chains }: Ready): string {
  return baseUrl === siteUrl
    ? `${baseUrl}/?chainId=${chains.at(-1)?.chainId ?? defaultChain.id}`
    : siteUrl;
}

const pages = (ready: Ready): Row[] => [["market", marketUrl(ready)], ...pagesOfApi(ready)];

const pagesOfApi = ({ http: { baseUrl, metricsPort }, console }: Ready): Row[] => [
  ["API reference", `${baseUrl}/docs`],
  ["API keys", `${baseUrl}/developers`],
  ["status", `${baseUrl}/v1/status`],
  ["readiness", `${baseUrl}/readyz`],
  [
    "metrics",
    metricsPort === null
      ? `${baseUrl}/metrics`
      : `http://127.0.0.1:${console.port ?? metricsPort}/metrics`,
  ],
  ...(console.port === null
    ? []
    : [["operator's console", listeningUrl({ ...console, port: console.port })] satisfies Row]),
];

/** Lists that every chain answers; the last chain is the one whose collections are all indexed by default. */
function commands({ http: { baseUrl }, chains }: Ready): Command[] {
  const { chainId = defaultChain.id } = chains.at(-1) ?? {};
  const list = (shows: string, path: string, query = ""): Command => ({
    shows,
    command: `curl '${baseUrl}/v1/${path}?chainId=${chainId}${query}'`,
  });
  return [
    list("collections by volume, with floor and holders", "collections", "&per_page=3"),
    list("the cheapest listings", "listings", "&sort=price_asc&per_page=3"),
    list("the highest bids", "bids", "&sort=price_desc&per_page=3"),
    list("the newest sales, with their value in USD", "sales", "&per_page=3"),
    list("what a maker signs to list a token", "orders/params"),
  ];
}
