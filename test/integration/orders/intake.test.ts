import { sql } from "kysely";
import {
  type Hex,
  parseEther,
  parseSignature,
  serializeCompactSignature,
  signatureToCompactSignature,
} from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import type { SignedOrder } from "#projections/domain/seaport/order-components.ts";
import { orderHash } from "#projections/domain/seaport/order-hash.ts";
import { factKind } from "#projections/log/fact-kinds.ts";
import { setPaused } from "#projections/log/operators.ts";
import { operate } from "#test/support/database/operator.ts";
import {
  type IntakeFixture,
  openIntakeFixture,
  toWire,
  wireOrder,
} from "#test/support/orders/intake-fixture.ts";
import { punk } from "#test/support/orders/stocked-tokens.ts";

const chainId = 33139;
const ether = parseEther;
let stand: IntakeFixture;

beforeAll(async () => {
  stand = await openIntakeFixture(chainId);
  const { alice, bob, wallet } = stand.market.actors;
  for (let first = 1_000n; first < 1_240n; first += 20n)
    await alice.mintsRange(contracts.punks, first, 20n);
  await wallet.mints(punk(2_000n));
  await bob.wraps(ether("1000"));
  await stand.record();
});
afterAll(() => stand?.close());

let nextPunk = 1_000n;
/** An unused token of alice's. */
const freshPunk = () => {
  nextPunk += 1n;
  return punk(nextPunk);
};

const list = (order: SignedOrder) =>
  stand.post("/v1/orders/asks", { chainId, seaport: wireOrder(order) });
const listAll = (orders: readonly SignedOrder[]) =>
  stand.post("/v1/orders/asks/bulk", {
    chainId,
    listings: orders.map((order) => ({ seaport: wireOrder(order) })),
  });
const offer = (order: SignedOrder) =>
  stand.post("/v1/orders/bids", { chainId, seaport: wireOrder(order) });
const idOf = ({ components }: SignedOrder) => `mkt-${orderHash(components)}`;

async function countSubmissions(...orders: SignedOrder[]): Promise<number> {
  const hashes = orders.map(({ components }) => orderHash(components).slice(2));
  const { rows } = await sql`
    select from log.fact
    where kind = ${factKind.order_submitted} and encode(order_hash, 'hex') = any (${hashes}::text[])`.execute(
    stand.db,
  );
  return rows.length;
}

describe("a listing that is submitted again", () => {
  it("returns its current status, in any form, and is one fact", async () => {
    const { alice } = stand.market.actors;
    const nft = freshPunk();
    const order = await alice.lists(nft, { priceWei: ether("1") });
    const first = await list(order);
    expect([first.status, first.data]).toEqual([
      201,
      { askId: idOf(order), orderHash: orderHash(order.components), status: "active" },
    ]);

    const compact = serializeCompactSignature(
      signatureToCompactSignature(parseSignature(order.signature)),
    );
    const { parameters } = wireOrder(order) as { parameters: Record<string, unknown> };
    const salt = `0x${order.components.salt.toString(16)}`;
    const forms = [
      wireOrder(order),
      wireOrder({ ...order, signature: compact }),
      { ...parameters, signature: order.signature },
      { parameters: { ...parameters, salt, orderType: "0" }, signature: order.signature },
      JSON.parse(
        JSON.stringify(wireOrder(order)).replace(
          /0x[0-9a-f]{40}"/g,
          (text) => `0x${text.slice(2).toUpperCase()}`,
        ),
      ),
    ];
    for (const seaport of forms) {
      const again = await stand.post("/v1/orders/asks", { chainId, seaport });
      expect([again.status, again.data]).toEqual([201, first.data]);
    }
    const bulk = await listAll([order, order]);
    expect([bulk.status, bulk.data.created]).toEqual([201, 2]);
    expect(await countSubmissions(order)).toBe(1);
  });

  it("returns its current status after the chain changed", async () => {
    const { alice, dave } = stand.market.actors;
    const nft = freshPunk();
    const order = await alice.lists(nft, { priceWei: ether("1") });
    await list(order);
    await alice.transfers(nft, dave);
    await stand.record();
    expect((await list(order)).data.status).toBe("inactive");
    await dave.transfers(nft, alice);
    await alice.cancels(order);
    await stand.record();
    const { status, data } = await list(order);
    expect([status, data.status]).toEqual([201, "cancelled"]);
  });

  it("must still be signed by its maker", async () => {
    const { alice, bob } = stand.market.actors;
    const order = await alice.lists(freshPunk(), { priceWei: ether("1") });
    const { signature } = await bob.lists(punk(7n), { priceWei: ether("1") });
    await list(order);
    expect((await list({ ...order, signature })).code).toBe("bad_signature");
  });

  it("twenty times at once is one fact with twenty equal responses", async () => {
    const { alice } = stand.market.actors;
    const order = await alice.lists(freshPunk(), { priceWei: ether("1") });
    const before = stand.node.requests;
    const answers = await Promise.all(Array.from({ length: 20 }, () => list(order)));
    expect(answers.map(({ status, data }) => [status, data.askId, data.status])).toEqual(
      answers.map(() => [201, idOf(order), "active"]),
    );
    expect(await countSubmissions(order)).toBe(1);
    expect(stand.node.requests - before).toBeLessThan(10);
  });
});

