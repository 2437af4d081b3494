import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { loadavg } from "node:os";
import { join } from "node:path";
import type { Address } from "viem";
import { type Figure, medianFigure } from "./figure.ts";
import type { Load, LoadFigures } from "./ponder-load.ts";
import { processorMs } from "./ponder-processor.ts";

const ROUNDS = 5;
const connections = 16;
const seconds = 4;
const rows = 50;

type Server = { baseUrl: string; pid: number };
type Servers = { ours: Server; ponder: Server; postmaster: number; collection: Address };

type Asked = Omit<Load, "connections" | "seconds"> & { pid: number };

/** Processor time in milliseconds, of the server and of PostgreSQL. */
type Measured = LoadFigures & { serverMs: number; databaseMs: number };

/** The same list of both, and what the answers have in common. */
type Contest = {
  name: string;
  ours: Asked;
  ponder: Asked;
  read: Record<"ours" | "ponder", (body: unknown) => Seen>;
};

type Seen = { total: number; tokenIds: string[] };

/** A hot list of 50 rows with its exact total, of our API and of Ponder's GraphQL, in turns. */
export async function compareHttp(servers: Servers): Promise<Figure[]> {
  const loader = fork(join(import.meta.dirname, "ponder-load.ts"), {
    execArgv: ["--import", "tsx"],
  });
  try {
    const figures: Figure[] = [];
    for (const contest of contestsOf(servers)) {
      const size = await agree(contest);
      const loading = { loader, postmaster: servers.postmaster };
      figures.push(...(await hold(contest, loading, size)));
    }
    return figures;
  } finally {
    loader.disconnect();
  }
}

type Loading = { loader: ChildProcess; postmaster: number };
type Side = "ours" | "ponder" | "kept" | "unchanged";

async function hold(contest: Contest, loading: Loading, size: string): Promise<Figure[]> {
  const { ours, ponder } = contest;
  const unchanged = { ...ours, headers: { "if-none-match": await etagOf(ours) } };
  const made = { ...ours, isVaried: true };
  const sides: Record<Side, Asked> = { ours: made, ponder, kept: ours, unchanged };
  const measured: Record<Side, Measured[]> = { ours: [], ponder: [], kept: [], unchanged: [] };
  for (const asked of Object.values(sides)) await put(loading, asked, 1);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const side of ["ours", "ponder", "kept", "unchanged"] as const) {
      measured[side].push(await put(loading, sides[side], seconds));
    }
  }
  const told = `${size}, ${connections} connections, load ${loadavg()[0]?.toFixed(1)}`;
  return figuresOf(contest.name, measured, told);
}

function figuresOf(name: string, measured: Record<Side, Measured[]>, told: string): Figure[] {
  const of = (side: Side, value: (one: Measured) => number) => measured[side].map(value);
  const ratios = (value: (one: Measured) => number, side: Side = "ours") => {
    const theirs = of("ponder", value);
    return of(side, value).map((own, round) => own / (theirs[round] ?? Number.NaN));
  };
  const rate = ({ requests, tookMs }: Measured) => requests / (tookMs / 1_000);
  const used = ({ requests, serverMs, databaseMs }: Measured) => (serverMs + databaseMs) / requests;
  const server = ({ requests, serverMs }: Measured) => serverMs / requests;
  const frugal = (one: Measured) => 1 / used(one);
  const ratio = { unit: "ratio" } as const;
  const goal = { unit: "ratio", atLeast: 3 } as const;
  const perSide = ([side, label]: readonly [Side, string]) => {
    const size = `${told}; ${measured[side][0]?.bytes} B an answer`;
    return [
      medianFigure(`${name}, ${label}`, of(side, rate), { unit: "requests/s" }, size),
      medianFigure(
        `${name}, ${label}, p50`,
        of(side, ({ p50Ms }) => p50Ms),
        { unit: "ms" },
        size,
      ),
      medianFigure(`${name}, ${label}, processor`, of(side, used), { unit: "ms" }, size),
      medianFigure(`${name}, ${label}, of it Node`, of(side, server), { unit: "ms" }, size),
    ];
  };
  const labels = [
    ["ours", "ours"],
    ["ponder", "GraphQL"],
    ["kept", "ours, kept"],
    ["unchanged", "ours, 304"],
  ] as const;
  return [
    medianFigure(`${name}, of Ponder's GraphQL`, ratios(rate), goal, told),
    medianFigure(`${name}, by processor time`, ratios(frugal), ratio, told),
    medianFigure(`${name}, kept, of Ponder's GraphQL`, ratios(rate, "kept"), goal, told),
    medianFigure(`${name}, kept, by processor time`, ratios(frugal, "kept"), ratio, told),
    ...labels.flatMap(perSide),
  ];
}

