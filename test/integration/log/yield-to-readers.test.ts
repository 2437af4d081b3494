import { spawn } from "node:child_process";
import { once } from "node:events";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import { backgroundShare } from "../../../api/background/background-share.ts";
import { yieldToReaders } from "../../../api/run/indexer/yield-to-readers.ts";
import { coreIndexer } from "../../../projections/log/indexer-id.ts";
import { storeCaughtUp } from "../../../projections/log/indexer-progress.ts";
import { createDatabase, type TestDatabase } from "../../support/database/postgres.ts";

const chainId = 1;
/** Computes for so long, then prints the part of the time in which it did. */
const computing = `
const ms = 1500;
const began = performance.now();
const before = process.cpuUsage();
process.send("computes");
while (performance.now() - began < ms);
const { user, system } = process.cpuUsage(before);
process.send((user + system) / 1000 / (performance.now() - began));`;

let database: TestDatabase;

beforeAll(async () => {
  database = await createDatabase();
  await sql`
    insert into ops.indexer (chain_id, name, ponder_schema, started_at)
    values (${chainId}, ${coreIndexer}, 'core', now())`.execute(database.db);
});
afterAll(() => database.drop());

/** The part of the time that a computing process runs beside `yieldToReaders`. */
async function partOfTime(): Promise<{ part: number; pauses: number }> {
  const child = spawn(process.execPath, ["--eval", computing], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const ending = new AbortController();
  try {
    await once(child, "message");
    let pauses = 0;
    const ponder = {
      pause() {
        pauses += 1;
        child.kill("SIGSTOP");
      },
      resume: () => void child.kill("SIGCONT"),
    };
    const yielding = yieldToReaders(database.db, chainId, ponder, () => false, ending.signal);
    const [part] = (await once(child, "message")) as [number];
    ending.abort();
    await yielding;
    return { part, pauses };
  } finally {
    child.kill("SIGKILL");
  }
}

it("leaves the processors to readers once the chain is served, and not before", async () => {
  expect((await partOfTime()).pauses).toBe(0);
  await storeCaughtUp(database.db, { chainId, indexer: coreIndexer });
  const { part } = await partOfTime();
  // This process may be late itself.
  expect(part).toBeLessThan(Math.min(1, backgroundShare) + 0.3);
}, 30_000);