describe("concurrent orders", () => {
  it("share chain queries", async () => {
    const { alice } = stand.market.actors;
    const orders = [];
    for (let count = 0; count < 30; count += 1)
      orders.push(await alice.lists(freshPunk(), { priceWei: ether("1") }));
    const before = stand.node.requests;
    const answers = await Promise.all(orders.map(list));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(answers.map(({ data }) => data.askId)).size).toBe(30);
    expect(stand.node.requests - before).toBeLessThan(30);
  });
});

describe("a bulk request", () => {
  it("admits 97 of 100 listings and rejects three with reasons", async () => {
    const { alice } = stand.market.actors;
    const orders: SignedOrder[] = [];
    for (let count = 0; count < 100; count += 1)
      orders.push(await alice.lists(freshPunk(), { priceWei: ether("1") }));
    const listings: unknown[] = orders.map((order) => ({ seaport: wireOrder(order) }));
    const foreign = await alice.lists(punk(8n), { priceWei: ether("1") });
    listings[3] = { seaport: wireOrder(foreign) };
    listings[50] = { seaport: { kind: "payment-processor" } };
    listings[99] = "nothing";
    const before = stand.node.requests;
    const { status, success, message, data } = await stand.post("/v1/orders/asks/bulk", {
      chainId,
      listings,
    });
    expect([status, success, data.created, data.failed]).toEqual([200, true, 97, 3]);
    expect(message).toBe("97 of 100 orders are in the order book; 3 were rejected");
    const two = await stand.post("/v1/orders/asks/bulk", {
      chainId,
      listings: listings.slice(2, 4),
    });
    expect(two.message).toBe("1 of 2 orders are in the order book; 1 was rejected");
    const failed = data.results.flatMap((one: { success: boolean; code: string }, index: number) =>
      one.success ? [] : [[index, one.code]],
    );
    expect(failed).toEqual([
      [3, "not_owner"],
      [50, "pp_retired"],
      [99, "bad_structure"],
    ]);
    expect(data.results[3]).toMatchObject({
      contractAddress: contracts.punks,
      tokenId: "8",
      retry: "after_onchain_action",
    });
    expect(data.results[0]).toMatchObject({
      askId: idOf(orders[0] as SignedOrder),
      status: "active",
    });
    expect(stand.node.requests - before).toBeLessThan(20);
  });

  it("that stores nothing is an error", async () => {
    const answer = await stand.post("/v1/orders/bids/bulk", { chainId, bids: [{}, {}] });
    expect([answer.status, answer.success, answer.error]).toEqual([200, false, answer.message]);
  });

  it.each([
    ["asks", { listings: [] }],
    ["asks", { listings: Array.from({ length: 101 }, () => ({})) }],
    ["asks", {}],
    ["bids", { bids: [] }],
    ["bids", { bids: Array.from({ length: 51 }, () => ({})) }],
  ])("of %s outside its bounds is rejected as a whole", async (side, body) => {
    const { status, code } = await stand.post(`/v1/orders/${side}/bulk`, { chainId, ...body });
    expect([status, code]).toEqual([422, "bad_structure"]);
  });

  it("rejects a cross-listing that no partner accepts, and admits the listing", async () => {
    const { alice } = stand.market.actors;
    const order = await alice.lists(freshPunk(), { priceWei: ether("1") });
    const crossListing = { parameters: {}, signature: "0x" };
    const { status, data } = await stand.post("/v1/orders/asks/bulk", {
      chainId,
      listings: [{ seaport: wireOrder(order), opensea: crossListing }],
    });
    expect(status).toBe(201);
    expect(data.results[0].crossListing).toMatchObject({ status: "rejected", orderHash: null });
  });

  it("larger than its maximum is rejected", async () => {
    const { status, code } = await stand.post("/v1/orders/asks", `"${"x".repeat(100_000)}"`);
    expect([status, code]).toEqual([413, "payload_too_large"]);
  });
});

