import { afterAll, expect, it } from "vitest";
import { createDatabase } from "#test/support/database/postgres.ts";
import { openTestMarket } from "#test/support/orders/test-market.ts";

const database = await createDatabase();
afterAll(() => database.drop());

it("a position is a caller's once the projections were waited for, and nobody else's before", async () => {
  const waiting = new Map<bigint, (isReached: boolean) => void>();
  const market = openTestMarket(
    database.db,
    {},
    (position) => new Promise((resolve) => waiting.set(position, resolve)),
  );
  const [first, second] = [market.waitUntilProjected(7n), market.waitUntilProjected(9n)];
  expect(market.writtenPosition()).toBe(0n);

  waiting.get(7n)?.(true);
  expect(await first).toBe(true);
  expect(market.writtenPosition()).toBe(7n);

  // After the deadline the caller gets it all the same.
  waiting.get(9n)?.(false);
  expect(await second).toBe(false);
  expect(market.writtenPosition()).toBe(9n);
});
