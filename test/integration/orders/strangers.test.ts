import { type Address, numberToHex, parseEther } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { contracts } from "#devnet/contracts/addresses.ts";
import type { Actor } from "#devnet/market/actors.ts";
import type { SignedOrder } from "#projections/domain/seaport/order-components.ts";
import { operate } from "#test/support/database/operator.ts";
import { everybodyOwns } from "#test/support/orders/everybody-owns.ts";
import {
  type IntakeFixture,
  openIntakeFixture,
  wireOrder,
} from "#test/support/orders/intake-fixture.ts";
import { punk } from "#test/support/orders/stocked-tokens.ts";
import { postFrom, signedByStranger } from "#test/support/orders/strangers.ts";

const chainId = 33139;
/** An hour's orders of what strangers share. */
const atOnce = 6;
const attacker = "127.0.2.66";
const honest = "127.0.2.77";
let stand: IntakeFixture;

const fakes = Array.from({ length: 12 }, (_, n) => numberToHex(0x5ba400 + n, { size: 20 }));

beforeAll(async () => {
  const perDay = { untradedPerDay: atOnce * 24, newcomersPerDay: atOnce * 24 };
  stand = await openIntakeFixture(chainId, {}, { contract: 2, ...perDay });
  const { client, actors } = stand.market;
  for (const address of fakes) await client.setCode({ address, bytecode: everybodyOwns });
  await actors.alice.mintsRange(contracts.punks, 1_000n, 40n);
  for (const actor of [actors.bob, actors.carol, actors.dave]) {
    await actor.wraps(1_000_000n);
    await actor.allows(parseEther("100"));
  }
  await actors.erin.wraps(parseEther("1"));
  await actors.erin.allows(parseEther("100"));
  await stand.record();
});
afterAll(() => stand?.close());

const punks = { standard: "erc721", contract: contracts.punks } as const;

type Side = "asks" | "bids";

async function submit(from: string, side: Side, orders: readonly SignedOrder[]) {
  const items = orders.map((order) => ({ seaport: wireOrder(order) }));
  const body = { chainId, [side === "asks" ? "listings" : "bids"]: items };
  const { data } = await postFrom(from, `${stand.api.url}/v1/orders/${side}/bulk`, body);
  return data.results.map(({ code }) => code ?? "accepted");
}

async function submitOne(from: string, side: Side, order: SignedOrder) {
  const body = { chainId, seaport: wireOrder(order) };
  const { status, code } = await postFrom(from, `${stand.api.url}/v1/orders/${side}`, body);
  return code ?? status;
}

async function dustOf(actor: Actor, count: number): Promise<SignedOrder[]> {
  const orders: SignedOrder[] = [];
  for (let n = 0; n < count; n += 1)
    orders.push(await actor.offersForCollection({ ...punks, priceWei: 10_000n }));
  return orders;
}

/** A listing by a key that nobody has seen before, of a contract that takes everybody for an owner. */
const fakeListing = (contract: Address) =>
  signedByStranger(chainId, "ask", { contract, tokenId: BigInt, priceWei: parseEther("1") });

const price = { priceWei: parseEther("1") };
const times = (code: string, count: number) => Array.from({ length: count }, () => code);

describe("offers of next to nothing", () => {
  it("use up what such offers share, and no more", async () => {
    const { bob, carol, dave } = stand.market.actors;

    expect(await submit(attacker, "bids", await dustOf(bob, 4))).toEqual(times("accepted", 4));
    expect(await submit(attacker, "bids", await dustOf(carol, 5))).toEqual([
      ...times("accepted", 2),
      ...times("rate_limited", 3),
    ]);
    expect(await submit(attacker, "bids", await dustOf(dave, 1))).toEqual(["too_many_open_orders"]);
  });

  it("keep nobody from listing the contract, also at their own address", async () => {
    const { alice } = stand.market.actors;

    expect(await submitOne(honest, "asks", await alice.lists(punk(1_000n), price))).toBe(201);
    expect(await submitOne(attacker, "asks", await alice.lists(punk(1_001n), price))).toBe(201);
  });

  it("keep nobody from offering more, also at their own address", async () => {
    const { erin } = stand.market.actors;
    const offer = () => erin.offersForCollection({ ...punks, priceWei: parseEther("0.1") });

    expect(await submitOne(honest, "bids", await offer())).toBe(201);
    expect(await submitOne(attacker, "bids", await offer())).toBe(201);
  });

  it("count as what the balance pays for all of them, whatever each promises", async () => {
    const { dave, erin } = stand.market.actors;
    // All of it, again and again: each further offer can really spend less.
    const promises: SignedOrder[] = [];
    for (let n = 0; n < 8; n += 1)
      promises.push(await dave.offersForCollection({ ...punks, priceWei: 1_000_000n }));
    expect(await submit(attacker, "bids", promises)).toEqual([
      ...times("accepted", atOnce),
      ...times("rate_limited", 2),
    ]);

    const offer = await erin.offers(punk(1_002n), { priceWei: parseEther("0.2") });
    expect(await submitOne(attacker, "bids", offer)).toBe(201);
  });
});

describe("listings of next to nothing", () => {
  it("of units that one holder lists again and again keep no other from listing theirs", async () => {
    const { frank, grace } = stand.market.actors;
    const nft = { standard: "erc1155", contract: contracts.editions, tokenId: 77n } as const;
    await frank.mints(nft, 5n);
    await grace.mints(nft, 5n);
    await stand.record();
    const many: SignedOrder[] = [];
    for (let n = 1n; n <= 4n; n += 1n)
      many.push(await frank.lists(nft, { priceWei: parseEther("1") * n }));
    const outcomes = await submit(attacker, "asks", many);

    expect(outcomes).toEqual([...times("accepted", 2), ...times("too_many_open_orders", 2)]);
    expect(await submitOne(honest, "asks", await grace.lists(nft, price))).toBe(201);
  });

  it("of contracts that take everybody for an owner leave each other address its part", async () => {
    const { alice } = stand.market.actors;
    const outcomes: string[] = [];
    for (const fake of fakes.slice(0, 10)) {
      const listings = [await fakeListing(fake), await fakeListing(fake)];
      outcomes.push(...(await submit(attacker, "asks", listings)));
    }
    expect(outcomes).toContain("rate_limited");
    expect(await submitOne(attacker, "asks", await fakeListing(fakes[10] ?? "0x"))).toBe(
      "rate_limited",
    );
    // From other addresses, each of which has a part of its own.
    for (let n = 1; n <= 12; n += 1) {
      const listing = await fakeListing(fakes[10 + (n % 2)] ?? "0x");
      await submitOne(`127.0.3.${n}`, "asks", listing);
    }

    expect(await submitOne("127.0.2.78", "asks", await alice.lists(punk(1_003n), price))).toBe(201);
  });

  it("do not concern a verified collection at all", async () => {
    const { alice, erin } = stand.market.actors;
    await operate(stand.databaseUrl, "collections", "verify", `${chainId}:${contracts.punks}`);
    await stand.record();
    for (const tokenId of [1_010n, 1_011n, 1_012n, 1_013n]) {
      expect(await submitOne(attacker, "asks", await alice.lists(punk(tokenId), price))).toBe(201);
    }
    const near = await erin.offersForCollection({ ...punks, priceWei: parseEther("0.5") });
    expect(await submitOne(attacker, "bids", near)).toBe(201);
  });
});