async function put(
  { loader, postmaster }: Loading,
  { pid, ...asked }: Asked,
  seconds: number,
): Promise<Measured> {
  const before = { server: processorMs(pid), database: processorMs(postmaster) };
  loader.send({ ...asked, connections, seconds } satisfies Load);
  const [figures] = (await once(loader, "message")) as [LoadFigures];
  const wrong = figures.statuses.filter((status) => status !== 200 && status !== 304);
  if (wrong.length > 0) throw new Error(`${asked.baseUrl}${asked.path} answered ${wrong}`);
  return {
    ...figures,
    serverMs: processorMs(pid) - before.server,
    databaseMs: processorMs(postmaster) - before.database,
  };
}

/** Throws unless both tell the same tokens in the same order, and the same total. */
async function agree({ name, ours, ponder, read }: Contest): Promise<string> {
  const own = read.ours(await (await ask(ours)).json());
  const theirs = read.ponder(await (await ask(ponder)).json());
  if (own.total !== theirs.total || own.tokenIds.join() !== theirs.tokenIds.join()) {
    throw new Error(`${name}: ${JSON.stringify(own)} is not ${JSON.stringify(theirs)}`);
  }
  return `${own.tokenIds.length} of ${own.total} rows`;
}

async function etagOf(asked: Asked): Promise<string> {
  return (await ask(asked)).headers.get("etag") ?? "";
}

async function ask({ baseUrl, path, body }: Asked): Promise<Response> {
  const headers = { "content-type": "application/json" };
  return await fetch(
    `${baseUrl}${path}`,
    body === undefined ? {} : { method: "POST", body, headers },
  );
}

function contestsOf({ ours, ponder, collection }: Servers): Contest[] {
  const rest = (path: string): Asked => ({ ...ours, path });
  const graph = (query: string): Asked => ({
    ...{ ...ponder, path: "/graphql" },
    body: JSON.stringify({ query, variables: { collection } }),
  });
  const readOurs = (body: unknown): Seen => {
    const { data, meta } = body as { data: { tokenId: string }[]; meta: { total: number } };
    return { total: meta.total, tokenIds: data.map(({ tokenId }) => tokenId) };
  };
  const readGraph = (field: string) => (body: unknown) => {
    type List = { items: { tokenId: string }[]; totalCount: number };
    const { data } = body as { data: Record<string, List> };
    const { items = [], totalCount = 0 } = data[field] ?? {};
    return { total: totalCount, tokenIds: items.map(({ tokenId }) => tokenId) };
  };
  return [
    {
      name: "ponder, sales of a collection",
      ours: rest(`/v1/sales?chainId=33139&collection=${collection}&per_page=${rows}`),
      ponder: graph(salesQuery),
      read: { ours: readOurs, ponder: readGraph("sales") },
    },
    {
      name: "ponder, tokens of a collection",
      ours: rest(`/v1/collections/${collection}/tokens?chainId=33139&per_page=${rows}`),
      ponder: graph(tokensQuery),
      read: { ours: readOurs, ponder: readGraph("tokens") },
    },
  ];
}

const salesQuery = `query ($collection: String!) {
  sales(where: { collection: $collection }, orderBy: "timestamp", orderDirection: "desc", limit: ${rows}) {
    items {
      id collection tokenId quantity price currency seller buyer side orderHash exchange fees
      blockNumber blockHash transactionHash logIndex timestamp
    }
    pageInfo { hasNextPage endCursor }
    totalCount
  }
}`;

const tokensQuery = `query ($collection: String!) {
  tokens(where: { collection: $collection }, orderBy: "tokenId", limit: ${rows}) {
    items { collection tokenId owner isBurned }
    pageInfo { hasNextPage endCursor }
    totalCount
  }
}`;
