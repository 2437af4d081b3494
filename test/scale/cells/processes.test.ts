import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { type OrphanGuard, startOrphanGuard } from "../../../api/run/supervisor/orphan-guard.ts";
import { chainIds } from "../../../chains/index.ts";
import { accounts } from "../../../devnet/accounts.ts";
import { contracts } from "../../../devnet/contracts/addresses.ts";
import { type Database, openDatabase } from "../../../projections/database.ts";
import { type Browser, openBrowser } from "../../integration/accounts/accounts-fixture.ts";
import { type Market, openMarket } from "../../support/chain/market.ts";
import { openTrader } from "../../support/chain/trader.ts";
import { untilCanonical } from "../../support/database/canonical.ts";
import { getJson, pipelineSettings, until } from "../../support/database/pipeline.ts";
import { createDatabase, type TestDatabase } from "../../support/database/postgres.ts";
import { followEvents } from "../../support/http/follow-events.ts";
import { tableOf } from "../../support/http/page-tables.ts";
import { runOp } from "../../support/processes/op.ts";
import {
  readInstallation,
  type StartedService,
  startService,
} from "../../support/processes/start-service.ts";
import { moveWithKills } from "./killed-moves.ts";
import { hasFacts, rowsOfAccess, signUp } from "./placed-rows.ts";
import { expectTraded, nothingTraded, type Traded, trade } from "./trade.ts";
import { readAnswers } from "./untraded-answers.ts";

const moved = 33139;
const ethereum = 1;

let orphanGuard: OrphanGuard;
let directory: string;
/** The embedded database is the shared one; these are on another server. */
let [own, accountsDatabase, empty]: TestDatabase[] = [];
let markets: Market[];
let mining: NodeJS.Timeout[] = [];
let settings: Record<string, string>;
let service: StartedService;
let developer: Browser;
let key: string;
/** Of what nobody trades with. */
let answers: Map<string, unknown>;

beforeAll(async () => {
  orphanGuard = startOrphanGuard();
  directory = await mkdtemp(join(tmpdir(), "cells-"));
  [own, accountsDatabase, empty] = await Promise.all([
    createDatabase(),
    createDatabase(),
    createDatabase(),
  ]);
  markets = await Promise.all(chainIds.map((chainId) => openMarket({ chainId, stocked: true })));
  // A block for each transaction, and one a second: Ponder follows new ones.
  mining = markets.map(({ client }) =>
    setInterval(() => void client.mine({ blocks: 1 }).catch(() => {}), 1_000),
  );
  const { PORT: _, ...given } = await pipelineSettings({
    databaseUrl: "",
    chains: markets.map(({ anvil }) => anvil),
    settings: {
      DATABASE_URL_ACCOUNTS: databaseUrl(accountsDatabase),
      ...{ ORDER_QUOTA_MAKER: "100000", ORDER_QUOTA_CONTRACT: "100000", LOG_LEVEL: "info" },
      OPERATOR_CONSOLE: "on",
    },
  });
  settings = given;
  service = await start();
});
afterAll(async () => {
  await service?.end();
  for (const timer of mining) clearInterval(timer);
  await Promise.all((markets ?? []).map((market) => market.stop()));
  await Promise.all([own, accountsDatabase, empty].map((database) => database?.drop()));
  orphanGuard.killAll();
  await rm(directory, { recursive: true, force: true });
});

const start = () => startService({ dataDir: directory, orphanGuard, settings });

async function restart(): Promise<void> {
  await service.end();
  service = await start();
}

const databaseUrl = (database: TestDatabase | undefined) => database?.url ?? "";

async function ask(path: string): Promise<Response> {
  const response = await fetch(service.baseUrl + path);
  if (response.status >= 500)
    expect([path, response.status, response.headers.has("retry-after")]).toEqual([path, 503, true]);
  return response;
}

const op = (...args: string[]) => runOp({ ...settings, DATA_DIR: directory }, ...args);

async function inShared<Result>(work: (db: Database) => Promise<Result>): Promise<Result> {
  const { DATABASE_URL: url = "" } = readInstallation(directory);
  const db = openDatabase({ url, applicationName: "test", onIdleError: () => {} });
  try {
    return await work(db);
  } finally {
    await db.destroy();
  }
}

const desk = () => ({ url: service.baseUrl, accounts: { baseUrl: service.baseUrl } });

it("accounts, sessions, keys and limits begin in a database of their own", async () => {
  developer = openBrowser(desk());
  await signUp(developer, service.output);
  expect((await developer.get("/developers")).status).toBe(200);

  const created = await op("keys", "create", "--name", "bot", "--per-minute", "3", "--json");
  expect([created.code, created.stderr]).toEqual([0, ""]);
  ({ key } = z.object({ key: z.string() }).parse(JSON.parse(created.stdout)));
  const statuses: number[] = [];
  for (let number = 0; number < 4; number += 1) statuses.push(await statusWithKey());
  expect(statuses).toEqual([200, 200, 200, 429]);
});

const statusWithKey = async () =>
  (await fetch(`${service.baseUrl}/v1/auth/key`, { headers: { "x-api-key": key } })).status;

