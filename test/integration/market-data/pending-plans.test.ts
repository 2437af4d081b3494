import { sql } from "kysely";
import { afterAll, expect, it } from "vitest";
import { firstTurns, selectDue, type Turns } from "#jobs/metadata/refresh-metadata.ts";
import { openDatabase } from "#projections/log/database.ts";
import { schemaOf } from "#projections/log/versions.ts";
import { createDatabase } from "#test/support/database/postgres.ts";

const { db, url, drop } = await createDatabase({ template: "projected" });
/** One connection, which keeps its plans. */
const job = openDatabase({
  ...{ url, applicationName: "pending plans", max: 1, prepares: true, pipelines: true },
  onIdleError: () => {},
});
afterAll(async () => {
  await job.destroy();
  await drop();
});

const [CONTRACTS, TOKENS, PASSES] = [3_000, 60, 12];
/** What is selected, and what is paused or due of the same contracts; of 240,000. */
const FEW_ROWS = 1_500;

async function pass(index: number, turns: Turns = firstTurns()): Promise<number> {
  const paused = index % 2 === 0 ? [] : [1, index];
  const filter = { chainId: 1, now: new Date(0), pausedContractIds: paused };
  return (await selectDue(job, filter, turns)).length;
}

/** How often each statement was planned for its values, and whether for any. */
async function plansOfPasses(): Promise<string[]> {
  for (let index = 0; index < PASSES; index += 1) await pass(index);
  const { rows } = await sql<{ plans: string }>`
    select concat(custom_plans, ' ', generic_plans > 0) as plans from pg_prepared_statements
    where statement ~ 'metadata\\w*\\.'`.execute(job);
  return rows.map(({ plans }) => plans);
}

/** Rows of the metadata's tables that a pass reads. */
async function rowsOfPass(): Promise<number> {
  const counted = async () => {
    await sql`select pg_stat_force_next_flush()`.execute(job);
    const { rows } = await sql<{ read: bigint }>`
      select sum(idx_tup_fetch + seq_tup_read)::bigint as read from pg_stat_user_tables
      where schemaname = ${schemaOf("metadata")}`.execute(job);
    return Number(rows[0]?.read);
  };
  const before = await counted();
  expect(await pass(3)).toBeGreaterThan(32);
  return (await counted()) - before;
}

it("what is pending is selected by statements planned once, however much it is", async () => {
  const once = ["0 t", "0 t", "0 t"];
  expect(await plansOfPasses()).toEqual(once);

  await sql`
    insert into log.contract (chain_id, address)
    select 1, substr(sha256(n::text::bytea), 1, 20) from generate_series(1, ${CONTRACTS}::int) n`.execute(
    db,
  );
  await sql`
    insert into metadata.pending_token
    select 1, c, t from generate_series(1, ${CONTRACTS}::int) c, generate_series(1, ${TOKENS}::int) t`.execute(
    db,
  );
  await sql`
    insert into metadata.pending_contract select 1, c from generate_series(1, ${CONTRACTS}::int) c`.execute(
    db,
  );
  await sql`
    insert into metadata.token
    select c, 1000 + t, 0, 'ok', null, null, null, null, null, null, '{}', null, to_timestamp(0), 1, 0, 0, to_timestamp(t * 600 - 3600)
    from generate_series(1, ${CONTRACTS}::int) c, generate_series(1, 20) t`.execute(db);
  expect(await rowsOfPass()).toBeLessThan(FEW_ROWS);

  await sql`vacuum analyze`.execute(db);
  expect(await rowsOfPass()).toBeLessThan(FEW_ROWS);
  expect(await plansOfPasses()).toEqual(once);
});
