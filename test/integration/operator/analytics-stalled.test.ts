import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openClickhouseSink } from "#jobs/analytics/clickhouse-sink.ts";
import { sync } from "#jobs/analytics/sync.ts";
import { appendTrades, prepare } from "#test/support/database/operator.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";

let database: TestDatabase;
let server: Server;
let url: string;
/** Called when rows come. */
let onRows = () => {};
beforeAll(async () => {
  database = await createDatabase({ template: "projected" });
  await appendTrades(database.db, 1, 5);
  await prepare(database.db);
  // It has nothing, and takes rows without ever saying so.
  server = createServer((request, response) => {
    if (request.url?.includes("rows_")) return onRows();
    request.resume().on("end", () => response.end());
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/analytics`;
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await database.drop();
});

const late = (ms: number) => new Promise<"late">((resolve) => setTimeout(resolve, ms, "late"));

async function countSnapshots(): Promise<number> {
  const { rows } = await sql`
    select from pg_stat_activity
    where application_name = 'analytics sync' and datname = current_database()`.execute(
    database.db,
  );
  return rows.length;
}

describe("a sync to a ClickHouse that does not answer", () => {
  it("ends with the process that makes it, and so does its snapshot", async () => {
    const ending = new AbortController();
    const reached = new Promise<void>((resolve) => {
      onRows = resolve;
    });
    const sink = openClickhouseSink(url, { signal: ending.signal });
    const syncing = sync(database.url, sink, { signal: ending.signal });
    await reached;
    expect(await countSnapshots()).toBe(1);
    ending.abort(new Error("the service stops"));

    await expect(Promise.race([syncing, late(20_000)])).rejects.toThrow("the service stops");
    await expect.poll(countSnapshots).toBe(0);
    await sink.close();
  });

  it("fails where nothing goes on, and leaves no snapshot", async () => {
    const sink = openClickhouseSink(url, { stalledMs: 2_000 });
    const syncing = sync(database.url, sink);

    await expect(Promise.race([syncing, late(20_000)])).rejects.toThrow(
      "ClickHouse took no rows and gave no answer for 2 s",
    );
    await expect.poll(countSnapshots).toBe(0);
    await sink.close();
  });
});