it("with a database configured for a chain, it is served where it is", async () => {
  settings = { ...settings, [`DATABASE_URL_${moved}`]: databaseUrl(own) };
  await restart();
  const { stdout } = await op("cells", "list", "--json");
  expect(JSON.parse(stdout).chains.map(({ waits }: { waits: boolean }) => waits)).toEqual([
    false,
    true,
  ]);
  for (const { anvil, client } of markets) {
    const { baseUrl } = service;
    const dave = openTrader({ baseUrl, chainId: anvil.chainId, client, account: accounts.dave });
    const tokenId = await ownedPunk(anvil.chainId);
    await dave.lists({ contract: contracts.punks, tokenId, unitPriceWei: 10n ** 18n });
  }
  await until("what the last blocks hold", async () => {
    const all = await readAnswers(ask);
    return JSON.stringify([...all]) === JSON.stringify([...(await readAnswers(ask))]);
  });
  answers = await readAnswers(ask);
});

async function ownedPunk(chainId: number): Promise<bigint> {
  const found = await until("a token", async () => {
    const path = `/v1/wallets/${accounts.dave.address}/tokens?chainId=${chainId}&per_page=100`;
    const { body } = await getJson(service.baseUrl, path);
    const tokens = body.data as { contract: string; tokenId: string }[];
    return tokens.find(({ contract }) => contract === contracts.punks);
  });
  return BigInt(found.tokenId);
}

it("op cells move, killed at random under trade, loses nothing, and the answers stay what they are", async () => {
  const traded = new Map<number, Traded>(chainIds.map((chainId) => [chainId, nothingTraded()]));
  const of = (chainId: number) => traded.get(chainId) as Traded;
  let [isOver, isAllTraded] = [false, false];
  const trading = markets.map((market) =>
    trade(market, service.baseUrl, of(market.anvil.chainId), () => isOver),
  );
  const following = chainIds.map((chainId) => followEvents(ask, chainId, () => isAllTraded));
  await until("some trade", async () => of(moved).listed.length > 10);
  const outcome = await inShared((from) =>
    moveWithKills({
      ...{ environment: { ...settings, DATA_DIR: directory }, chainId: moved, from },
      ...{ atAnyTime: 4, whileClosed: 2 },
    }),
  );
  const before = of(moved).bought.length;
  await until("trade in the new database", async () => of(moved).bought.length > before + 10);
  isOver = true;
  await Promise.all(trading);
  await untilCanonical(own?.db as Database, [markets[1] as Market]);
  isAllTraded = true;
  const followed = await Promise.all(following);
  const { listed, bought, refused, longestMs } = of(moved);
  const figures = { ...outcome, refused, longestMs: Math.round(longestMs) };
  process.stdout.write(
    `${JSON.stringify({ ...figures, listed: listed.length, bought: bought.length })}\n`,
  );

  expect(outcome.killsWhileClosed).toBeGreaterThan(0);
  expect(outcome.pausedMs).toBeLessThan(10_000);
  // Killed while it was closed, the log opens by itself after 8 s; then the order waits for its turn.
  expect(longestMs).toBeLessThan(20_000);
  expect(of(ethereum).refused).toBe(0);
  for (const [index, chainId] of chainIds.entries()) {
    const again = await followEvents(ask, chainId, () => true);
    expect(followed[index]).toEqual(again);
    expect(new Set(again).size).toBe(again.length);
    await expectTraded(ask, chainId, of(chainId));
  }
  expect(await readAnswers(ask)).toEqual(answers);
  expect(await factsOf(moved, outcome.position)).toEqual({ shared: false, own: true });
  expect(await factsOf(ethereum, 0)).toEqual({ shared: true, own: false });
});

/** Whether facts of a chain's blocks are in the shared database and in the own one. */
const factsOf = async (chainId: number, after: number) => ({
  shared: await inShared((db) => hasFacts(db, chainId, after)),
  own: await hasFacts(own?.db as Database, chainId, after),
});

it("op and the console tell of both databases", async () => {
  const { stdout } = await op("status", "--json");
  const told = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(told.map(({ cell, chains }) => [cell, chains[0].chainId, chains.length])).toEqual([
    ["main", ethereum, 1],
    [`${moved}`, moved, 1],
  ]);
  const url = /"operator's console":"([^"]+)"/.exec(service.output.join("\n"))?.[1] ?? "";
  const page = await (await fetch(url)).text();
  expect(tableOf(page, "Chains").map(({ key }) => Number(key))).toEqual([...chainIds]);
  const others = tableOf(page, "Other databases");
  expect(others.map(({ key, cells }) => [key, cells[1]])).toEqual([
    [`${moved}`, `${moved}`],
    ["accounts", "none"],
  ]);
  expect((await fetch(`${url}/callers`)).status).toBe(200);
});

it("a restart changes nothing: accounts are in their database and in no other", async () => {
  await restart();
  expect(await readAnswers(ask)).toEqual(answers);
  expect((await developer.at(desk()).get("/developers")).status).toBe(200);
  expect([200, 429]).toContain(await statusWithKey());
  const nothing = await rowsOfAccess(empty?.db as Database);
  expect(await rowsOfAccess(own?.db as Database)).toEqual(nothing);
  expect(await inShared(rowsOfAccess)).toEqual(nothing);
  const there = await rowsOfAccess(accountsDatabase?.db as Database);
  for (const table of ["account", "session", "key", "usage", "key_request", "minute"])
    expect([table, there.get(table)]).not.toEqual([table, 0n]);
  const { rows } = await sql`select position from log.head`.execute(
    accountsDatabase?.db as Database,
  );
  expect(rows).toEqual([{ position: 0n }]);
});
