import { afterAll, beforeAll, expect, it } from "vitest";
import { readWebhook } from "#api/webhooks/stored-webhooks.ts";
import { operate } from "#test/support/database/operator.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { makeWebhook } from "./delivering.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database?.drop());

const op = (...args: string[]) => operate(database.url, "webhooks", ...args);

it("op webhooks lists the webhooks of all accounts, disables one and enables it", async () => {
  expect((await op("list")).out).toBe("there are no webhooks\n");
  const { id } = await makeWebhook(database.db, { url: "https://one.example.test/hooks" });
  const other = await makeWebhook(database.db, { url: "https://two.example.test/" });

  const disabled = await op("disable", `${id}`, "--json");
  expect([disabled.code, JSON.parse(disabled.out)]).toEqual([0, { id, isEnabled: false }]);
  expect(await readWebhook(database.db, { id })).toMatchObject({ disabledBy: "operator" });
  const { out } = await op("list");
  expect(out).toMatch(
    /^number +account +chain +delivery +state +after +address\n\d+ +hook\d+@example\.test +33139 +latest +disabled by operator \S+ +\d+-0 +https:\/\/one\.example\.test\/hooks\n\d+ +hook\d+@\S+ +33139 +latest +delivering +\d+-0 +https:\/\/two\.example\.test\/\n$/,
  );
  const listed = JSON.parse((await op("list", "--json")).out);
  expect(listed).toMatchObject({ webhooks: [{ id }, { id: other.id, disabledAt: null }] });
  expect(JSON.stringify(listed)).not.toContain("whsec_");

  expect((await op("enable", `${id}`)).out).toBe(`webhook ${id} is enabled\n`);
  expect(await readWebhook(database.db, { id })).toMatchObject({ disabledAt: null });
});

it("op webhooks says what it does not understand, and what is not there", async () => {
  expect(await op("disable", "999")).toMatchObject({ code: 1, words: "no such webhook\n" });
  expect((await op("enable", "one")).code).toBe(2);
  expect((await op("disable", "0")).code).toBe(2);
});
