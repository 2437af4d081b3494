import { sql } from "kysely";
import { pino } from "pino";
import { openLimiter } from "#api/keys/limiter.ts";
import { createPermanentKey } from "#api/keys/stored-keys.ts";
import type { Database } from "#projections/log/database.ts";
import { type Figure, percentileFigures } from "./figure.ts";
import { withDatabase } from "./server.ts";

const storedKeys = 100_000;
const callers = 100;
const requests = 5_000;
const warmUp = 200;
const unreachable = 1_000_000;

/** The cost of rate limiting per request, sequentially: without a key, and with an account's key. */
export function run(): Promise<Figure[]> {
  return withDatabase(async (db) => {
    const keys = await makeKeys(db);
    const limiter = openLimiter({
      db,
      limits: { keyless: unreachable, instant: unreachable, permanent: unreachable },
      logger: pino({ level: "warn" }),
      onUse: () => {},
    });
    const durationsOf = async (keyOf: (index: number) => string | undefined) => {
      const durations: number[] = [];
      for (let index = 0; index < warmUp + requests; index += 1) {
        const startedAt = performance.now();
        const key = keyOf(index);
        const admission = await limiter.admit({
          ip: null,
          address: `192.0.2.${index % callers}`,
          key,
        });
        if ("rejected" in admission) throw new Error(admission.message);
        if (index >= warmUp) durations.push(performance.now() - startedAt);
      }
      return durations;
    };
    const size = `${requests} requests of ${callers} callers, ${storedKeys} keys`;
    const percentiles = [
      { percent: 50, goalMs: 0.5 },
      { percent: 99, goalMs: null },
    ];
    const keyless = await durationsOf(() => undefined);
    const keyed = await durationsOf((index) => keys[index % callers]);
    return [
      ...percentileFigures("limiter, without a key", keyless, percentiles, size),
      ...percentileFigures("limiter, with an account's key", keyed, percentiles, size),
    ];
  });
}

async function makeKeys(db: Database): Promise<string[]> {
  await sql`
    insert into access.account (email, password, created_at)
    select 'user' || n || '@example.test', '', now() from generate_series(1, ${storedKeys / 10}::int) n`.execute(
    db,
  );
  await sql`
    insert into access.key (hash, type, name, ending, created_at, account_id)
    select sha256(int8send(n)), 'permanent', 'bench', '', now(), 1 + n % ${storedKeys / 10}::int
    from generate_series(1, ${storedKeys}::int) n`.execute(db);
  const keys: string[] = [];
  for (let accountId = 1; accountId <= callers; accountId += 1) {
    const { key } = await createPermanentKey(db, { name: "bench", perMinute: null, accountId });
    keys.push(key);
  }
  await sql`vacuum analyze access.key, access.account`.execute(db);
  return keys;
}
