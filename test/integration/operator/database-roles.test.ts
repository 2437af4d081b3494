import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { sql } from "kysely";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type DatabaseRoles,
  forEachRole,
  readDatabaseRoles,
} from "#ops/postgres/database-roles.ts";
import { createEmbeddedRoles } from "#ops/postgres/embedded-roles.ts";
import { migrate } from "#ops/postgres/migrate.ts";
import { applyRights, findWrongRights } from "#ops/postgres/rights.ts";
import { bindViews } from "#projections/analytics/bind-views.ts";
import { readRevocations } from "#projections/analytics/roles.ts";
import { targetOf } from "#projections/engine/checkpoint.ts";
import { rebuild } from "#projections/engine/rebuild.ts";
import { tick } from "#projections/engine/tick.ts";
import { appendObservations } from "#projections/log/append.ts";
import { repairBlocks } from "#projections/log/audit.ts";
import { openDatabase } from "#projections/log/database.ts";
import { factKind } from "#projections/log/fact-kinds.ts";
import { viewOf, withLock } from "#projections/log/named-lock.ts";
import { schemaOf, versions } from "#projections/log/versions.ts";
import { addressOf, block, dumpTable, setBlocks } from "#test/support/database/given.ts";
import {
  appendOrders,
  appendTrades,
  prepare,
  projections,
} from "#test/support/database/operator.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { runOp } from "#test/support/processes/op.ts";

const prefix = `roles_${process.pid}`;
const rolesOf = (name: string) => forEachRole((one) => `${name}_${process.pid}_${one}`);
const roles = rolesOf("roles");
const connection = { applicationName: "test", onIdleError: () => {} };
const derived = ["sales.sale", "ownership.token", "listings.listing", "collections.contract"];
const kept = ["log.fact", "log.block", "log.head", "engine.checkpoint", ...derived];

/** A table of an earlier version, in a schema that SQL of ours means the present version by. */
const former = Object.keys(versions).find((name) => schemaOf(name) !== name) ?? "";
const formerTable = "of_an_earlier_version";

let database: TestDatabase;
let folder: string;
let urls: DatabaseRoles;
let before: string[][];
const opened: ReturnType<typeof openDatabase>[] = [];

/** A database as an earlier version leaves it, all of the superuser's, and then given to a role for each process. */
beforeAll(async () => {
  database = await createDatabase();
  folder = await mkdtemp(join(tmpdir(), "roles-"));
  await appendTrades(database.db, 1, 5);
  await prepare(database.db);
  await withLock(database.db, "shadow schemas of sales", async () => {});
  await runAsAdmin(`create schema ${former}; create table ${former}.${formerTable} (id int)`);
  before = await dumps();
  urls = await createEmbeddedRoles(database.url, folder, roles);
  await applyRights(database.db, roles);
});
afterAll(async () => {
  for (const one of opened) await one.destroy();
  await rm(folder, { recursive: true, force: true });
  await database.drop();
  await dropRoles(roles);
});

async function dropRoles(names: DatabaseRoles) {
  const other = await createDatabase();
  for (const role of Object.values(names)) await sql`drop role ${sql.id(role)}`.execute(other.db);
  await other.drop();
}

const dumps = async () => {
  const all: string[][] = [];
  for (const table of kept) all.push(await dumpTable(database.db, table));
  return all;
};

/** Without the names of this release's versions. */
async function runAsAdmin(statement: string) {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query(statement);
  await client.end();
  return rows;
}

function open(process: keyof DatabaseRoles) {
  const url = urls[process];
  const db = openDatabase({ ...connection, url, max: 3 });
  opened.push(db);
  return db;
}

/** The code of each statement's error, or "done". */
async function attempts(process: keyof DatabaseRoles, statements: readonly string[]) {
  const client = new pg.Client({ connectionString: urls[process] });
  await client.connect();
  const outcomes: [string, unknown][] = [];
  for (const statement of statements) {
    const outcome = await client.query(`begin; ${statement}`).then(
      () => "done",
      (error: { code?: string }) => error.code,
    );
    await client.query("rollback");
    outcomes.push([statement, outcome]);
  }
  await client.end();
  return outcomes;
}

