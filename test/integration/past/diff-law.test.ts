import { sql } from "kysely";
import type { Address } from "viem";
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { collectionsProjection } from "#projections/collections/collections.ts";
import type { Database } from "#projections/log/database.ts";
import { salesProjection } from "#projections/sales/sales.ts";
import { ownershipProjection } from "#projections/tokens/ownership.ts";
import { readTokenHolders } from "#projections/tokens/read-holders.ts";
import { readToken } from "#projections/tokens/read-token.ts";
import { readWalletTokens } from "#projections/tokens/read-wallet-tokens.ts";
import { type Random, randomFrom } from "#test/simulation/random.ts";
import { openNftDataApp } from "#test/support/http/nft-data-fixture.ts";
import { type ApiClient, documentedAt, serve } from "#test/support/http/openapi.ts";
import { asFileRows, readParquetPages } from "#test/support/http/parquet-pages.ts";
import {
  historyContracts,
  historyHeights,
  historyPeople,
  playHistory,
  stopAt,
} from "#test/support/market-data/played-history.ts";
import { feeRecipient } from "#test/support/orders/order-facts.ts";
import { openProjectedLog } from "#test/support/orders/projected-log.ts";
import { seedsOf } from "#test/support/thoroughness.ts";

const projections = [salesProjection({ feeRecipient }), ownershipProjection, collectionsProjection];
const live = await openProjectedLog(projections);
const stopped = await openProjectedLog(projections);
let served: ApiClient;
let api: ApiClient;
beforeAll(async () => {
  await live.clear();
  served = await serve(openNftDataApp(live.db, {}));
  api = await documentedAt(served.url, { base: "", path: "/v1/openapi.json" });
});
afterAll(async () => {
  await served?.close();
  await live.drop();
  await stopped.drop();
});

/** Units by `contract id holder`, and by `wallet contract id`: what is not held is not in it. */
type State = { tokens: Map<string, bigint>; wallets: Map<string, bigint> };

const dead = ["0x000000000000000000000000000000000000dead", `0x${"0".repeat(40)}`];

/** What the rows of a database say that was stopped at the block. */
async function stateAt(height: number, kept: readonly string[]): Promise<State> {
  await stopAt(stopped, height, kept);
  const ids = await contractIds(stopped.db);
  return { tokens: await tokensNow(ids), wallets: await walletsNow(ids) };
}

async function tokensNow(ids: ReadonlyMap<Address, number>): Promise<State["tokens"]> {
  const tokens: State["tokens"] = new Map();
  const places = [...ids].flatMap(([contract, id]) =>
    Array.from({ length: 12 }, (_, at) => ({ contract, id, tokenId: BigInt(at + 1) })),
  );
  for (const { contract, id, tokenId } of places)
    for (const [owner, units] of await holdersOf(stopped.db, id, tokenId))
      if (!dead.includes(owner)) tokens.set(`${contract} ${tokenId} ${owner}`, units);
  return tokens;
}

async function walletsNow(ids: ReadonlyMap<Address, number>): Promise<State["wallets"]> {
  const wallets: State["wallets"] = new Map();
  const addresses = new Map([...ids].map(([address, id]) => [id, address]));
  for (const wallet of historyPeople) {
    const filter = { chainId: 1, wallet, contractIds: null };
    for (const one of await readWalletTokens(stopped.db, filter, { limit: 1_000, after: null }))
      wallets.set(nameHeld(wallet, { ...one, contract: addresses.get(one.contractId) }), one.units);
  }
  return wallets;
}

const nameHeld = (
  wallet: Address,
  one: { contract: string | undefined; tokenId: unknown; standard: unknown },
) => `${wallet} ${one.contract} ${one.tokenId} ${`${one.standard}`.replace("erc", "")}`;

async function contractIds(db: Database): Promise<Map<Address, number>> {
  const { rows } = await sql<{ address: Address; id: number }>`
    select address, contract_id as id from log.contract`.execute(db);
  return new Map(rows.map(({ address, id }) => [address, id]));
}

async function holdersOf(db: Database, contractId: number, tokenId: bigint) {
  const token = await readToken(db, [contractId], tokenId);
  if (token === null) return [];
  if (token.standard === 721) return token.owner === null ? [] : [[token.owner, 1n] as const];
  const held = await readTokenHolders(db, [contractId], tokenId, { limit: 100 });
  return held.map(({ owner, units }) => [owner, units] as const);
}

const TokenRows = z.array(
  z.object({
    contract: z.string(),
    tokenId: z.string(),
    change: z.enum(["minted", "burned", "moved"]).nullable(),
    ownerBefore: z.string().nullable(),
    ownerAfter: z.string().nullable(),
    holders: z.array(
      z.object({ address: z.string(), unitsBefore: z.string(), unitsAfter: z.string() }),
    ),
  }),
);
const WalletRows = z.array(
  z.object({
    contract: z.string(),
    tokenId: z.string(),
    standard: z.string(),
    unitsBefore: z.string(),
    unitsAfter: z.string(),
  }),
);

const Page = z.object({
  data: z.unknown(),
  meta: z.looseObject({ next_cursor: z.string().nullable() }),
});

