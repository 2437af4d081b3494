import { sql } from "kysely";
import { parseEther } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { contracts } from "#devnet/contracts/addresses.ts";
import type { Actor } from "#devnet/market/actors.ts";
import {
  type IntakeFixture,
  openIntakeFixture,
  wireOrder,
} from "#test/support/orders/intake-fixture.ts";
import { punk } from "#test/support/orders/stocked-tokens.ts";
import { postFrom } from "#test/support/orders/strangers.ts";

const chainId = 33139;
/** Of a maker, and of all newcomers in an hour: 25 rows of token sets for each. */
const orders = 20;
const rowsAtOnce = orders * 25;
const attacker = "127.0.2.66";
const honest = "127.0.2.77";
let stand: IntakeFixture;

beforeAll(async () => {
  stand = await openIntakeFixture(chainId, {}, { maker: orders, newcomersPerDay: orders * 24 });
  const { actors } = stand.market;
  for (const actor of [actors.bob, actors.carol, actors.dave, actors.erin, actors.frank]) {
    await actor.wraps(parseEther("10"));
    await actor.allows(parseEther("1000"));
  }
  await actors.frank.mints(punk(1_000n));
  await actors.frank.approves(contracts.punks);
  await stand.record();
});
afterAll(() => stand?.close());

const punks = { standard: "erc721", contract: contracts.punks } as const;
const price = { priceWei: parseEther("0.1") };

let lists = 0n;
/** Ids of which each takes a row of its own. */
function spread(count: number): bigint[] {
  lists += 1n;
  return Array.from({ length: count }, (_, n) => (lists * 1_000n + BigInt(n)) << 64n);
}
/** Ids that share a row. */
function neighbours(count: number): bigint[] {
  lists += 1n;
  return Array.from({ length: count }, (_, n) => lists * 1_024n + BigInt(n));
}

async function offer(from: string, actor: Actor, tokenIds: readonly bigint[], isSent = true) {
  const order = await actor.offersForCollection({ ...punks, ...price, tokenIds });
  return postFrom(from, `${stand.api.url}/v1/orders/bids`, {
    ...{ chainId, seaport: wireOrder(order) },
    ...(isSent && { criteria: { tokenIds: tokenIds.map(String) } }),
  });
}

async function storedRows(): Promise<number> {
  const { rows } = await sql<{ rows: number }>`
    select count(*)::int as rows from bids.token_set_chunk`.execute(stand.db);
  return rows[0]?.rows ?? 0;
}

const outcome = ({ status, code }: { status: number; code?: string }) => code ?? status;

describe("new lists of tokens", () => {
  const perList = 100;
  let known: bigint[];

  it("of one network's new makers take no more rows than they share and one list, whoever signs", async () => {
    const { bob, carol, dave } = stand.market.actors;
    const outcomes: (string | number)[] = [];
    known = spread(perList);
    outcomes.push(outcome(await offer(attacker, bob, known)));
    for (let round = 0; round < 4; round += 1)
      for (const actor of [bob, carol, dave])
        outcomes.push(outcome(await offer(attacker, actor, spread(perList))));

    expect(outcomes.slice(0, 4)).toEqual([201, 201, 201, 201]);
    expect(new Set(outcomes.slice(5))).toEqual(new Set(["rate_limited"]));
    expect(await storedRows()).toBeLessThanOrEqual(rowsAtOnce + perList);
  });

  it("keep nobody from offers on lists that are known, on the collection and on single tokens", async () => {
    const { carol } = stand.market.actors;
    const before = await storedRows();

    expect(outcome(await offer(attacker, carol, known))).toBe(201);
    expect(outcome(await offer(attacker, carol, known, false))).toBe(201);
    for (const order of [
      await carol.offersForCollection({ ...punks, ...price }),
      await carol.offers(punk(1_000n), price),
    ]) {
      const body = { chainId, seaport: wireOrder(order) };
      const answer = await postFrom(attacker, `${stand.api.url}/v1/orders/bids`, body);
      expect(outcome(answer)).toBe(201);
    }
    expect(await storedRows()).toBe(before);
  });

  it("tell when the next is accepted", async () => {
    const { dave } = stand.market.actors;
    const tokenIds = neighbours(2);
    const order = await dave.offersForCollection({ ...punks, ...price, tokenIds });
    const answer = await fetch(`${stand.api.url}/v1/orders/bids`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        ...{ chainId, seaport: wireOrder(order) },
        criteria: { tokenIds: tokenIds.map(String) },
      }),
    });
    // From an address of its own, with its own part.
    expect(answer.status).toBe(201);

    const refused = await offer(attacker, dave, spread(perList));
    expect(refused).toMatchObject({ status: 429, code: "rate_limited" });
    const [, seconds] = /accepted in (\d+) s/.exec(refused.message ?? "") ?? [];
    const perSecond = (rowsAtOnce * 24) / 86_400;
    expect(Number(seconds)).toBeGreaterThan(0);
    expect(Number(seconds)).toBeLessThanOrEqual((3 * perList) / perSecond);
  });

  it("of an honest newcomer beside are accepted", async () => {
    const { erin } = stand.market.actors;
    const outcomes: (string | number)[] = [];
    for (let n = 0; n < 10; n += 1)
      outcomes.push(outcome(await offer(honest, erin, neighbours(20))));
    outcomes.push(outcome(await offer("127.0.2.78", erin, spread(perList))));

    expect(outcomes).toEqual(Array.from({ length: 11 }, () => 201));
  });

  it("of a maker who traded are bounded by that maker's own budget, which grew", async () => {
    const { frank, grace } = stand.market.actors;
    const listing = await frank.lists(punk(1_000n), price);
    const body = { chainId, seaport: wireOrder(listing) };
    expect((await postFrom(honest, `${stand.api.url}/v1/orders/asks`, body)).status).toBe(201);
    await grace.buys(listing);
    await stand.record();

    const before = await storedRows();
    const outcomes: (string | number)[] = [];
    for (let n = 0; n < 12; n += 1)
      outcomes.push(outcome(await offer(attacker, frank, spread(perList))));
    const refusedFrom = outcomes.indexOf("rate_limited");
    expect(refusedFrom).toBeGreaterThan(rowsAtOnce / perList);
    expect(new Set(outcomes.slice(refusedFrom))).toEqual(new Set(["rate_limited"]));
    expect((await storedRows()) - before).toBeLessThanOrEqual(2 * rowsAtOnce + perList);
  });
});
