import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openSource, syncingAlone } from "#projections/analytics/copy-source.ts";
import { project } from "#test/support/database/given.ts";
import { appendTrades, environmentOf, operate, prepare } from "#test/support/database/operator.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { runOp } from "#test/support/processes/op.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase({ template: "projected" });
  await appendTrades(database.db, 1, 3);
  await project(database.db, await prepare(database.db));
});
afterAll(() => database?.drop());

it("compares parts by a digest that differs between a zero and a null", async () => {
  const source = await openSource(database.url);
  const digestOf = (value: string) =>
    source.snapshot((snapshot) =>
      snapshot.digests({
        name: "values",
        changes: "digest",
        key: ["id"],
        columns: [
          ["id", "o.id"],
          ["value", "o.value"],
        ],
        from: `(values (1, ${value})) o (id, value)`,
      }),
    );
  for (const type of ["float8", "numeric", "bigint", "boolean", "text", "jsonb"]) {
    const zero = { boolean: "false", text: "''", jsonb: "'0'" }[type] ?? "0";
    expect(await digestOf(`${zero}::${type}`)).not.toEqual(await digestOf(`null::${type}`));
  }
  await source.close();
});

describe("op analytics", () => {
  /** Nothing listens there. */
  const environment = { ANALYTICS_CLICKHOUSE_URL: "http://127.0.0.1:1/analytics" };
  const op = async (...args: string[]) => {
    const { code, stdout, stderr } = await runOp(
      { ...environmentOf(database.url), ...environment },
      ...args,
    );
    return { code, out: stdout, words: stderr };
  };

  it("sync needs a place in the settings", async () => {
    const refused = await operate(database.url, "analytics", "sync");
    expect([refused.code, refused.words]).toEqual([
      1,
      expect.stringContaining("ANALYTICS_CLICKHOUSE_URL is not set"),
    ]);
  });

  it("a sync that fails is in status and doctor", async () => {
    expect((await op("analytics", "sync")).code).toBe(1);
    expect(JSON.parse((await op("analytics", "status", "--json")).out)).toMatchObject({
      ...{ position: "0", syncedAt: null, failedAt: expect.anything() },
      error: expect.stringContaining("ECONNREFUSED"),
    });
    const problems = JSON.parse((await op("doctor", "--json")).out);
    expect(JSON.stringify(problems)).toContain("its last sync failed: connect ECONNREFUSED");
  });

  it("forget leaves nothing of a copy that is no longer used, and is refused for one that is", async () => {
    const refused = await op("analytics", "forget");
    expect([refused.code, refused.words]).toEqual([
      1,
      expect.stringContaining(
        "ANALYTICS_CLICKHOUSE_URL is set: remove it and restart the jobs first",
      ),
    ]);

    const forgotten = await operate(database.url, "analytics", "forget");
    expect([forgotten.code, forgotten.out]).toEqual([0, "the copy is forgotten\n"]);
    expect(JSON.parse((await op("analytics", "status", "--json")).out)).toBeNull();
    const again = await operate(database.url, "analytics", "forget");
    expect([again.code, again.out]).toEqual([0, "there was no copy\n"]);
  });

  it("sync is refused while another process syncs the copy", async () => {
    await syncingAlone({ db: database.db, lockDb: database.db }, async () => {
      const second = await op("analytics", "sync");
      expect([second.code, second.words]).toEqual([
        1,
        expect.stringContaining("another process syncs the copy now"),
      ]);
      return { position: 0n };
    });
  });
});