describe("bulk-signed orders", () => {
  /** The same signature with a base of 64 bytes. */
  const compactBase = (signature: Hex): Hex => {
    const base = parseSignature(signature.slice(0, 132) as Hex);
    return `${serializeCompactSignature(signatureToCompactSignature(base))}${signature.slice(132)}`;
  };

  it("are accepted by the bulk endpoint with either base, and not by the single one", async () => {
    const { alice } = stand.market.actors;
    const nfts = Array.from({ length: 5 }, freshPunk);
    const orders = await alice.listsInBulk(nfts.map((nft) => ({ nft, priceWei: ether("1") })));
    const mixed = orders.map((order, index) =>
      index % 2 === 0 ? order : { ...order, signature: compactBase(order.signature) },
    );
    const [first] = mixed;
    if (first === undefined) throw new Error("no order");
    expect((await list(first)).code).toBe("bulk_signature_not_allowed");
    const { status, data } = await listAll(mixed);
    expect([status, data.created]).toEqual([201, 5]);
    expect((await list(first)).code).toBe("bulk_signature_not_allowed");
  });

  it("of a maker without code are for the bulk endpoint, whatever else is wrong with the order", async () => {
    const { alice, wallet } = stand.market.actors;
    const nfts = Array.from({ length: 2 }, freshPunk);
    const [one, other] = await alice.listsInBulk(
      nfts.map((nft) => ({ nft, priceWei: ether("1") })),
    );
    if (one === undefined || other === undefined) throw new Error("no orders");
    const components = { ...one.components, zone: contracts.punks };
    const foreign = { components, signature: other.signature };
    expect((await list(foreign)).code).toBe("bulk_signature_not_allowed");
    const ofWallet = { ...foreign, components: { ...components, offerer: wallet.address } };
    expect((await list(ofWallet)).code).toBe("zone_not_allowed");
  });

  it("must prove that they are in the tree", async () => {
    const { alice } = stand.market.actors;
    const nfts = Array.from({ length: 2 }, freshPunk);
    const [order] = await alice.listsInBulk(nfts.map((nft) => ({ nft, priceWei: ether("1") })));
    if (order === undefined) throw new Error("no order");
    const beyond = `${order.signature.slice(0, 132)}000009${order.signature.slice(138)}` as Hex;
    const altered = `${order.signature.slice(0, -2)}00` as Hex;
    const { data } = await listAll([
      { ...order, signature: beyond },
      { ...order, signature: altered },
    ]);
    expect(data.results.map(({ code }: { code: string }) => code)).toEqual([
      "bad_bulk_proof",
      "bad_signature",
    ]);
  });
});

