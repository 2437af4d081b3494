import { Agent, get } from "node:http";
import { buffer } from "node:stream/consumers";
import { sql } from "kysely";
import { pino } from "pino";
import { createApp } from "#api/app.ts";
import { openPositionedReads, type PositionedReads } from "#api/http/reads/positioned-reads.ts";
import { openTarget } from "#api/http/reads/target.ts";
import { listen } from "#api/http/server.ts";
import { routes } from "#api/routes.ts";
import type { ServiceStatus } from "#api/status/service-status.ts";
import type { V1Route } from "#api/v1/context.ts";
import { projectionNames } from "#projections/all.ts";
import { type Database, openDatabase } from "#projections/log/database.ts";
import { type Figure, medianFigure, percentileFigures } from "../figure.ts";
import { openBenchMarket } from "./client.ts";
import { chainId } from "./collections.ts";
import { withMarket } from "./data.ts";
import { readSample, rotate, type Sample } from "./lists.ts";
import type { PagesOptions } from "./pages.ts";

const warmUps = 100;
const requests = 600;
/** By how much the 95th percentile of a page may exceed that of its reads. */
const goalMs = 5;
const percentiles = [{ percent: 95, goalMs: null }];
const address = "http://127.0.0.1";

process.once("message", (options) => {
  measure(options as PagesOptions).then(
    (figures) => process.send?.(figures),
    (error: unknown) => {
      process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
      process.exit(1);
    },
  );
});
process.once("disconnect", () => process.exit(0));

/** Every page over HTTP, compressed as for a browser, beside the time in which its reads were in progress. */
async function measure({ scale, directory }: PagesOptions): Promise<Figure[]> {
  return await withMarket({ scale, directory }, async (own, url) => {
    const paths = pagesOf(await readSample(own), await readSaleIds(own));
    // As many connections as pages have in the service, with their prepared statements.
    const db = openDatabase({
      ...{ url, applicationName: "bench", max: 10, prepares: true },
      onIdleError: () => {},
    });
    const reads = watchReads(routes);
    const projections = projectionNames;
    const positioned = openPositionedReads({
      primary: openTarget({ db }, projections),
      projections,
    });
    const app = createApp({
      reads: reads.watchSnapshots(positioned),
      context: {
        ...{ db, siteUrl: address, chains: [chainId], market: openBenchMarket(db) },
        ...{ readStatus: async () => ready, now: () => new Date() },
      },
      ...{ baseUrl: address, logger: pino({ level: "error" }) },
    });
    const server = await listen(app, "127.0.0.1", 0);
    try {
      return await measurePages(`${address}:${server.port}`, paths, reads, scale);
    } finally {
      reads.stop();
      await server.close();
      await db.destroy();
    }
  });
}

type Paths = Record<string, () => string>;

async function measurePages(
  url: string,
  paths: Paths,
  reads: ReadWatch,
  scale: number,
): Promise<Figure[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const figures: Figure[] = [];
  for (const next of Object.values(paths))
    for (let turn = 0; turn < warmUps; turn += 1) await fetchPage(url + next(), agent);
  for (const [name, next] of Object.entries(paths)) {
    const [whole, ofReads]: [number[], number[]] = [[], []];
    let bytes = 0;
    for (let turn = 0; turn < requests; turn += 1) {
      reads.take();
      const { ms, size } = await fetchPage(url + next(), agent);
      whole.push(ms);
      ofReads.push(reads.take());
      bytes = Math.max(bytes, size);
    }
    const what = `${scale} of 5 000 000 tokens, ${bytes} B compressed at most`;
    const [page, its] = [whole, ofReads].map((ms, index) =>
      percentileFigures(`page ${name}${index === 0 ? "" : ", its reads"}`, ms, percentiles, what),
    );
    const beyond = (page?.[0]?.value ?? Number.NaN) - (its?.[0]?.value ?? Number.NaN);
    const goal = { unit: "ms", atMost: goalMs } as const;
    figures.push(
      ...(page ?? []),
      ...(its ?? []),
      medianFigure(`page ${name}, beyond its reads p95`, [beyond], goal, what),
    );
  }
  agent.destroy();
  return figures;
}