async function refuses(process: keyof DatabaseRoles, statements: readonly string[]) {
  const outcomes = await attempts(process, statements);
  expect(outcomes).toEqual(statements.map((statement) => [statement, "42501"]));
}

async function allows(process: keyof DatabaseRoles, statements: readonly string[]) {
  const outcomes = await attempts(process, statements);
  expect(outcomes).toEqual(statements.map((statement) => [statement, "done"]));
}

/** None of the processes may do it. */
const logWrites = [
  "insert into log.fact (position, kind) values (1000, 10)",
  "update log.fact set kind = 10",
  "delete from log.fact",
  "truncate log.fact",
  "update log.head set position = 0",
  "insert into log.contract (chain_id, address) values (1, '\\x00')",
  "delete from log.block",
  "alter table log.fact add column note text",
  "drop index log.fact_event_0",
  "create function log.mine() returns int language sql as 'select 1'",
  "create or replace function log.append_staged(out a bigint, out b bigint) language sql as 'select 1, 1'",
  "select log.create_stage()",
  "select log.add_staged_blocks()",
  "update ops.switch set is_paused = true",
  "insert into ops.service_role values ('owner', 'mine')",
  "insert into ops.appendable_kind select current_user, 10",
  "insert into ops.blocked_maker (address) values ('\\x00')",
  "drop table ops.lease",
  `set role ${roles.owner}`,
  `alter role ${roles.api} superuser`,
  "create role mine",
  "select pg_read_file('PG_VERSION')",
  "copy log.head to program 'true'",
];

const fact = (kind: number, more = "") =>
  `select * from log.append_observations('[{"ord": 0, "kind": ${kind}, "chain_id": 1, "identity": "${"ab".repeat(32)}",
     "recorded_at": "2026-01-01"${more}}]')`;

describe("an installation of before, whose tables are all the superuser's,", () => {
  it("is given to a role for each process, with every row that it had", async () => {
    expect(await findWrongRights(database.db, roles)).toEqual([]);
    expect(await dumps()).toEqual(before);
    expect(await applyRights(database.db, roles)).toEqual([]);
  });

  it("gives the projector the tables of earlier versions, too", async () => {
    const owner = await runAsAdmin(
      `select relowner::regrole::text as name from pg_class where oid = '${former}.${formerTable}'::regclass`,
    );
    expect(owner).toEqual([{ name: roles.projector }]);
  });

  it("keeps the passwords, readable by its user alone, across starts", async () => {
    const again = await createEmbeddedRoles(database.url, folder, roles);
    expect(again).toEqual(urls);
    expect(new Set(Object.values(urls).map((url) => new URL(url).password)).size).toBe(6);
    expect((await stat(join(folder, "postgres.roles.json"))).mode & 0o777).toBe(0o600);
  });

  it("covers what a later migration creates, with no right lacking and none too many", async () => {
    const owner = open("owner");
    for (const schema of ["log", "ops", "engine", "access", "rarity"])
      await sql.raw(`create table ${schema}.later (id int)`).execute(owner);
    expect(await findWrongRights(database.db, roles)).toEqual([]);
    await allows("api", [
      ...["log", "ops", "engine", "rarity"].map((schema) => `select * from ${schema}.later`),
      "insert into access.later values (1)",
    ]);
    await refuses(
      "api",
      ["log", "ops", "engine", "rarity"].map((one) => `delete from ${one}.later`),
    );
    await allows("jobs", ["insert into rarity.later values (1)", "select * from ops.later"]);
    for (const process of ["indexer", "projector", "jobs", "console"] as const)
      await refuses(process, ["select * from access.later", "delete from log.later"]);
    for (const schema of ["log", "ops", "engine", "access", "rarity"])
      await sql.raw(`drop table ${schema}.later`).execute(owner);
  });

  it("lets somebody append each kind of fact that no chain emits", async () => {
    const { rows } = await sql<{ kind: number }>`
      select distinct kind from ops.appendable_kind`.execute(database.db);
    const appendable = new Set(rows.map(({ kind }) => kind));
    const observed = Object.entries(factKind).filter(([, kind]) => kind >= 60);
    expect(observed.filter(([, kind]) => !appendable.has(kind))).toEqual([]);
  });
});