describe("a contract", () => {
  it("lists with a signature that it accepts", async () => {
    const { wallet, bob } = stand.market.actors;
    const order = await wallet.lists(punk(2_000n), { priceWei: ether("1") });
    const forged = await bob.lists(punk(9n), { priceWei: ether("1") });
    expect((await list({ ...order, signature: forged.signature })).code).toBe(
      "contract_signature_invalid",
    );
    expect((await list(order)).data.status).toBe("active");
    expect((await list({ ...order, signature: forged.signature })).code).toBe(
      "contract_signature_invalid",
    );
  });
});

describe("a contract that no longer accepts the stored signature", () => {
  it("must sign with a new salt, as another signature of the same order is not stored", async () => {
    const { wallet } = stand.market.actors;
    await wallet.mints(punk(2_001n));
    await stand.record();
    const order = await wallet.lists(punk(2_001n), { priceWei: ether("1") });
    // A compact form of the same signature stands for one by other owners: the wallet below accepts it alone.
    const other = {
      ...order,
      signature: serializeCompactSignature(
        signatureToCompactSignature(parseSignature(order.signature)),
      ),
    };
    const codeBefore = await stand.market.client.getCode({ address: wallet.address });
    await stand.market.client.setCode({ address: wallet.address, bytecode: acceptingLength(65) });
    expect((await list(order)).data.status).toBe("active");
    expect((await list(order)).data.status).toBe("active");

    await stand.market.client.setCode({ address: wallet.address, bytecode: acceptingLength(64) });
    expect(
      (await stand.post(`/v1/orders/asks/${idOf(order)}/sync`, { chainId })).data,
    ).toMatchObject({ status: "inactive" });
    const answer = await list(other);
    await stand.market.client.setCode({ address: wallet.address, bytecode: codeBefore ?? "0x" });

    expect(answer).toMatchObject({ code: "contract_signature_invalid", retry: "fix_and_resign" });
    expect(answer.message).toContain("new salt");
    expect(await countSubmissions(order)).toBe(1);
  });
});

/** Code that returns the magic value of ERC-1271 if the signature, the second argument, has so many bytes. */
function acceptingLength(bytes: number): Hex {
  // PUSH4 magic, PUSH1 0xe0, SHL, PUSH1 bytes, PUSH1 0x44, CALLDATALOAD, EQ, MUL, PUSH1 0, MSTORE, PUSH1 32, PUSH1 0, RETURN
  const length = bytes.toString(16).padStart(2, "0");
  return `0x631626ba7e60e01b60${length}604435140260005260206000f3`;
}

describe("a more expensive listing of the same token", () => {
  it("needs the cheaper one cancelled on chain", async () => {
    const { alice } = stand.market.actors;
    const nft = freshPunk();
    const cheap = await alice.lists(nft, { priceWei: ether("1") });
    const dear = await alice.lists(nft, { priceWei: ether("2") });
    await list(cheap);
    const refused = await list(dear);
    expect([refused.status, refused.code, refused.retry]).toEqual([
      409,
      "raise_requires_cancel",
      "after_onchain_action",
    ]);
    await alice.cancels(cheap);
    // Not indexed yet: the chain itself is queried.
    expect((await list(dear)).data.status).toBe("active");
    expect((await list(cheap)).data.status).toBe("cancelled");
  });

  it("is rejected after the cheaper one of the same request, and not before it", async () => {
    const { alice } = stand.market.actors;
    const nft = freshPunk();
    const prices = [2n, 1n, 3n].map((units) => units * ether("1"));
    const orders = [];
    for (const priceWei of prices) orders.push(await alice.lists(nft, { priceWei }));
    const { data } = await listAll(orders);
    expect(
      data.results.map(({ status, code }: { status?: string; code?: string }) => status ?? code),
    ).toEqual(["inactive", "active", "raise_requires_cancel"]);
  });

  it("is accepted for an ERC-1155 token", async () => {
    const { alice } = stand.market.actors;
    const nft = { standard: "erc1155", contract: contracts.editions, tokenId: 2n } as const;
    const cheap = await alice.lists(nft, { priceWei: ether("1"), quantity: 2n });
    const dear = await alice.lists(nft, { priceWei: ether("2"), quantity: 3n });
    expect((await list(cheap)).data.status).toBe("active");
    expect((await list(dear)).data.status).toBe("inactive");
  });
});

