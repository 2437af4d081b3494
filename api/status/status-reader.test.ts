import { pino } from "pino";
import { expect, it } from "vitest";
import { openDatabase } from "#projections/log/database.ts";
import { maxLagSeconds } from "./service-status.ts";
import { openStatusReader } from "./status-reader.ts";

it("says in our words why the database cannot be used", async () => {
  // Nothing listens on the discard port.
  const db = openDatabase({
    ...{ url: "postgres://reader:secret@127.0.0.1:9/market", applicationName: "status" },
    onIdleError: () => {},
  });
  const read = openStatusReader({
    ...{ db, now: () => new Date(), chains: [], projections: [] },
    ...{ logger: pino({ level: "silent" }), lateSeconds: maxLagSeconds, maxAgeMs: 0 },
  });
  const { failing } = await read();
  await db.destroy();
  expect(failing.filter(({ part }) => part === "database")).toEqual([
    { part: "database", message: "cannot be used: it refuses connections" },
  ]);
});