describe("a new database", () => {
  it("has its roles before its tables, which the owner makes, and then every right", async () => {
    const empty = await createDatabase({ template: "template0" });
    const home = await mkdtemp(join(tmpdir(), "roles-"));
    const { owner } = await createEmbeddedRoles(empty.url, home, rolesOf("new"));
    const migrating = openDatabase({ ...connection, url: owner, max: 2 });
    await migrate(migrating);
    expect(await applyRights(empty.db, rolesOf("new"))).toEqual([]);
    expect(await applyRights(migrating, rolesOf("new"))).toEqual([]);
    await migrating.destroy();
    await empty.drop();
    await rm(home, { recursive: true });
    await dropRoles(rolesOf("new"));
  });
});

describe("the API's role", () => {
  it("may not write the log, projections or others' tables, nor create anything", async () => {
    await refuses("api", [
      ...logWrites,
      "select log.open_stage()",
      "select log.append_stage()",
      "select log.append_block_states(1::smallint, '{1}', now())",
      "select log.register_contracts('{1}', '{}')",
      "update engine.checkpoint set position = 0",
      `update ${schemaOf("sales")}.sale set buyer = null`,
      `delete from ${schemaOf("listings")}.listing`,
      "insert into ops.lease (role, owner, epoch, expires_at) values ('projector', 'me', 9, now())",
      "update ops.partner_collection set slug = null",
      "delete from rarity.token",
      "create table public.mine ()",
      "create schema mine",
      "create temporary table staged ()",
      'lock table locks."shadow schemas of sales" in exclusive mode',
      "alter table access.account add column note text",
      "truncate access.account",
    ]);
  });

  it("appends orders and readings by the function, and no other fact", async () => {
    await refuses("api", [fact(10), fact(1), fact(60), fact(95), fact(90)]);
    await allows("api", [fact(70, ', "payload": {}'), fact(74)]);
    const api = open("api");
    await appendOrders(api, 1, 3);
    const { rows } = await sql`select from log.fact where kind = 70`.execute(api);
    expect(rows).toHaveLength(6);
  });

  it("cannot put an event of a chain into the stage of the function", async () => {
    await refuses("api", [
      `${fact(70, ', "payload": {}')}; insert into pg_temp.staged (ord, kind, chain_id) values (1, 10, 1)`,
    ]);
  });

  it("reads log and projections and writes keys, accounts and budgets", async () => {
    await allows("api", [
      "select * from log.fact",
      `select * from ${schemaOf("sales")}.sale`,
      "select * from engine.checkpoint",
      "select log.retracted_blocks(5)",
      "insert into access.account (email, password, created_at) values ('a@example.com', 'x', now()) returning id",
      "delete from access.session",
      "update access.instant_key_turn set turn = turn where false",
      "delete from ops.order_budget",
    ]);
  });
});

describe("the jobs' role", () => {
  it("may not write the log, nor read accounts", async () => {
    await refuses("jobs", [
      ...logWrites,
      "select log.open_stage()",
      "select log.append_stage()",
      "select * from access.account",
      "select * from access.key",
      `update ${schemaOf("sales")}.sale set buyer = null`,
      "create schema mine",
      "create table public.mine ()",
      fact(10),
      fact(70),
      fact(96),
    ]);
    await allows("jobs", [fact(60), "create temporary table mine ()", "delete from rarity.token"]);
  });

  it("cannot have the function work on a stage of its own making, whose triggers would run as the owner", async () => {
    await refuses("jobs", [
      `create temporary table staged (kind smallint, identity bytea); ${fact(60)}`,
      `create temporary view staged as select 1 as kind; ${fact(60)}`,
    ]);
  });
});

