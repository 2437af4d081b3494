import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bindViews } from "#projections/analytics/bind-views.ts";
import { rebuild } from "#projections/engine/rebuild.ts";
import { schemaOf } from "#projections/log/versions.ts";
import { askDuckdb } from "#test/support/database/analytics-engines.ts";
import { project } from "#test/support/database/given.ts";
import {
  appendOrders,
  appendTrades,
  operate,
  prepare,
  projections,
} from "#test/support/database/operator.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";

const role = `analyst_${process.pid}`;
const limited = `limited_${process.pid}`;
const newcomer = `newcomer_${process.pid}`;
const password = "correct-horse-battery";

let database: TestDatabase;
let folder: string;
beforeAll(async () => {
  database = await createDatabase({ template: "projected" });
  folder = await mkdtemp(join(tmpdir(), "analysts-"));
  await writeFile(join(folder, "password"), `${password}\n`);
  await appendTrades(database.db, 1, 40);
  await appendOrders(database.db, 30, 40);
  await project(database.db, await prepare(database.db));
});
afterAll(async () => {
  for (const one of [role, limited, newcomer]) {
    await sql`drop owned by ${sql.id(one)}`.execute(database.db).catch(() => {});
    await sql`drop role if exists ${sql.id(one)}`.execute(database.db).catch(() => {});
  }
  await rm(folder, { recursive: true, force: true });
  await database.drop();
});

const grant = (...args: string[]) => operate(database.url, "analysts", "grant", ...args);

/** What statements of the role's end in: its rows, or the code of its error. */
async function asAnalyst(statement: string): Promise<unknown> {
  const url = new URL(database.url);
  url.username = role;
  url.password = password;
  const client = new pg.Client({ connectionString: url.href });
  try {
    await client.connect();
    let rows: unknown[] = [];
    for (const one of statement.split("; ")) rows = (await client.query(one)).rows;
    return rows;
  } catch (error) {
    return error instanceof Error && "code" in error ? error.code : String(error);
  } finally {
    await client.end();
  }
}