/** All pages of a diff, which are the same as Parquet files. */
async function walk<Rows extends z.ZodArray>(path: string, rows: Rows, perPage: number) {
  const found: z.output<Rows>[number][] = [];
  const whole: Record<string, unknown>[] = [];
  for (let more = ""; ; ) {
    const { status, body } = await api.get(`${path}&per_page=${perPage}${more}`);
    expect([path, status, status === 200 ? "" : body]).toEqual([path, 200, ""]);
    const answer = Page.parse(body);
    const data = rows.parse(answer.data);
    expect(data.length).toBeLessThanOrEqual(perPage);
    found.push(...data);
    whole.push(...z.array(z.record(z.string(), z.unknown())).parse(answer.data));
    if (answer.meta.next_cursor === null) break;
    more = `&cursor=${answer.meta.next_cursor}`;
  }
  const files = await readParquetPages(`${served.url}${path}&per_page=${perPage}&format=parquet`);
  expect([path, files]).toEqual([path, asFileRows(whole)]);
  return found;
}

/** Sets what a diff says, which must be of what is there. */
function apply(state: Map<string, bigint>, name: string, before: string, after: string): void {
  expect([name, `${state.get(name) ?? 0n}`]).toEqual([name, before]);
  expect(before).not.toBe(after);
  if (after === "0") state.delete(name);
  else state.set(name, BigInt(after));
}

function applyToken(
  tokens: Map<string, bigint>,
  contract: string,
  { tokenId, change, holders }: z.output<typeof TokenRows>[number],
): void {
  const isHeld = () => [...tokens.keys()].some((one) => one.startsWith(`${contract} ${tokenId} `));
  const was = isHeld();
  for (const { address, unitsBefore, unitsAfter } of holders)
    apply(tokens, `${contract} ${tokenId} ${address}`, unitsBefore, unitsAfter);
  const is = isHeld();
  expect([tokenId, change, was, is]).toEqual([tokenId, was && is ? "moved" : change, was, is]);
  expect([was, is]).toEqual([change !== "minted", change !== "burned"]);
}

async function compareTokens(before: State, after: State, span: string, perPage: number) {
  const known = await contractIds(live.db);
  const tokens = new Map(before.tokens);
  for (const contract of historyContracts.filter((one) => known.has(one))) {
    const rows = await walk(
      `/v1/collections/${contract}/diff?chainId=1&${span}`,
      TokenRows,
      perPage,
    );
    for (const row of rows) applyToken(tokens, contract, row);
  }
  expect(sorted(tokens)).toEqual(sorted(after.tokens));
}

async function compareWallets(before: State, after: State, span: string, perPage: number) {
  const wallets = new Map(before.wallets);
  for (const wallet of historyPeople) {
    const rows = await walk(`/v1/wallets/${wallet}/diff?chainId=1&${span}`, WalletRows, perPage);
    for (const { unitsBefore, unitsAfter, ...one } of rows)
      apply(wallets, nameHeld(wallet, one), unitsBefore, unitsAfter);
  }
  expect(sorted(wallets)).toEqual(sorted(after.wallets));
}

const sorted = (state: ReadonlyMap<string, bigint>) =>
  [...state].map(([name, units]) => `${name} ${units}`).toSorted();

function spansOf(random: Random): [number, number][] {
  return Array.from({ length: 12 }, () => {
    const from = random.int(1, historyHeights);
    return [from, random.int(from, historyHeights)];
  });
}

it.each(seedsOf([1, 2, 3, 4, 5, 6], 2))(
  "the diff of two moments makes the state of the one that of the other, whatever was taken back, seed %i",
  async (seed) => {
    const random = randomFrom(seed);
    const kept = await playHistory(live, random);
    const states = new Map<number, State>();
    for (let height = 1; height <= historyHeights; height += 1)
      states.set(height, await stateAt(height, kept));
    for (const [from, to] of spansOf(random)) {
      const [before, after] = [states.get(from), states.get(to)];
      if (before === undefined || after === undefined) throw new Error("no state");
      const perPage = random.pick([1, 2, 100]);
      await compareTokens(before, after, `from=${from}&to=${to}`, perPage);
      await compareWallets(before, after, `from=${from}&to=${to}`, perPage);
    }
  },
);

it("a span that ends before it begins, or is of no moment, is refused", async () => {
  const path = `/v1/collections/${historyContracts[0]}/diff?chainId=1`;
  for (const [span, code, field] of [
    ["from=5&to=4", "invalid_parameters", "from"],
    ["from=5", "invalid_parameters", "to"],
    ["from=latest&to=4", "invalid_parameters", "from"],
  ]) {
    const { status, body } = await api.get(`${path}&${span}`);
    expect([span, status, body]).toMatchObject([span, 422, { code, details: [{ field }] }]);
  }
  const { body } = await api.get(
    `/v1/collections/${historyContracts[0]}/diff?from=4&to=2026-01-01T00:00:00Z`,
  );
  expect(body).toMatchObject({ code: "ambiguous_chain", details: [{ field: "from" }] });
});
