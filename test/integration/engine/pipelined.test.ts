import { type RawBuilder, sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Database, openDatabase, type Session } from "#projections/log/database.ts";
import { pipelined, sendAhead } from "#projections/log/pipelined.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
  await sql`create table public.step (number integer)`.execute(database.db);
});
afterAll(() => database.drop());

describe.each([
  ["a connection that pipelines", true],
  ["one that does not", false],
] as const)("sendAhead on %s", (_, pipelines) => {
  let db: Database;
  beforeAll(() => {
    db = openDatabase({
      url: database.url,
      applicationName: "test",
      prepares: true,
      pipelines,
      onIdleError: () => {},
    });
  });
  afterAll(() => db.destroy());

  const inTransaction = <Result>(work: (session: Session) => Promise<Result>) =>
    db.transaction().execute(async (session) => await work(await pipelined(db, session)));
  const store = (number: number) => sql`
    insert into public.step select ${number} where ${number} = 1 + (select coalesce(max(number), 0) from public.step)`;
  const readSteps = async (session: Session) =>
    (await sql<{ number: number }>`select number from public.step order by number`.execute(session))
      .rows;
  const all = async (session: Session, statements: readonly RawBuilder<unknown>[]) => {
    for (const one of statements) await one.execute(session);
  };
  const undo = new Error("undo");

  it("carries statements out in the order in which they are made, before those that follow", async () => {
    const steps = Array.from({ length: 200 }, (_, index) => store(index + 1));
    const stored = inTransaction(async (session) => {
      await sendAhead(session, (ahead) => all(ahead, steps));
      expect(await readSteps(session)).toHaveLength(200);
      throw undo;
    });
    await expect(stored).rejects.toBe(undo);
  });

  it("throws the first failure, and the transaction ends without a trace", async () => {
    const failing = [store(1), sql`select 1 / 0`, sql`select from public.missing`, store(2)];
    await expect(
      inTransaction((session) => sendAhead(session, (ahead) => all(ahead, failing))),
    ).rejects.toThrow("division by zero");
    expect(await readSteps(db)).toEqual([]);
  });

  it("serves callers at the same time, each in its own order", async () => {
    const lists = [0, 1, 2].map((caller) =>
      Array.from(
        { length: 30 },
        (_, index) => sql`
        insert into public.step select ${caller * 100 + index + 1}
        where ${index} = (select count(*) from public.step where number / 100 = ${caller})`,
      ),
    );
    const stored = inTransaction(async (session) => {
      await Promise.all(lists.map((list) => sendAhead(session, (ahead) => all(ahead, list))));
      expect(await readSteps(session)).toHaveLength(90);
      throw undo;
    });
    await expect(stored).rejects.toBe(undo);
  });
});

it("an answer that was not waited for cannot be read", async () => {
  const db = openDatabase({
    url: database.url,
    applicationName: "test",
    pipelines: true,
    onIdleError: () => {},
  });
  const read = db.transaction().execute(async (transaction) => {
    const session = await pipelined(db, transaction);
    await sendAhead(session, async (ahead) => {
      const { rows } = await sql`select 1`.execute(ahead);
      rows.at(0);
    });
  });
  await expect(read).rejects.toThrow("its answer is not waited for");
  await db.destroy();
});