describe("op analysts", () => {
  it("grant without a password file makes one, and the address that it prints works as it is", async () => {
    const { code, out: words } = await grant(newcomer);
    expect(code).toBe(0);
    const address = /^psql '([^']+)'$/m.exec(words)?.[1];
    const client = new pg.Client({ connectionString: address });
    await client.connect();
    const { rows } = await client.query("select count(*)::int as sales from sales");
    expect(rows).toEqual([{ sales: 40 }]);
    await client.end();
    const again = await grant(newcomer);
    expect(again.out).toContain("its password is as before");
    const still = new pg.Client({ connectionString: address });
    await still.connect();
    await still.end();
  });

  it("grant creates a role that signs in with its password and reads the views; a second grant changes nothing", async () => {
    const made = await grant(role, "--password-file", join(folder, "password"), "--json");
    const again = await grant(role, "--timeout", "2", "--json");

    expect([made.code, JSON.parse(made.out)]).toEqual([
      0,
      {
        ...{ role, wasMade: true, alsoSees: [], stillMay: [] },
        url: expect.stringContaining(`//${role}:${password}@`),
      },
    ]);
    expect([again.code, JSON.parse(again.out)]).toEqual([
      0,
      {
        ...{ role, wasMade: false, alsoSees: [], stillMay: [] },
        url: expect.stringContaining(`//${role}@`),
      },
    ]);
    expect(await asAnalyst("select count(*) from sales")).toEqual([{ count: "40" }]);
    expect(await asAnalyst("select count(*) from analytics.tokens")).toEqual([{ count: "40" }]);
  });

  it("grants only reading, only the views, and with a time limit", async () => {
    const refused = { denied: "42501", readOnly: "25006", timeout: "57014" };
    const outcomes: [string, string][] = [
      [`select * from ${schemaOf("sales")}.sale`, refused.denied],
      ["select * from log.fact", refused.denied],
      ["select * from ops.switch", refused.denied],
      ["set default_transaction_read_only = off; create table analytics.mine ()", refused.denied],
      [
        `set default_transaction_read_only = off; delete from ${schemaOf("sales")}.sale`,
        refused.denied,
      ],
      ["set default_transaction_read_only = off; create table public.mine ()", refused.denied],
      ["set default_transaction_read_only = off; create temporary table mine ()", refused.denied],
      ["create table analytics.mine ()", refused.readOnly],
      ["select pg_sleep(10)", refused.timeout],
    ];
    for (const [statement, code] of outcomes) {
      expect([statement, await asAnalyst(statement)]).toEqual([statement, code]);
    }
  });

  it("keeps the grants of the role when tables are rebuilt", async () => {
    for (const projection of projections.filter(({ name }) => name === "sales")) {
      await rebuild(database.db, projection, () => {}, bindViews);
    }
    expect(await asAnalyst("select count(*) from sales")).toEqual([{ count: "40" }]);
  });

  it("revoke removes access to the views, once", async () => {
    const outcomes = [
      await operate(database.url, "analysts", "revoke", role, "--json"),
      await operate(database.url, "analysts", "revoke", role, "--json"),
    ];

    expect(outcomes.map(({ out }) => JSON.parse(out))).toEqual([
      { role, hasChanged: true },
      { role, hasChanged: false },
    ]);
    expect(await asAnalyst("select count(*) from analytics.sales")).toBe("42501");
  });

  it("prints the statements for an administrator where it may not create roles, and changes nothing", async () => {
    await sql
      .raw(`create role ${limited} login password '${password}' in role pg_read_all_data`)
      .execute(database.db);
    const url = new URL(database.url);
    url.username = limited;
    url.password = password;
    const { code, out, words } = await operate(
      url.href,
      "analysts",
      "grant",
      "someone_else",
      "--password-file",
      join(folder, "password"),
    );

    expect([code, words]).toEqual([1, expect.stringContaining("an administrator must run")]);
    expect(out).toContain('create role "someone_else" login');
    expect(out).toContain('grant select on all tables in schema analytics to "someone_else";');
    expect(out).not.toContain("SCRAM");
  });

  it("refuses invalid arguments, and roles with more access", async () => {
    const outcomes = await Promise.all([
      grant("Robert'); drop"),
      grant("pg_monitor"),
      grant(role, "--timeout", "0"),
      grant(role, "--password-file", join(folder, "absent")),
      grant(new URL(database.url).username),
    ]);
    expect(outcomes.map(({ code }) => code)).toEqual([2, 2, 2, 2, 1]);
  });
});

