import { getHeapSpaceStatistics } from "node:v8";
import { sql } from "kysely";
import { openDatabase } from "#projections/log/database.ts";

// A process of its own, with --expose-gc: asks for 500 rows 300 times and prints how many bytes of old space that took
// without a full garbage collection.

const db = openDatabase({
  url: process.argv[2] ?? "",
  applicationName: "answers",
  max: 1,
  statementTimeoutMs: 30_000,
  prepares: true,
  onIdleError: () => {},
});

async function ask(times: number): Promise<void> {
  for (let count = 0; count < times; count += 1)
    await sql`select n, md5(n::text) as a, md5((n + 1)::text) as b from generate_series(1, 500) n`.execute(
      db,
    );
}

const oldBytes = () =>
  getHeapSpaceStatistics().find(({ space_name }) => space_name === "old_space")?.space_used_size ??
  Number.NaN;

await ask(20);
globalThis.gc?.();
const before = oldBytes();
await ask(300);
process.stdout.write(`${oldBytes() - before}\n`);
await db.destroy();
