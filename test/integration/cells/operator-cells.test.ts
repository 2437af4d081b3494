import { sql } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import { moveChain } from "../../../api/run/cells/move-chain.ts";
import { readConfig } from "../../../api/run/config/read-config.ts";
import type { OtherDatabase } from "../../../api/run/console/reads/databases.ts";
import { configuredCells } from "../../../api/run/roles/configured-cells.ts";
import {
  appendTrades,
  environmentOf,
  prepare,
  projections,
} from "../../support/database/operator.ts";
import { createDatabase, type TestDatabase } from "../../support/database/postgres.ts";
import { openConsole } from "../../support/http/console.ts";
import { tableOf } from "../../support/http/page-tables.ts";
import { runOp } from "../../support/processes/op.ts";

const schema = "ponder_1_aaaaaaaa";
let [shared, own, accounts]: TestDatabase[] = [];
let environment: Record<string, string>;

/** Chain 1 has moved to a database of its own; accounts have another one. */
beforeAll(async () => {
  [shared, own, accounts] = await Promise.all([
    createDatabase({ template: "projected" }),
    createDatabase(),
    createDatabase(),
  ]);
  await appendTrades(shared.db, 1, 3);
  await prepare(shared.db);
  await sql`create schema ${sql.id(schema)}`.execute(shared.db);
  await sql`
    insert into ops.indexer (chain_id, ponder_schema, started_at) values (1, ${schema}, now())`.execute(
    shared.db,
  );
  await moveChain({
    ...{ chainId: 1, from: shared.db, to: own.db, projections },
    ...{ awaitsIndexer: false, onStep: () => {} },
  });
  environment = {
    ...environmentOf(shared.url),
    ...{ DATABASE_URL_1: own.url, DATABASE_URL_ACCOUNTS: accounts.url },
  };
});
afterAll(() => Promise.all([shared, own, accounts].map((database) => database?.drop())));

/** What a command prints, of each database. */
async function tell(...args: string[]) {
  const { stdout, stderr } = await runOp(environment, ...args, "--json");
  if (stdout === "") throw new Error(stderr);
  return stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}

it("op status tells of each database with the chains that it serves, op --cell of one", async () => {
  const told = await tell("status");
  expect(
    told.map(({ cell, chains }) => [
      cell,
      chains.map(({ chainId }: { chainId: number }) => chainId),
    ]),
  ).toEqual([
    ["main", [33139]],
    ["1", [1]],
  ]);
  const { stdout } = await runOp(environment, "status");
  expect(stdout).toMatch(/^database main: postgres:\/\/\*\*\*@.*^database 1: /ms);
  const [one] = await tell("--cell", "1", "status");
  expect(one).toEqual({ ...one, chains: [expect.objectContaining({ chainId: 1 })] });
  expect(one).not.toHaveProperty("cell");
});

it("op doctor looks at each database: tables of a log where there is one, servers and migrations everywhere", async () => {
  await sql`alter table sales.sale add column note text`.execute(own?.db as TestDatabase["db"]);
  await sql`delete from ops.later_migration where name > '0066'`.execute(
    accounts?.db as TestDatabase["db"],
  );
  const told = await tell("doctor");
  const findings = new Map(
    told.map(({ cell, findings }) => [
      cell,
      findings.map((one: { about: string; finding: string }) => `${one.about}: ${one.finding}`),
    ]),
  );
  expect([...findings.keys()]).toEqual(["main", "1", "accounts"]);
  expect(findings.get("main")).toContain("chain 33139: 127.0.0.1:1 is unreachable");
  expect(findings.get("main")).not.toContain("chain 1: rpc.invalid:8545 is unreachable");
  expect(findings.get("1")).toContain("sales: has sale.note text too many");
  expect(findings.get("accounts").join()).toMatch(/migrations: the database lacks 00/);
  expect(findings.get("accounts").join()).not.toContain("has no tables yet");
});

it("the indexer's tables of a chain that has moved can be dropped where it was", async () => {
  const [{ stale }] = await tell("prune");
  expect(stale.map((one: { schema: string }) => one.schema)).toContain(schema);
});

it("a chain's own database is copied to the place of the others, unless it has one of its own", () => {
  const placesOf = (settings: Record<string, string>) => {
    const config = readConfig({ ...environment, ...settings });
    return configuredCells(config, shared?.url ?? "").map(({ analytics }) => analytics.duckdbFile);
  };
  const all = { ANALYTICS_DUCKDB_FILE: "/all.duckdb" };
  expect(placesOf({})).toEqual([null, null]);
  expect(placesOf(all)).toEqual(["/all.duckdb", "/all.duckdb"]);
  expect(placesOf({ ...all, ANALYTICS_DUCKDB_FILE_1: "/own.duckdb" })).toEqual([
    "/all.duckdb",
    "/own.duckdb",
  ]);
});

it("the console's overview has the chains and faults of all databases, and callers are those of the accounts", async () => {
  const databases = [shared, own, accounts] as [TestDatabase, TestDatabase, TestDatabase];
  const config = readConfig(environment);
  const chains = config.chains.filter(({ chainId }) => chainId === 1);
  const at = ({ db, url }: TestDatabase, name: string, served: typeof chains): OtherDatabase => ({
    ...{ name, db },
    config: { ...config, chains: served, database: { ...config.database, url } },
  });
  await sql`
    insert into access.minute (caller, began_at, per_minute, used, granted)
    values ('198.51.100.7', now(), 60, 5, 5)`.execute(databases[2].db);
  const console = await openConsole(databases[0], {
    others: [at(databases[1], "1", chains), at(databases[2], "accounts", [])],
    accountsDb: databases[2].db,
  });
  try {
    const { page } = await console.get("/");
    expect(tableOf(page, "Other databases").map(({ key }) => key)).toEqual(["1", "accounts"]);
    expect(tableOf(page, "Chains").map(({ key }) => key)).toContain("1");
    expect(page).toContain("sales (database 1)");
    expect((await console.get("/callers")).page).toContain("198.51.100.7");
  } finally {
    await console.close();
  }
});
