import { type RawBuilder, sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { allProjections } from "#projections/all.ts";
import { matchKey } from "#projections/engine/trait-keys.ts";
import type { Database } from "#projections/log/database.ts";
import {
  readTraits,
  type TraitsSlice,
  type TraitTypeRows,
} from "#projections/traits/read-traits.ts";
import { createProjection } from "../support/database/given.ts";
import { analyze } from "../support/database/plans.ts";
import { createDatabase, type TestDatabase } from "../support/database/postgres.ts";
import { feeRecipient } from "../support/orders/order-facts.ts";

/** As one contract had them. */
const values = 358_400;
const text = (of: string) => sql.raw(of);

/** Contracts that hold them differently: as SQL of a number `n` from 0. */
const contracts: [string, RawBuilder<unknown>, RawBuilder<unknown>][] = [
  ["one type of all values", text("'Fur'"), text("'value ' || lpad(n::text, 6, '0')")],
  ["a type for each value", text("'Type ' || lpad(n::text, 6, '0')"), text("'one'")],
  ["200 types of 1,792 values", text("'Type ' || n % 200"), text("'value ' || n / 200")],
  [
    "one value in ever other spellings",
    text("translate(lpad(n::bit(19)::text, 19), '01', 'aA')"),
    text("'one'"),
  ],
];

let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await createDatabase();
  ({ db } = database);
  for (const projection of allProjections({ feeRecipient })) await createProjection(db, projection);
  for (const [index, [, type, value]] of contracts.entries()) await seed(index + 1, type, value);
  await sql`vacuum analyze`.execute(db);
});
afterAll(() => database?.drop());

async function seed(contractId: number, type: RawBuilder<unknown>, value: RawBuilder<unknown>) {
  await sql`
    insert into traits.trait (
      contract_id, trait_key, match_key, type, type_key, value, is_number, is_numeric, tokens, live, listed, floor_wei,
      floor_position, floor_token)
    select ${contractId}::int, md5(n::text)::uuid, ${matchKey(sql`type`, sql`value`)}, type,
           lower(regexp_replace(type, '\\s+', '', 'g')), value, false, false, 1, 1, (n % 3 = 0)::int,
           case when n % 3 = 0 then 1000 + n % 100 end, case when n % 3 = 0 then n end, case when n % 3 = 0 then n end
    from (select n, ${type} as type, ${value} as value from generate_series(0, ${values - 1}) n) given`.execute(
    db,
  );
}

const now = new Date(1_700_000_000_000);
const first: TraitsSlice = { afterTypeKey: null };

async function slicesOf(contractId: number): Promise<TraitsSlice[]> {
  const { types, nextTypeKey } = await readTraits(db, [contractId], now, first);
  const [one] = types;
  if (one === undefined) throw new Error("there are types");
  const ofType: TraitsSlice[] = [null, one.next].map((after) => ({ typeKey: one.typeKey, after }));
  return [first, ...(nextTypeKey === null ? [] : [{ afterTypeKey: nextTypeKey }]), ...ofType];
}

/** Rows of traits that a read looks at; none by reading a table from end to end. */
async function countRowsRead(session: Database, work: () => Promise<unknown>): Promise<number> {
  const look = async () => {
    const { rows } = await sql<{ scans: bigint; rows: number }>`
      select sum(seq_scan)::bigint as scans, sum(seq_tup_read + idx_tup_fetch)::int as rows
      from pg_stat_xact_user_tables where relid = 'traits.trait'::regclass`.execute(session);
    return rows[0] ?? { scans: 0n, rows: 0 };
  };
  const before = await look();
  await work();
  const after = await look();
  expect(after.scans).toBe(before.scans);
  return after.rows - before.rows;
}

/** Times that a read is repeated: a busy machine delays most of them. */
const repetitions = 15;

/** What the server does for all statements of a read, of several times: the least and the median, and pages of 8 kB. */
async function serverCosts(read: (session: Database) => Promise<unknown>) {
  const times: number[] = [];
  let buffers = 0;
  for (let time = 0; time < repetitions; time += 1) {
    const plans = await analyze(db, read);
    times.push(plans.reduce((sum, { executionMs }) => sum + executionMs, 0));
    buffers = plans.reduce((sum, plan) => sum + plan.buffers, 0);
  }
  times.sort((one, other) => one - other);
  const [leastMs = 0] = times;
  return { leastMs, medianMs: times[Math.floor(repetitions / 2)] ?? 0, buffers };
}

describe(`the traits of a contract with ${values} values`, () => {
  it.each(contracts.map(([name], index) => [name, index + 1] as const))(
    "are read within bounds: %s",
    async (_name, contractId) => {
      for (const slice of await slicesOf(contractId)) {
        const { types } = await readTraits(db, [contractId], now, slice);
        expect(types.length).toBeLessThanOrEqual(100);
        for (const one of types) expect(one.values.length).toBeLessThanOrEqual(500);
        const rowsRead = await db
          .transaction()
          .execute((session) =>
            countRowsRead(session, () => readTraits(session, [contractId], now, slice)),
          );
        expect(rowsRead).toBeLessThan(10_000);
      }
    },
  );

  it.each(contracts.map(([name], index) => [name, index + 1] as const))(
    "are read with few pages: %s",
    async (name, contractId) => {
      for (const slice of await slicesOf(contractId)) {
        const { leastMs, medianMs, buffers } = await serverCosts((session) =>
          readTraits(session, [contractId], now, slice),
        );
        const figures = `${leastMs.toFixed(1)} to ${medianMs.toFixed(1)} ms, ${buffers} pages`;
        process.stderr.write(`traits, ${name}: ${figures}\n`);
        // Times belong to the machine and its load; on a quiet one the slowest of these takes 28 ms.
        expect(buffers).toBeLessThan(20_000);
      }
    },
  );

  it("are all found by walking the types", async () => {
    const types = new Set<string>();
    for (let slice: TraitsSlice | null = { afterTypeKey: null }; slice !== null; ) {
      const page = await readTraits(db, [3], now, slice);
      for (const { type } of page.types) types.add(type);
      slice = page.nextTypeKey === null ? null : { afterTypeKey: page.nextTypeKey };
    }
    expect(types.size).toBe(200);
  });

  it("are all found by walking the values of a type", async () => {
    const seen: string[] = [];
    for (let slice: TraitsSlice | null = { typeKey: "type7", after: null }; slice !== null; ) {
      const [page]: readonly TraitTypeRows[] = (await readTraits(db, [3], now, slice)).types;
      seen.push(...(page?.values ?? []).map(({ value }) => value));
      slice = page?.next ? { typeKey: "type7", after: page.next } : null;
    }
    expect(seen.length).toBe(1_792);
    expect(new Set(seen).size).toBe(1_792);
  });
});