/** Milliseconds until the last byte, as a browser asks. */
function fetchPage(url: string, agent: Agent): Promise<{ ms: number; size: number }> {
  const headers = { accept: "text/html", "accept-encoding": "gzip, deflate, br" };
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    get(url, { agent, headers }, (response) => {
      buffer(response).then((body) => {
        const ms = performance.now() - startedAt;
        if (response.statusCode === 200) resolve({ ms, size: body.length });
        else reject(new Error(`${url} answered ${response.statusCode}`));
      }, reject);
    }).on("error", reject);
  });
}

type ReadWatch = {
  take(): number;
  /** Counts the first statement of each snapshot, too, which reads the data's version. */
  watchSnapshots(reads: PositionedReads): PositionedReads;
  stop(): void;
};

/** The time in which at least one read was in progress, since it was last taken. Pages ask endpoints in this process. */
function watchReads(all: readonly V1Route[]): ReadWatch {
  let [open, since, spent] = [0, 0, 0];
  const begin = () => {
    if (open === 0) since = performance.now();
    open += 1;
  };
  const end = () => {
    open -= 1;
    if (open === 0) spent += performance.now() - since;
  };
  const restore = all.map((route) => {
    const { answer } = route;
    const watched: V1Route["answer"] = async (...given) => {
      begin();
      try {
        return await answer(...given);
      } finally {
        end();
      }
    };
    Object.assign(route, { answer: watched });
    return () => void Object.assign(route, { answer });
  });
  return {
    take() {
      const taken = spent;
      spent = 0;
      return taken;
    },
    watchSnapshots: (reads) => ({
      ...reads,
      inSnapshot(wanted, read) {
        begin();
        return reads.inSnapshot(wanted, (snapshot) => {
          end();
          return read(snapshot);
        });
      },
    }),
    stop: () => restore.forEach((one) => void one()),
  };
}

async function readSaleIds(db: Database): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select sale_id as id from sales.sale tablesample system (0.5) limit 200`.execute(db);
  return rows.map(({ id }) => id);
}

function pagesOf({ collections, described }: Sample, sales: readonly string[]): Paths {
  const chain = `chainId=${chainId}`;
  const collection = rotate(collections.map(({ slug }) => slug));
  const largest = rotate(described.filter((_, at) => at % 2 === 0).map(({ slug }) => slug));
  const token = rotate(described);
  const sale = rotate(sales);
  const view = (name: string) => () => `/collections/${collection()}?${chain}&view=${name}`;
  return {
    market: () => `/?${chain}`,
    "market by sales of 7 days": () => `/?${chain}&sort=sales&period=7d&exclude_wash=true`,
    items: view("items"),
    "items of 100 000 tokens": () => `/collections/${largest()}?${chain}`,
    prices: view("prices"),
    traits: view("traits"),
    "traits of 100 000 tokens": () => `/collections/${largest()}?${chain}&view=traits`,
    holders: view("holders"),
    "collection's activity": view("activity"),
    token: () => tokenPath(token(), chain),
    sale: () => `/sales/${sale()}?${chain}`,
    wallet: () => `/wallets/${token().owner}?${chain}`,
    "wallet's activity": () => `/wallets/${token().owner}?${chain}&view=activity`,
    activity: () => `/activity?${chain}`,
    search: () => `/search?${chain}&q=${collection().slice(0, 6)}`,
  };
}

const tokenPath = ({ address: contract, id }: Sample["described"][number], chain: string) =>
  `/collections/${contract}/tokens/${id}?${chain}`;

const block = { number: 1_000, hash: `0x${"1".repeat(64)}`, timestamp: 1 };
const ready: ServiceStatus = {
  ...{ ready: true, failing: [], warnings: [], logPosition: 1, projections: [] },
  chains: [
    {
      ...{
        chainId,
        head: block,
        indexed: block,
        history: null,
        indexers: [],
        lagBlocks: 0,
        lagSeconds: 0,
      },
      recorded: { number: 1_000, hash: block.hash },
      finalized: { number: 900, saidBy: "tag" },
    },
  ],
};
