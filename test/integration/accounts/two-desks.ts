import { afterAll, beforeAll, beforeEach } from "vitest";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { type Desk, openDesk } from "./accounts-fixture.ts";

export type TwoDesks = {
  database: TestDatabase;
  one: Desk;
  other: Desk;
  /** What both take for the time. */
  clock: Date;
  /** The start plus `ms`. */
  later(ms: number): Date;
};

/** Two processes on one database for all tests of a file. The clock starts anew for each test. */
export function useTwoDesks(start: Date, baseUrl = "http://127.0.0.1"): TwoDesks {
  const desks = { later: (ms: number) => new Date(start.getTime() + ms) } as TwoDesks;
  beforeAll(async () => {
    desks.database = await createDatabase();
    const options = { databaseUrl: desks.database.url, clock: () => desks.clock, baseUrl };
    [desks.one, desks.other] = await Promise.all([openDesk(options), openDesk(options)]);
  });
  beforeEach(() => {
    desks.clock = start;
  });
  afterAll(async () => {
    await Promise.all([desks.one?.close(), desks.other?.close()]);
    await desks.database?.drop();
  });
  return desks;
}
