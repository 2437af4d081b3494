import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

const program = fileURLToPath(new URL("../../support/database/answers-kept.ts", import.meta.url));

it("answers of the database are let go without a full garbage collection", async () => {
  const args = ["--expose-gc", "--max-semi-space-size=4", program, database.url];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  // All of the answers together are over 30 MB.
  expect(Number(stdout)).toBeLessThan(8_000_000);
});
