import { sql } from "kysely";
import { pino } from "pino";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type MoveStep, moveChain } from "../../../api/run/cells/move-chain.ts";
import { createApp } from "../../../api/serve/app.ts";
import type { Cell } from "../../../api/serve/http/reads/cells.ts";
import { openPositionedReads } from "../../../api/serve/http/reads/positioned-reads.ts";
import { openTarget } from "../../../api/serve/http/reads/target.ts";
import type { Context } from "../../../api/serve/v1/routing/context.ts";
import { projectionNames } from "../../../projections/all.ts";
import type { Database } from "../../../projections/database.ts";
import { appendObservations } from "../../../projections/log/append.ts";
import { moveLogEnd } from "../../../projections/log/cells/arrival.ts";
import { readHeldChains } from "../../../projections/log/cells/read-held-chains.ts";
import { readLogHead } from "../../../projections/log/read-log-head.ts";
import { createDatabase, type TestDatabase } from "../../support/database/postgres.ts";
import { type ApiClient, serve } from "../../support/http/openapi.ts";
import { dead, holders, nfts } from "../../support/market-data/token-market.ts";
import { openTwoChains, twoChains } from "../../support/market-data/two-chains.ts";
import { givenListing, receivedAt, ticked } from "../../support/orders/order-facts.ts";
import { openTestMarket } from "../../support/orders/test-market.ts";

const chainId = 33139;
const now = () => new Date(Number(receivedAt + 50_000n) * 1_000);

let market: Awaited<ReturnType<typeof openTwoChains>>;
let own: TestDatabase;
/** One server over the shared log, and one over the log of each chain. */
let single: ApiClient;
let cells: ApiClient;

beforeAll(async () => {
  [market, own] = await Promise.all([openTwoChains(1), createDatabase()]);
  for (let step = 0; step < 2; step += 1) for (const chain of twoChains) await market.step(chain);
  const shared = market.book.db;
  single = await serve(appOver(cellOver(shared, twoChains)));
  cells = await serve(appOver(cellOver(shared, [1]), cellOver(own.db, [chainId])));
});
afterAll(async () => {
  await Promise.all([single?.close(), cells?.close()]);
  await Promise.all([own?.drop(), market?.book.drop()]);
});

const noFindings = {
  ...{ failing: [], warnings: [], chains: [], projections: [] },
  logPosition: null,
};

type ServedCell = Cell<Pick<Context, "market">> & { db: Database };

function cellOver(db: Database, chains: readonly number[]): ServedCell {
  const reads = openPositionedReads({
    primary: openTarget({ db }, projectionNames),
    projections: projectionNames,
  });
  return { chains, reads, own: { market: openTestMarket(db) }, db };
}

function appOver(first: ServedCell, ...others: readonly ServedCell[]) {
  const { db, reads, own } = first;
  return createApp({
    context: {
      ...{ db, chains: [...twoChains], now, market: own.market },
      siteUrl: "https://api.example.test",
      readStatus: async () => ({ ready: true, ...noFindings }),
    },
    reads,
    // As the process has them: made for each request.
    cells: { all: () => [{ ...first }, ...others.map((one) => ({ ...one }))] },
    baseUrl: "https://api.example.test",
    logger: pino({ level: "silent" }),
  });
}

const ofBoth = (path: string) =>
  twoChains.map((chain) => `${path}${path.includes("?") ? "&" : "?"}chainId=${chain}`);

const [holder = dead] = holders;
const paths = [
  ...[
    ...["/v1/collections?per_page=20", "/v1/collections/kin", "/v1/collections/kin/traits"],
    ...["/v1/collections/kin/tokens?sort=price_asc&per_page=20", "/v1/collections/kin/holders"],
    ...["/v1/sales?per_page=20", "/v1/activity?per_page=50", "/v1/events?after=0-0&per_page=50"],
    ...["/v1/listings?collection=kin&per_page=20", "/v1/bids?collection=kin&per_page=20"],
    ...[`/v1/wallets/${holder}/tokens`, "/v1/search?q=kin", "/", "/collections/kin", "/activity"],
    `/wallets/${holder}`,
  ].flatMap(ofBoth),
  ...["/v1/search?q=kin", "/v1/search?q=KIN%201", "/v1/search?q=token", "/search?q=kin"],
];