describe("an allowance", () => {
  it("must cover all open offers, including those of the same request", async () => {
    const { bob } = stand.market.actors;
    await bob.allows(ether("5"));
    const bids: SignedOrder[] = [];
    for (const tokenId of [1n, 2n, 3n])
      bids.push(await bob.offers(punk(tokenId), { priceWei: ether("2") }));
    const [first, second, third] = bids as [SignedOrder, SignedOrder, SignedOrder];
    expect((await offer(first)).data).toEqual({
      bidId: idOf(first),
      orderHash: orderHash(first.components),
      status: "active",
    });
    const { data } = await stand.post("/v1/orders/bids/bulk", {
      chainId,
      bids: [second, third].map((order) => ({ seaport: wireOrder(order) })),
    });
    expect(
      data.results.map(({ bidId, code }: { bidId?: string; code?: string }) => bidId ?? code),
    ).toEqual([idOf(second), "insufficient_allowance"]);
    await bob.allows(ether("6"));
    expect((await offer(third)).status).toBe(201);
  });
});

describe("chain state that is not indexed yet", () => {
  it("is respected", async () => {
    const { alice, carol, dave, frank, grace } = stand.market.actors;
    const priceWei = ether("1");
    const cancelled = await alice.lists(freshPunk(), { priceWei });
    await alice.cancels(cancelled);
    expect((await list(cancelled)).code).toBe("order_cancelled");

    const nft = { standard: "erc1155", contract: contracts.editions, tokenId: 3n } as const;
    const filled = await alice.lists(nft, { priceWei, quantity: 2n });
    await carol.buys(filled);
    expect((await list(filled)).code).toBe("order_filled");

    const stale = await dave.lists(punk(19n), { priceWei });
    await dave.incrementsCounter();
    expect((await list(stale)).code).toBe("counter_stale");

    const guarded = { ...punk(1n), contract: contracts.guarded };
    await grace.mints(guarded);
    const restricted = await grace.lists(guarded, { priceWei });
    await stand.record();
    expect((await list(restricted)).code).toBe("not_approved");
    await grace.approves(contracts.guarded);
    expect((await list(restricted)).code).toBe("transfer_restricted");

    const burnable = { ...punk(1n), contract: contracts.burnable };
    await frank.mints(burnable);
    await frank.approves(contracts.burnable);
    await stand.record();
    const burned = await frank.lists(burnable, { priceWei });
    await frank.burns(burnable);
    expect((await list(burned)).code).toMatch(/^token_(burned|not_found)$/);
  });

  it("and an order that pays a contract that does not take it is rejected", async () => {
    const { alice, bob } = stand.market.actors;
    const [listing, bid] = [
      await alice.lists(freshPunk(), { priceWei: ether("1") }),
      await bob.offers(punk(3n), { priceWei: ether("0.1") }),
    ];
    await stand.market.client.setCode({ address: accounts.feeRecipient, bytecode: "0x60006000fd" });
    const refused = await list(listing);
    expect(refused).toMatchObject({ status: 422, code: "transfer_restricted" });
    expect(refused.message).toContain(accounts.feeRecipient.toLowerCase());
    // A bid pays in an ERC-20 currency, which calls nobody.
    expect((await offer(bid)).code).not.toBe("transfer_restricted");
    await stand.market.client.setCode({ address: accounts.feeRecipient, bytecode: "0x" });
    expect((await list(listing)).status).toBe(201);
  });

  it("of rejected orders is not recorded", async () => {
    const { alice } = stand.market.actors;
    const { rows } = await sql<{ readings: bigint }>`
      select count(*) as readings from log.fact where kind between 71 and 80 or kind = 82`.execute(
      stand.db,
    );
    await list(await alice.lists(punk(10n), { priceWei: ether("1") }));
    const { rows: after } = await sql`
      select count(*) as readings from log.fact where kind between 71 and 80 or kind = 82`.execute(
      stand.db,
    );
    expect(after).toEqual(rows);
  });
});

