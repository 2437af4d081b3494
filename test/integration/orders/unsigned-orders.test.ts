import { type Address, numberToHex, parseEther } from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  type IntakeFixture,
  openIntakeFixture,
  wireOrder,
} from "#test/support/orders/intake-fixture.ts";
import { postFrom, signedByStranger } from "#test/support/orders/strangers.ts";
import { walking } from "#test/support/orders/walking-contract.ts";

const chainId = 33139;
const attacker = "127.0.2.66";
const honest = "127.0.2.77";

const contract: Address = numberToHex(0x5ba500, { size: 20 });
const walk = (steps: bigint) => (maker: Address) => (steps << 160n) | BigInt(maker);
const endless = 1_000_000n;

let stand: IntakeFixture;

beforeAll(async () => {
  stand = await openIntakeFixture(chainId);
  await stand.market.client.setCode({ address: contract, bytecode: walking });
});
afterAll(() => stand?.close());
afterEach(() => {
  stand.node.before = async () => {};
});

const listing = (steps: bigint) =>
  signedByStranger(chainId, "ask", { contract, tokenId: walk(steps), priceWei: parseEther("1") });
const offers = (count: number) =>
  Promise.all(
    Array.from({ length: count }, () =>
      signedByStranger(chainId, "bid", { contract, tokenId: walk(endless), priceWei: 10_000n }),
    ),
  );

type Orders = Awaited<ReturnType<typeof offers>>;

const forged = (orders: Orders): Orders =>
  orders.map((order, n) => ({
    ...order,
    signature: orders[(n + 1) % orders.length]?.signature ?? "0x",
  }));

async function submitOffers(from: string, orders: Orders) {
  const bids = orders.map((order) => ({ seaport: wireOrder(order) }));
  const { data } = await postFrom(from, `${stand.api.url}/v1/orders/bids/bulk`, { chainId, bids });
  return [...new Set(data.results.map(({ code }) => code ?? "accepted"))];
}

async function list(from: string, order: Orders[number]) {
  const body = { chainId, seaport: wireOrder(order) };
  const { status, code } = await postFrom(from, `${stand.api.url}/v1/orders/asks`, body);
  return code ?? status;
}

describe("orders that nobody signed", () => {
  it("cost the node whether their makers have code or validated them, and nothing else", async () => {
    const calls: string[] = [];
    let named = 0;
    stand.node.before = async (batch) => {
      calls.push(...batch.map(({ method }) => method));
      named += batch.filter((call) => JSON.stringify(call).includes(contract.slice(2))).length;
    };

    expect(await submitOffers(attacker, forged(await offers(16)))).toEqual(["bad_signature"]);
    expect(named).toBe(0);
    expect(calls.filter((method) => method === "eth_call").length).toBeLessThanOrEqual(1);
    expect(calls.filter((method) => method === "eth_getCode").length).toBeLessThanOrEqual(17);
    expect(calls.length).toBeLessThanOrEqual(17 + 1 + 4);
  });
});

describe("a contract some of whose ids are costly", () => {
  it("is listed by its owners, however deep their ids are in a batch", async () => {
    expect(await list(honest, await listing(0n))).toBe(201);
    expect(await list(honest, await listing(1_100n))).toBe(201);
    expect(await list(honest, await listing(9_000n))).toBe(201);
  });

  it("stays open for others while strangers name its costly ids, signed or not", async () => {
    for (let round = 0; round < 3; round += 1) {
      const [unsigned, signed, outcome] = await Promise.all([
        offers(16).then((orders) => submitOffers(attacker, forged(orders))),
        offers(16).then((orders) => submitOffers(attacker, orders)),
        listing(0n).then((order) => list(honest, order)),
      ]);

      expect(unsigned).toEqual(["bad_signature"]);
      expect(signed).not.toContain("accepted");
      expect(signed).not.toContain("token_not_found");
      expect(outcome).toBe(201);
    }
    const params = `/v1/orders/params?chainId=${chainId}&contract=${contract}&tokenId=1`;
    expect((await stand.api.get(params)).status).toBe(200);
  });

  it("says of an id that needs too much gas that it is unknown, not that it does not exist", async () => {
    expect(await list("127.0.2.78", await listing(endless))).toBe("rpc_unavailable");
  });
});
