import { type Address, parseEther } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { contracts } from "#devnet/contracts/addresses.ts";
import { draftListingComponents } from "#projections/domain/seaport/draft-components.ts";
import type { SignedOrder } from "#projections/domain/seaport/order-components.ts";
import { operate } from "#test/support/database/operator.ts";
import { everybodyOwns } from "#test/support/orders/everybody-owns.ts";
import {
  type IntakeFixture,
  openIntakeFixture,
  resign,
  wireOrder,
} from "#test/support/orders/intake-fixture.ts";
import { punk } from "#test/support/orders/stocked-tokens.ts";
import { testFee } from "#test/support/orders/test-market.ts";

const chainId = 33139;
const perContract = 10;
/** An hour's orders for all contracts that were never traded. */
const untradedAtOnce = 15;
let stand: IntakeFixture;

const spamContracts: readonly Address[] = [
  "0x00000000000000000000000000000000005ba301",
  "0x00000000000000000000000000000000005ba302",
];

beforeAll(async () => {
  stand = await openIntakeFixture(
    chainId,
    {},
    {
      contract: perContract,
      untradedPerDay: untradedAtOnce * 24,
      bidExposure: 3,
    },
  );
  const { alice, carol } = stand.market.actors;
  for (const address of spamContracts) {
    await stand.market.client.setCode({ address, bytecode: everybodyOwns });
  }
  await alice.mintsRange(contracts.punks, 1_000n, 40n);
  await carol.buys(await alice.lists(punk(1_000n), { priceWei: parseEther("1") }));
  await stand.record();
});
afterAll(() => stand?.close());

/** A listing by a key that nobody has seen before. */
async function listedByStranger(contract: Address): Promise<SignedOrder> {
  const account = privateKeyToAccount(generatePrivateKey());
  const maker = account.address.toLowerCase() as Address;
  const now = BigInt(Math.floor(Date.now() / 1000));
  const components = draftListingComponents({
    maker,
    nft: { standard: "erc721", contract, tokenId: BigInt(maker) },
    quantity: 1n,
    price: { unitPriceWei: parseEther("1"), fee: testFee, royalty: null },
    startTime: now - 10n,
    endTime: now + 86_400n,
    salt: 1n,
    counter: 0n,
  });
  return resign(chainId, account, components);
}

async function listAll(orders: readonly SignedOrder[]) {
  const { data } = await stand.post("/v1/orders/asks/bulk", {
    chainId,
    listings: orders.map((order) => ({ seaport: wireOrder(order) })),
  });
  const results: { success: boolean; code?: string }[] = data.results;
  return results.map(({ success, code }) => (success ? "accepted" : code));
}

const strangers = (contract: Address, count: number) =>
  Promise.all(Array.from({ length: count }, () => listedByStranger(contract)));
const times = (code: string, count: number) => Array.from({ length: count }, () => code);

describe("a contract that calls everybody an owner", () => {
  it("gets its quota of open orders, in however many requests", async () => {
    const [contract = "0x"] = spamContracts;
    const first = await listAll(await strangers(contract, 6));
    const second = await listAll(await strangers(contract, 20));

    expect(first).toEqual(times("accepted", 6));
    expect(second).toEqual([
      ...times("accepted", perContract - 6),
      ...times("too_many_open_orders", 20 - (perContract - 6)),
    ]);
  });

  it("shares a common budget with all contracts that were never traded", async () => {
    const [, contract = "0x"] = spamContracts;
    const left = untradedAtOnce - perContract;

    expect(await listAll(await strangers(contract, left + 3))).toEqual([
      ...times("accepted", left),
      ...times("rate_limited", 3),
    ]);
  });

  it("learns when the next order is accepted", async () => {
    const [, contract = "0x"] = spamContracts;
    const order = wireOrder(await listedByStranger(contract));
    const response = await fetch(`${stand.api.url}/v1/orders/asks`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ chainId, seaport: order }),
    });
    const seconds = Number(response.headers.get("retry-after"));

    expect(response.status).toBe(429);
    expect(await response.json()).toMatchObject({ code: "rate_limited", retry: "later" });
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(86_400 / (untradedAtOnce * 24) + 1);
  });

  it("does not keep a traded contract from being listed, whose quota grew with its sale", async () => {
    const { alice } = stand.market.actors;
    const orders: SignedOrder[] = [];
    for (let id = 1_001n; id < 1_001n + BigInt(perContract + 5); id += 1n) {
      orders.push(await alice.lists(punk(id), { priceWei: parseEther("1") }));
    }

    expect(await listAll(orders)).toEqual(times("accepted", perContract + 5));
  });
});

describe("the open bids of a maker", () => {
  it("add up to a multiple of the balance at most", async () => {
    const { bob } = stand.market.actors;
    await bob.wraps(parseEther("2"));
    await bob.allows(parseEther("100"));
    const outcomes: (string | undefined)[] = [];
    for (const tokenId of [1_001n, 1_002n, 1_003n, 1_004n]) {
      const order = await bob.offers(punk(tokenId), { priceWei: parseEther("2") });
      const { code, status } = await stand.post("/v1/orders/bids", {
        chainId,
        seaport: wireOrder(order),
      });
      outcomes.push(code ?? `${status}`);
    }

    expect(outcomes).toEqual(["201", "201", "201", "offer_exposure_exceeded"]);
  });
});

describe("an operator", () => {
  it("blocks a maker, who is refused by intake and requirements, and unblocks it", async () => {
    const { alice } = stand.market.actors;
    const maker = alice.address.toLowerCase();
    const order = await alice.lists(punk(1_030n), { priceWei: parseEther("1") });
    const submit = () => stand.post("/v1/orders/asks", { chainId, seaport: wireOrder(order) });
    const item = { contract: contracts.punks, tokenId: "1031", quantity: 1 };
    const requirements = () =>
      stand.post("/v1/listings/requirements", {
        chainId,
        maker,
        items: [{ ...item, unitPriceWei: `${parseEther("1")}` }],
      });
    await operate(stand.databaseUrl, "makers", "block", maker, "--reason", "sanctions");
    const blocked = [(await submit()).code, (await requirements()).data.items[0].blocked];
    const listed = await operate(stand.databaseUrl, "makers", "list");
    await operate(stand.databaseUrl, "makers", "unblock", maker);

    expect(blocked).toEqual(["maker_blocked", "maker_blocked"]);
    expect(listed.out).toContain(`${maker}`);
    expect(listed.out).toContain("sanctions");
    expect((await submit()).status).toBe(201);
    expect((await requirements()).data.items[0].blocked).toBeNull();
  });
});