describe("the console's role", () => {
  it("reads, pauses and appends what operators did, and nothing else", async () => {
    const others = logWrites.filter((one) => one !== "update ops.switch set is_paused = true");
    await refuses("console", [
      ...others,
      "select log.open_stage()",
      "select * from access.account",
      "select * from access.key",
      "select * from access.session",
      "delete from ops.switch",
      "update engine.checkpoint set position = 0",
      `update ${schemaOf("sales")}.sale set buyer = null`,
      "delete from ops.order_budget",
      "create table public.mine ()",
      "create schema mine",
      "create temporary table staged ()",
      ...[fact(10), fact(60), fact(70), fact(95)],
    ]);
    await allows("console", [
      "select * from log.fact",
      `select * from ${schemaOf("sales")}.sale`,
      "select * from access.minute",
      "select * from access.usage",
      "update ops.switch set is_paused = true",
      "delete from ops.sample",
      ...[fact(97, ', "payload": {}'), fact(98, ', "payload": {}')],
    ]);
  });

  it("alone appends what operators did", async () => {
    await refuses("jobs", [fact(97), fact(98)]);
    await refuses("api", [fact(97), fact(98)]);
  });
});

describe("the projector's role", () => {
  it("may not change the log but by its functions, nor read accounts", async () => {
    await refuses("projector", [...logWrites, "select * from access.account", fact(60), fact(70)]);
    await allows("projector", [fact(95)]);
  });

  it("appends events, applies and rebuilds, and what it swaps in is read by the API and the jobs", async () => {
    const projector = open("projector");
    await appendTrades(projector, 6, 8);
    await setBlocks(projector, "block_retracted", [block(1, 8)]);
    const targets = projections.map(targetOf);
    while ((await tick(projector, targets)).outcome === "moved");
    for (const one of projections.filter(({ name }) => name === "sales")) {
      await rebuild(projector, one, () => {}, bindViews);
    }

    const { rows } = await sql<{ sales: number }>`
      select count(*)::int as sales from sales.sale`.execute(open("api"));
    expect(rows).toEqual([{ sales: 7 }]);
    await allows("jobs", [
      `select * from ${schemaOf("sales")}.sale`,
      "select * from analytics.sales",
    ]);
    expect(await findWrongRights(database.db, roles)).toEqual([]);
  });
});

describe("the indexer's role", () => {
  it("has Ponder's schemas, which the projector reads, and nothing else", async () => {
    const indexer = open("indexer");
    await sql`create schema ponder_1_cccccccc`.execute(indexer);
    await sql`create table ponder_1_cccccccc.transfer (id text)`.execute(indexer);
    await allows("projector", ["select * from ponder_1_cccccccc.transfer"]);
    await refuses("projector", ["delete from ponder_1_cccccccc.transfer"]);
    await refuses("indexer", [
      ...logWrites,
      ...[
        `select * from ${schemaOf("sales")}.sale`,
        "select * from access.account",
        fact(60),
        fact(70),
      ],
      `create table ${schemaOf("sales")}.mine ()`,
    ]);
    await sql`drop schema ponder_1_cccccccc cascade`.execute(indexer);
  });

  it("appends what its proof of history finds missing, with the fact that says so", async () => {
    const { hash, number, timestamp } = block(1, 9);
    const transfer = {
      ...{ chainId: 1, source: "Erc721", name: "Transfer", address: addressOf(5) },
      ...{ blockNumber: number, blockHash: hash, blockTimestamp: timestamp },
      ...{ transactionHash: hash, transactionIndex: 0, logIndex: 3 },
      args: { from: addressOf(1), to: addressOf(2), tokenId: "7" },
      ...{ sender: null, target: null, calldataTail: null, transfers: null },
    };
    const observation = {
      ...({ kind: "history_repaired", chainId: 1, identity: hash } as const),
      ...{ recordedAt: new Date(), payload: { from: 9, to: 9 } },
    };
    const repairs = { wrong: [], dropped: [], missing: [transfer], coins: {} };
    const appended = await repairBlocks(open("indexer"), repairs, new Date(), observation);
    expect(appended).toBe(1);
    const { rows } = await sql<{ kind: number }>`
      select kind from log.fact order by position desc limit 2`.execute(database.db);
    expect(rows.map(({ kind }) => kind).toSorted()).toEqual(
      [factKind.erc721_transfer, factKind.history_repaired].toSorted(),
    );
  });
});