describe("an unavailable chain", () => {
  afterEach(() => {
    stand.node.override = () => undefined;
  });
  it("rejects with rpc_unavailable only what depends on it", async () => {
    const { alice } = stand.market.actors;
    const known = await alice.lists(freshPunk(), { priceWei: ether("1") });
    const fresh = await alice.lists(freshPunk(), { priceWei: ether("1") });
    await list(known);
    stand.node.override = () => ({ error: { code: -32_000, message: "out of order" } });
    const over = { ...fresh.components, endTime: fresh.components.startTime };
    const answers = await Promise.all([
      list(fresh),
      list(known),
      stand.post("/v1/orders/asks", {
        chainId,
        seaport: { ...(toWire(over) as object), signature: fresh.signature },
      }),
    ]);
    expect(answers.map(({ status, code, retry }) => [status, code, retry])).toEqual([
      [422, "rpc_unavailable", "later"],
      [201, undefined, undefined],
      [422, "end_before_start", "fix_and_resign"],
    ]);
    expect(await countSubmissions(fresh)).toBe(0);
    stand.node.override = () => undefined;
    expect((await list(fresh)).status).toBe(201);
  });
});

describe("a pause", () => {
  afterEach(async () => {
    for (const name of ["listings", "offers", "projecting"] as const)
      await setPaused(stand.db, name, false);
    await new Promise((resolve) => setTimeout(resolve, 450));
  });

  it("of listings rejects them, until op resume", async () => {
    const { alice, bob } = stand.market.actors;
    const order = await alice.lists(freshPunk(), { priceWei: ether("1") });
    const bid = await bob.offers(punk(11n), { priceWei: 20_000n });
    await operate(stand.databaseUrl, "pause", "listings");
    await expect
      .poll(() => list(order), { timeout: 120_000 })
      .toMatchObject({
        status: 503,
        code: "listings_paused",
        retry: "later",
      });
    expect((await listAll([order])).code).toBe("listings_paused");
    // A signature that this endpoint never accepts is refused before the pause is looked at.
    const nfts = [freshPunk(), freshPunk()];
    const [ofTwo] = await alice.listsInBulk(nfts.map((nft) => ({ nft, priceWei: ether("1") })));
    if (ofTwo === undefined) throw new Error("no order");
    expect((await list(ofTwo)).code).toBe("bulk_signature_not_allowed");
    expect((await stand.post("/v1/orders/asks", { chainId, seaport: {} })).code).toBe(
      "bad_structure",
    );
    expect((await offer(bid)).code).not.toBe("offers_paused");
    await operate(stand.databaseUrl, "resume", "listings");
    await expect.poll(() => list(order), { timeout: 120_000 }).toMatchObject({ status: 201 });
  });

  it("of offers rejects them", async () => {
    const { bob } = stand.market.actors;
    const bid = await bob.offers(punk(12n), { priceWei: 20_000n });
    await setPaused(stand.db, "offers", true);
    await expect
      .poll(() => offer(bid), { timeout: 120_000 })
      .toMatchObject({
        status: 503,
        code: "offers_paused",
      });
  });

  it("of the projections rejects no order: the validated status is returned", async () => {
    const { alice } = stand.market.actors;
    const order = await alice.lists(freshPunk(), { priceWei: ether("1") });
    await setPaused(stand.db, "projecting", true);
    await new Promise((resolve) => setTimeout(resolve, 450));
    const startedAt = performance.now();
    const { status, data } = await list(order);
    expect([status, data.status]).toEqual([201, "active"]);
    expect(performance.now() - startedAt).toBeGreaterThan(1_500);
    expect(await countSubmissions(order)).toBe(1);
  });
});
