import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Database } from "#projections/log/database.ts";
import { makeCheckpoints } from "#test/integration/feed/feed-stage.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { runsOf } from "#test/support/thoroughness.ts";
import { type Owner, openOwner, openWebhookDesk, type WebhookDesk } from "./webhook-desk.ts";

const origin = "http://127.0.0.1:9";
let database: TestDatabase;
let db: Database;
let api: WebhookDesk;
beforeAll(async () => {
  database = await createDatabase();
  db = database.db;
  await makeCheckpoints(db);
  api = await openWebhookDesk(database.url, [origin]);
});
afterAll(async () => {
  await api?.close();
  await database?.drop();
});

/** What an account has, by number. */
type Model = Map<string, object>;
type Party = { readonly owner: Owner; readonly model: Model };

const address = fc.constantFrom(null, `0x${"1".repeat(40)}`, `0x${"2".repeat(40)}`);
const types = fc.constantFrom(null, ["sale"], ["mint", "burn"], ["order_activated"]);
const filters = fc.record({ types, collection: address, wallet: address }, { requiredKeys: [] });
const state = fc.record(
  { isEnabled: fc.boolean(), after: fc.constantFrom("0-0") },
  { requiredKeys: [] },
);
const place = { who: fc.nat(1), which: fc.nat(4), filters, state };
const step = fc.record({
  ...place,
  does: fc.constantFrom("create", "create", "change", "change", "rotate", "delete"),
});
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

const unfiltered = { types: null, collection: null, wallet: null };

/** Does a step as one account, with any webhook: another's changes nothing. */
async function carryOut({ owner, model }: Party, webhookId: string, step: Step): Promise<void> {
  const one = `/v1/webhooks/${webhookId}`;
  const known = model.get(webhookId);
  const doing: Record<string, () => Promise<void>> = {
    async create() {
      const asked = { url: `${origin}/`, chainId: 33139, ...step.filters };
      const { status, data } = await owner.post("/v1/webhooks", asked);
      expect(status).toBe(model.size === 10 ? 409 : 201);
      if (status === 409) return;
      const { webhookId: made } = data as { webhookId: string };
      model.set(made, { webhookId: made, isEnabled: true, ...unfiltered, ...asked });
    },
    async change() {
      const asked = { ...step.filters, ...step.state };
      expect((await owner.post(one, asked)).status).toBe(known === undefined ? 404 : 200);
      if (known !== undefined) model.set(webhookId, { ...known, ...asked });
    },
    async rotate() {
      const { status } = await owner.post(`${one}/rotate-secret`);
      expect(status).toBe(known === undefined ? 404 : 201);
    },
    async delete() {
      expect((await owner.post(`${one}/delete`)).status).toBe(known === undefined ? 404 : 200);
      model.delete(webhookId);
    },
  };
  await doing[step.does]?.();
}

async function play(steps: readonly Step[]): Promise<void> {
  const parties: [Party, Party] = [
    { owner: await openOwner(db, api), model: new Map() },
    { owner: await openOwner(db, api), model: new Map() },
  ];
  for (const one of steps) {
    const all = parties.flatMap(({ model }) => [...model.keys()]);
    const webhookId = all[one.which % Math.max(1, all.length)] ?? "1000000";
    await carryOut(one.who === 0 ? parties[0] : parties[1], webhookId, one);
    for (const { owner, model } of parties) {
      const { data } = await owner.get("/v1/webhooks");
      expect(data).toMatchObject([...model.values()]);
      expect(data).toHaveLength(model.size);
    }
  }
}

it("after any changes by two accounts each has exactly what it asked for", async () => {
  const steps = fc.array(step, { minLength: 5, maxLength: 30 });
  await fc.assert(fc.asyncProperty(steps, play), { numRuns: runsOf(30, 6) });
});