describe("a lock", () => {
  const lockers = ["owner", "indexer", "projector", "jobs"] as const;

  it.each(lockers)(
    "that the %s's role creates is taken by every other, with no right lacking",
    async (creator) => {
      const name = `first of ${creator}`;
      await withLock(open(creator), name, async () => {});
      for (const process of lockers) {
        await allows(process, [`lock table ${viewOf(name)} in exclusive mode`]);
      }
      for (const process of ["api", "console"] as const) {
        await refuses(process, [`lock table ${viewOf(name)} in exclusive mode`]);
      }
      expect(await findWrongRights(database.db, roles)).toEqual([]);
    },
  );
});

describe("op", () => {
  const processes = () => ({
    ...{ DATABASE_URL_INDEXER: urls.indexer, DATABASE_URL_PROJECTOR: urls.projector },
    ...{ DATABASE_URL_JOBS: urls.jobs, DATABASE_URL_API: urls.api },
    ...{ DATABASE_URL_CONSOLE: urls.console },
  });
  const environment = (addresses: Record<string, string> = processes()) => ({
    ...{ PATH: "/usr/bin:/bin", DATA_DIR: "/nonexistent", DATABASE_URL: urls.owner },
    ...addresses,
    ...{ FEE_RECIPIENT: "0x000000000000000000000000000000000000a063" },
    ...{ RPC_URL_1: "http://127.0.0.1:1", RPC_URL_33139: "http://127.0.0.1:1" },
  });
  const op = (...args: string[]) => opWith(processes(), ...args);
  const opWith = async (addresses: Record<string, string>, ...args: string[]) => {
    const { code, stdout, stderr } = await runOp(environment(addresses), ...args, "--json");
    if (stdout === "") throw new Error(stderr);
    return { code, content: JSON.parse(stdout) as Record<string, unknown> };
  };
  const faults = async () => {
    const { content } = await op("doctor");
    const findings = content.findings as { about: string; finding: string }[];
    return findings
      .filter(({ about }) => /^(role|analyst) /.test(about))
      .map(({ about, finding }) => `${about} ${finding}`);
  };

  it("rebuilds as the projector: the tables stay that role's", async () => {
    expect((await op("rebuild", "floors")).code).toBe(0);
    expect((await op("rollback", "floors")).code).toBe(0);
    expect((await op("verify", "floors")).code).toBe(0);
    expect(await faults()).toEqual([]);
  });

  it("doctor finds what was granted, revoked and made by hand, and roles grant corrects it without a superuser", async () => {
    const { db } = database;
    await sql.raw(`grant insert on log.fact to ${roles.api}`).execute(db);
    await sql.raw(`grant update on ops.switch to public`).execute(db);
    await sql.raw(`revoke select on sales.sale from ${roles.jobs}`).execute(db);
    await sql.raw(`grant execute on function log.append_stage() to ${roles.jobs}`).execute(db);
    await sql.raw(`alter table bids.bid owner to ${roles.owner}`).execute(db);

    expect(await faults()).toEqual(
      expect.arrayContaining([
        `role ${roles.api} may insert on log.fact`,
        `role ${roles.api} may update on ops.switch`,
        `role ${roles.jobs} may not select on ${schemaOf("sales")}.sale`,
        `role ${roles.jobs} may execute on log.append_stage()`,
        `role ${roles.projector} does not own ${schemaOf("bids")}.bid, which is ${roles.owner}'s`,
      ]),
    );
    const { code, content } = await op("roles", "grant");
    expect([code, content.remaining]).toEqual([0, []]);
    expect(await faults()).toEqual([]);

    await sql.raw(`alter role ${roles.api} superuser`).execute(db);
    expect((await op("roles", "grant")).code).toBe(1);
    expect(await faults()).toEqual([expect.stringContaining(`role ${roles.api} is a superuser`)]);
    await sql.raw(`alter role ${roles.api} nosuperuser`).execute(db);
  });

  it("roles sql prints what an administrator runs by hand, as often as he likes", async () => {
    await sql.raw(`grant insert on log.fact to ${roles.api}`).execute(database.db);
    const { stdout } = await runOp(environment(), "roles", "sql");
    expect(stdout).toContain(`"${roles.api}"`);
    expect(stdout).not.toContain("service_api");
    await runAsAdmin(stdout);
    await runAsAdmin(stdout);
    expect(await faults()).toEqual([]);
    await refuses("api", ["insert into log.fact (position, kind) values (1000, 10)"]);
  });

  it("works as one user again after the statements of the documentation, and roles grant parts them", async () => {
    const text = await readFile(resolve(import.meta.dirname, "../../../docs/operating.md"), "utf8");
    const [, statements = ""] = /To return to one user[^`]*```sql\n([^`]*)```/.exec(text) ?? [];
    expect(statements).not.toBe("");
    const former = await sql<{ name: string }>`
      select rolname as name from pg_roles where rolname like ${`${prefix}_%`}`.execute(
      database.db,
    );
    expect(former.rows).toHaveLength(6);
    const named = statements
      .replaceAll(/orders_(\w+)/g, `${prefix}_$1`)
      .replaceAll(/\borders\b/g, roles.owner)
      .replaceAll(/^drop role.*$/gm, "");
    await runAsAdmin(named);
    expect(await readDatabaseRoles(database.db)).toBeNull();
    const owned = await runAsAdmin(
      `select schemaname, tablename from pg_tables
       where tableowner in ('${roles.projector}', '${roles.indexer}') and schemaname !~ '^pg_temp'`,
    );
    expect(owned).toEqual([]);
    await refuses("api", ["select * from log.fact", "select * from access.account"]);
    expect((await opWith({}, "rebuild", "floors")).code).toBe(0);
    expect((await opWith({}, "rollback", "floors")).code).toBe(0);

    expect((await op("roles", "grant")).code).toBe(0);
    expect(await faults()).toEqual([]);
  });
});

it("the owner may migrate every table, those of projections and of Ponder too", async () => {
  await allows("owner", [
    "alter table log.fact add column note text",
    "create table ops.later (id int)",
    `create index on ${schemaOf("metadata")}.token (chain_id)`,
    "drop schema floors cascade",
    "select * from access.account",
  ]);
});

it("the owner appends what an operator decides", async () => {
  const owner = open("owner");
  const { appended } = await appendObservations(owner, [
    {
      kind: "fact_released",
      chainId: 1,
      identity: `0x${"cd".repeat(32)}`,
      recordedAt: new Date(0),
    },
  ]);
  expect(appended).toBe(1);
});

describe("functions that no reader needs", () => {
  const powers = [
    "select pg_advisory_lock(1)",
    "select pg_try_advisory_xact_lock(1, 2)",
    "select lo_create(0)",
    "select lo_from_bytea(0, 'a')",
    "select pg_notify('log', '1')",
    "select pg_logical_emit_message(false, 'a', 'b')",
    "select txid_current()",
    "select pg_export_snapshot()",
  ];

  it("are taken from everybody with the first analyst, also from the console and the API", async () => {
    await applyRights(database.db, roles);
    for (const statement of await readRevocations(database.db)) await runAsAdmin(statement);

    await refuses("console", powers);
    await refuses("api", powers);
    await allows("jobs", powers.slice(0, 2));
  });
});