describe("op export", () => {
  const out = (name: string) => join(folder, name);
  const lines = async (name: string) =>
    (await readFile(out(name), "utf8")).split("\r\n").slice(0, -1);

  it("writes CSV with a header, every row once, the same each time", async () => {
    for (const [what, rows] of [
      ["sales", 40],
      ["transfers", 80],
      ["listings", 11],
    ] as const) {
      const file = await operate(database.url, "export", what, "--out", out(`${what}.csv`));
      const piped = await operate(database.url, "export", what, "--format", "csv");

      expect([file.code, file.words]).toEqual([0, `${rows} rows in ${out(`${what}.csv`)}\n`]);
      const [header = "", ...found] = await lines(`${what}.csv`);
      const { rows: columns } = await sql<{ name: string }>`
        select attname as name from pg_attribute
        where attrelid = to_regclass(${`analytics.${what}`}) and attnum > 0 order by attnum`.execute(
        database.db,
      );
      expect(header.split(",")).toEqual(columns.map(({ name }) => name));
      expect([found.length, new Set(found).size]).toEqual([rows, rows]);
      expect(piped.out).toBe(await readFile(out(`${what}.csv`), "utf8"));
    }
  });

  it("is read back by PostgreSQL as the rows it was written from", async () => {
    await operate(database.url, "export", "sales", "--out", out("back.csv"));
    const text = await readFile(out("back.csv"), "utf8");
    await database.db.transaction().execute(async (session) => {
      await sql`create temporary table back on commit drop as select * from analytics.sales limit 0`.execute(
        session,
      );
      const [header = "", ...rows] = text.split("\r\n").slice(0, -1);
      const columns = header.split(",");
      for (const row of rows) {
        // Only the fees hold a comma or a quote.
        const values = [...row.matchAll(/("(?:[^"]|"")*"|[^",]*)(?:,|$)/g)]
          .slice(0, columns.length)
          .map(([, cell = ""]) =>
            cell === "" ? "null" : `'${cell.replace(/^"|"$/g, "").replaceAll('""', '"')}'`,
          );
        await sql.raw(`insert into back values (${values.join(", ")})`).execute(session);
      }
      const { rows: differing } = await sql`
        (select * from back except select * from analytics.sales) union all (select * from analytics.sales except select * from back)`.execute(
        session,
      );
      expect(differing).toEqual([]);
    });
  });

  it("writes the same rows as Parquet, in the columns' own types", async () => {
    for (const what of ["sales", "transfers", "listings"] as const) {
      const path = out(`${what}.parquet`);
      const { code } = await operate(
        database.url,
        ...["export", what, "--format", "parquet", "--out", path],
      );
      const { rows } = await sql<{ row: Record<string, string | null> }>`
        select (select jsonb_object_agg(key, value) from jsonb_each_text(to_jsonb(o))) as row
        from ${sql.table(`analytics.${what}`)} o`.execute(database.db);
      const read = await askDuckdb(`from '${path}'`);

      expect([code, read.length]).toEqual([0, rows.length]);
      expect(read.length).toBeGreaterThan(10);
      const lineOf = (row: Record<string, unknown>) =>
        JSON.stringify(
          Object.keys(row)
            .filter((name) => name in (rows[0]?.row ?? {}))
            .sort()
            .map((name) => [name, asWritten(name, row)]),
        );
      expect(read.map(lineOf).sort()).toEqual(rows.map(({ row }) => lineOf(row)).sort());
    }
  });

  it("can be limited to a period and a chain", async () => {
    const [since, until] = [1_700_000_000 + 10 * 12, 1_700_000_000 + 20 * 12].map((at) =>
      new Date(at * 1000).toISOString(),
    );
    const some = await operate(
      database.url,
      "export",
      "sales",
      "--since",
      since ?? "",
      "--until",
      until ?? "",
      "--chain",
      "1",
    );
    const none = await operate(database.url, "export", "sales", "--chain", "33139", "--json");

    expect(some.out.split("\r\n").length - 2).toBe(10);
    expect(JSON.parse(none.words)).toEqual({ rows: 0 });
  });

  it("refuses invalid arguments, and leaves no partial file behind", async () => {
    const outcomes = await Promise.all([
      operate(database.url, "export", "sales", "--format", "xml"),
      operate(database.url, "export", "secrets"),
      operate(database.url, "export", "sales", "--since", "yesterday"),
      operate(database.url, "export", "sales", "--chain", "5"),
      operate(database.url, "export", "sales", "--out", join(folder, "absent", "sales.csv")),
    ]);
    expect(outcomes.map(({ code }) => code)).toEqual([2, 2, 2, 2, 1]);
    expect(outcomes[0]?.words).toContain("csv, parquet");
  });
});

/** A value of both as one text: a time to the millisecond, a number without its last zeros, a list as JSON. */
function asWritten(name: string, row: Record<string, unknown>): string | null {
  const value = row[name] ?? row[`${name}_text`] ?? null;
  if (value === null) return null;
  if (name === "fees") {
    const list = (typeof value === "string" ? JSON.parse(value) : value) as Record<
      string,
      unknown
    >[];
    return JSON.stringify(
      list.map(({ recipient, wei, bps, kind }) => [recipient, `${wei}`, Number(bps), kind]),
    );
  }
  if (/_(at|timestamp)$/.test(name)) {
    return new Date(`${value}`.replace(" ", "T").replace(/\+00$/, "Z")).toISOString();
  }
  return /^-?\d+\.\d+$/.test(`${value}`) ? `${value}`.replace(/\.?0+$/, "") : `${value}`;
}
