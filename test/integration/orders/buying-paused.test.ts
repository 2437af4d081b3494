import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { openResponseCache } from "#api/http/reads/response-cache.ts";
import { setPaused } from "#projections/log/operators.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { base, makeAccount, openNftDataApp } from "#test/support/http/nft-data-fixture.ts";
import { type ApiClient, documentedAt, serve } from "#test/support/http/openapi.ts";
import { idOf } from "#test/support/orders/order-reads-fixture.ts";
import { listings, nfts, openedAt, seedOrders } from "#test/support/orders/seeded-orders.ts";

let database: TestDatabase;
let api: ApiClient;
let v1: ApiClient;
let headers: Record<string, string>;
beforeAll(async () => {
  database = await createDatabase({ template: "projected" });
  await seedOrders(database.db);
  const now = () => new Date(Number(openedAt) * 1000);
  const app = openNftDataApp(database.db, { now, responseCache: openResponseCache({ now }) });
  api = await serve(app, { base, path: "/openapi.json" });
  v1 = await documentedAt(api.url, { base: "", path: "/v1/openapi.json" });
  const { email, clientKey } = await makeAccount(database.db);
  const login = await api.post(`${base}/api/auth/login`, { email, client_key: clientKey });
  const { token } = z.object({ data: z.object({ token: z.string() }) }).parse(login.body).data;
  headers = { authorization: `Bearer ${token}` };
});
afterAll(async () => {
  await api?.close();
  await database?.drop();
});

const punks = nfts.punks.address;
const [offered] = listings.filter(
  ({ contract, status, isBuyable }) =>
    contract === nfts.punks && status === "active" && isBuyable === true,
);
if (offered === undefined) throw new Error("no punk can be bought");

/** What shows a listing that can be bought, of both APIs. */
const paths = [
  "/v1/listings?collection=punks",
  `/v1/listings/${idOf(offered)}`,
  "/v1/collections",
  "/v1/collections/punks",
  "/v1/collections/punks/tokens",
  `/v1/collections/punks/tokens/${offered.tokenId}`,
  `/v1/wallets/${offered.maker}/tokens`,
  `${base}/api/collections`,
  `${base}/api/collections/${punks}`,
  `${base}/api/collections/${punks}/tokens`,
  `${base}/api/collections/${punks}/tokens/${offered.tokenId}`,
  `${base}/api/wallets/${offered.maker}/tokens`,
];
const shown = async () =>
  await Promise.all(paths.map(async (path) => [path, buyablesIn(await answerOf(path))] as const));

async function answerOf(path: string): Promise<unknown> {
  const { status, body } = await (path.startsWith(base) ? api.get(path, headers) : v1.get(path));
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
}

/** What an answer says of listings, wherever it says it, and whether it has a floor that can be bought. */
function buyablesIn(value: unknown): boolean[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) => {
    if (/^buyable_?via_?api$/i.test(name)) return [part === true];
    return /^floor_?buyable$/i.test(name) ? [part !== null] : buyablesIn(part);
  });
}

it("is shown of no listing while an operator pauses it", async () => {
  for (const [path, buyables] of await shown()) expect(buyables, path).toContain(true);
  // Lists and rows are kept from the second request on.
  await shown();
  await setPaused(database.db, "buying", true);
  await expect
    .poll(async () => JSON.stringify(await answerOf(paths[1] ?? "")))
    .toContain('"buyableViaApi":false');
  for (const [path, buyables] of await shown()) {
    expect(buyables.length, path).toBeGreaterThan(0);
    expect(buyables, path).not.toContain(true);
  }
  await setPaused(database.db, "buying", false);
  await expect
    .poll(async () => JSON.stringify(await answerOf(paths[1] ?? "")))
    .toContain('"buyableViaApi":true');
  for (const [path, buyables] of await shown()) expect(buyables, path).toContain(true);
});