async function answerOf(api: ApiClient, path: string) {
  const response = await fetch(api.url + path);
  const position = response.headers.get("x-position");
  const etag = response.headers.get("etag");
  const text = (await response.text()).replace(/"requestId":"[^"]+"/, "");
  return { status: response.status, position, etag, text };
}

/** Fails at some steps, as a command does that is killed. */
function failingAt(...failing: number[]) {
  let steps = 0;
  return (_: MoveStep) => {
    steps += 1;
    if (failing.includes(steps)) throw new Error("killed");
  };
}

const move = (onStep: (step: MoveStep) => void) =>
  moveChain({
    ...{ chainId, from: market.book.db, to: own.db, projections: market.projections },
    ...{ awaitsIndexer: false, onStep },
  });

it("a chain moves to a database of its own, however often the move ends on its way", async () => {
  for (const steps of [1, 3, 5]) {
    await expect(move(failingAt(steps))).rejects.toThrow("killed");
    expect(await readHeldChains(market.book.db, twoChains)).toEqual(new Set(twoChains));
    for (const chain of twoChains) await market.step(chain);
  }
  const moved = await move(() => {});
  expect(await readHeldChains(market.book.db, twoChains)).toEqual(new Set([1]));
  expect(moved.position).toBe(await readLogHead(market.book.db));
  expect(moved.position).toBeLessThan(await readLogHead(own.db));
  expect(moved.pausedMs).toBeGreaterThan(0);
  expect(moved.pausedMs).toBeLessThan(10_000);
  expect(await move(() => {})).toEqual({ position: moved.position, pausedMs: 0 });
});

it("every answer of both is that of one database, byte for byte, at the same position", async () => {
  const position = await readLogHead(market.book.db);
  const later = await readLogHead(own.db);
  await moveLogEnd(own.db, [later], position);
  const statuses: number[] = [];
  for (const path of paths) {
    const expected = await answerOf(single, path);
    const answer = await answerOf(cells, path);
    expect({ path, ...answer, position: null }).toEqual({ path, ...expected, position: null });
    expect(expected.position).toBe(`${position}`);
    const chain = /chainId=(\d+)/.exec(path)?.[1];
    const named = chain === undefined ? answer.position?.split(",") : [answer.position];
    expect(named?.sort()).toEqual(
      chain === undefined ? twoChains.map((one) => `${one}=${position}`) : [`${chain}=${position}`],
    );
    statuses.push(answer.status);
  }
  await moveLogEnd(own.db, [position], later);
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(30);
});

it("the shared log takes no more facts of the chain, its own does; both go on", async () => {
  const before = await readLogHead(own.db);
  const order = givenListing({
    ...{ chainId, contract: nfts.kin.address, tokenId: 1n, maker: holder },
  }).submitted;
  await expect(appendObservations(market.book.db, [order])).rejects.toMatchObject({
    code: "57P03",
  });
  await expect(appendObservations(own.db, [order])).resolves.toMatchObject({ appended: 1 });
  await appendObservations(market.book.db, [ticked(receivedAt)]);
  expect(await readLogHead(own.db)).toBe(before + 1n);
});

it("a request names positions by chain: those of other chains say nothing of its log", async () => {
  const path = `/v1/collections/kin?chainId=1`;
  const position = await readLogHead(market.book.db);
  const ask = (asked: string) =>
    cells.get(path, { "X-Min-Position": asked }).then(({ status }) => status);
  expect(await ask(`1=${position - 1n},33139=999999999`)).toBe(200);
  expect(await ask(`1=999999999,33139=1`)).toBe(503);
  expect(await ask("1=x")).toBe(422);
});

it("contracts that come later have ids that no other one has", async () => {
  const { rows } = await sql<{ next: bigint; known: number }>`
    select nextval(pg_get_serial_sequence('log.contract', 'contract_id')) as next,
           (select max(contract_id) from log.contract) as known`.execute(own.db);
  expect(Number(rows[0]?.next)).toBeGreaterThan(rows[0]?.known ?? 0);
});
