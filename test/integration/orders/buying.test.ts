import fc from "fast-check";
import { sql } from "kysely";
import {
  type Address,
  decodeFunctionData,
  getAbiItem,
  type Hex,
  keccak256,
  parseEther,
  slice,
  stringToHex,
  toFunctionSelector,
} from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { seaportAddresses } from "#abis/deployments.ts";
import { seaportFunctions } from "#abis/seaport.ts";
import { BuyData } from "#api/v1/orders/buy-data.ts";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import type { SignedOrder } from "#projections/domain/seaport/order-components.ts";
import { setPaused } from "#projections/log/operators.ts";
import { type OrderBookFixture, openOrderBook } from "#test/support/orders/order-book-fixture.ts";
import { edition, punk } from "#test/support/orders/stocked-tokens.ts";

let book: OrderBookFixture;
beforeAll(async () => {
  book = await openOrderBook(1);
});
afterAll(() => book?.close());
afterEach(() => {
  book.node.override = () => undefined;
});

async function listed(order: SignedOrder): Promise<string> {
  return book.submit(order);
}

async function buyDataOf(askId: string, body?: unknown): Promise<z.output<typeof BuyData>> {
  const answer = await book.post(`/v1/listings/${askId}/buy-data`, body);
  expect(answer, JSON.stringify(answer)).toMatchObject({ status: 200, success: true });
  return BuyData.parse(answer.data);
}

async function refusalOf(askId: string, body?: unknown) {
  const { status, code, message } = await book.post(`/v1/listings/${askId}/buy-data`, body);
  return { refused: `${status} ${code}`, message };
}

/** Sends the API's response unchanged. */
async function send(from: "bob" | "carol" | "dave", { to, data, value }: z.output<typeof BuyData>) {
  const account = accounts[from];
  return book.client.sendTransactionSync({
    account,
    chain: book.client.chain,
    to: to as Address,
    data: data as Hex,
    value: BigInt(value),
    gas: 1_500_000n,
  });
}

const weiOf = (address: Address) => book.client.getBalance({ address });

async function statusOf(askId: string) {
  const { data } = await book.get(`/v1/listings/${askId}`);
  return data;
}

describe("POST /v1/listings/{askId}/buy-data", () => {
  it("returns a transaction that buys the token for exactly its price", async () => {
    const { alice } = book.actors;
    const priceWei = parseEther("1.000000000000000007");
    const askId = await listed(await alice.lists(punk(1n), { priceWei }));

    const data = await buyDataOf(askId);

    expect(data).toMatchObject({
      askId,
      chainId: 1,
      to: seaportAddresses["1.6"],
      value: `${priceWei}`,
      priceWei: `${priceWei}`,
      quantity: 1,
      currency: { symbol: "ETH" },
      orderData: { numerator: "1", denominator: "1", extraData: "0x", payment: null },
    });
    expect(data.data.slice(-8)).toBe(slice(keccak256(stringToHex("mkt")), 0, 4).slice(2));
    const { functionName } = decodeFunctionData({ abi: seaportFunctions, data: data.data as Hex });
    expect(functionName).toBe("fulfillAdvancedOrder");
    const before = { alice: await weiOf(alice.address), fees: await weiOf(accounts.feeRecipient) };
    expect((await send("bob", data)).status).toBe("success");
    expect(await book.ownerOf(1n)).toBe(book.actors.bob.address);
    const [sellerLeg, ...taken] = data.orderData.parameters.consideration;
    expect(await weiOf(alice.address)).toBe(before.alice + BigInt(sellerLeg?.startAmount ?? 0));
    expect(await weiOf(accounts.feeRecipient)).toBe(before.fees + priceWei / 100n);
    expect(taken.length).toBe(2);
  });

  it("sends the token to `buyer`, whoever pays", async () => {
    const askId = await listed(
      await book.actors.alice.lists(punk(2n), { priceWei: parseEther("1") }),
    );
    const data = await buyDataOf(askId, { chainId: 1, buyer: book.actors.erin.address });
    await send("bob", data);
    expect(await book.ownerOf(2n)).toBe(book.actors.erin.address);
  });

  it("sells an ERC-1155 listing in parts until it is filled", async () => {
    const { alice, bob, carol } = book.actors;
    const askId = await listed(
      await alice.lists(edition(1n), { priceWei: parseEther("0.3"), quantity: 20n }),
    );
    const [bobHad, carolHad] = [
      await book.unitsOf(bob.address, 1n),
      await book.unitsOf(carol.address, 1n),
    ];

    const first = await buyDataOf(askId, { amount: 8 });
    expect(first.orderData).toMatchObject({ numerator: "2", denominator: "5" });
    expect(first).toMatchObject({ quantity: 8, value: `${parseEther("2.4")}` });
    await send("bob", first);
    expect(await book.unitsOf(bob.address, 1n)).toBe(bobHad + 8n);

    // The chain is queried, so that units sold since are left out.
    expect(await refusalOf(askId, { amount: 13 })).toMatchObject({ refused: "422 bad_amount" });
    const rest = await buyDataOf(askId);
    expect(rest).toMatchObject({ quantity: 12, value: `${parseEther("3.6")}` });
    await send("carol", rest);
    expect(await book.unitsOf(carol.address, 1n)).toBe(carolHad + 12n);
    expect(await refusalOf(askId)).toMatchObject({ refused: "409 unavailable" });
    expect(await statusOf(askId)).toMatchObject({ status: "filled", quantityRemaining: 0 });
  });

  it("sells no more ERC-1155 units than their owner still holds", async () => {
    const { dave, erin } = book.actors;
    const askId = await listed(
      await dave.lists(edition(2n), { priceWei: parseEther("0.1"), quantity: 50n }),
    );
    await dave.transfers(edition(2n), erin, 25n);

    const data = await buyDataOf(askId);
    expect(data).toMatchObject({ quantity: 35, value: `${parseEther("3.5")}` });
    expect((await send("bob", data)).status).toBe("success");
    expect(await book.unitsOf(dave.address, 2n)).toBe(0n);
    expect(await statusOf(askId)).toMatchObject({ quantityFillable: 35 });
  });

  it("returns the complete signature of a bulk-signed listing", async () => {
    const { bob } = book.actors;
    const orders = await bob.listsInBulk(
      [7n, 8n, 9n].map((tokenId) => ({ nft: punk(tokenId), priceWei: parseEther("1") })),
    );
    const ids = await Promise.all(orders.map(listed));
    const data = await buyDataOf(ids[1] ?? "");
    expect(data.orderData.signature).toBe(orders[1]?.signature);
    await send("carol", data);
    expect(await book.ownerOf(8n)).toBe(book.actors.carol.address);
  });

  it("sells for a contract maker, and not with a signature that the contract rejects", async () => {
    const { alice, wallet } = book.actors;
    for (const tokenId of [5n, 6n]) await alice.transfers(punk(tokenId), wallet);
    await book.catchUp();
    const order = await wallet.lists(punk(5n), { priceWei: parseEther("1") });
    await send("bob", await buyDataOf(await listed(order)));
    expect(await book.ownerOf(5n)).toBe(book.actors.bob.address);

    const other = await wallet.lists(punk(6n), { priceWei: parseEther("1") });
    const askId = await listed({ ...other, signature: order.signature });
    expect(await refusalOf(askId)).toMatchObject({ refused: "409 inactive" });
    expect(await statusOf(askId)).toMatchObject({ invalidReason: "contract_signature_invalid" });
  });

  it("does not sell while nobody knows whether the maker's contract still takes the signature", async () => {
    const { wallet } = book.actors;
    await wallet.mints(punk(8_001n));
    await book.catchUp();
    const askId = await listed(await wallet.lists(punk(8_001n), { priceWei: parseEther("1") }));
    const validate = toFunctionSelector(getAbiItem({ abi: seaportFunctions, name: "validate" }));
    const down = { error: { code: -32_000, message: "node is down" } };
    book.node.override = (call) => (JSON.stringify(call).includes(validate) ? down : undefined);

    expect(await refusalOf(askId)).toMatchObject({ refused: "502 upstream_error" });
    book.node.override = () => undefined;
    expect(await buyDataOf(askId)).toMatchObject({ askId });
  });

  it("accepts a limit in ETH, as number or string, and in wei, which takes precedence", async () => {
    const { carol } = book.actors;
    const askId = await listed(await carol.lists(punk(13n), { priceWei: parseEther("0.1") }));
    for (const body of [
      { maxPrice: 0.1 },
      { maxPrice: "0.1" },
      { maxPrice: 1e-19, maxPriceWei: `${parseEther("0.1")}` },
    ]) {
      await buyDataOf(askId, body);
    }
    for (const body of [
      { maxPrice: 0.09 },
      { maxPrice: "0.099999999999999999999" },
      { maxPrice: 1e-7 },
      { maxPrice: 5, maxPriceWei: `${parseEther("0.1") - 1n}` },
    ]) {
      expect(await refusalOf(askId, body), JSON.stringify(body)).toMatchObject({
        refused: "409 price_above_max",
      });
    }
  });

  it("accepts an id in any case, and no body", async () => {
    const { carol } = book.actors;
    const askId = await listed(await carol.lists(punk(14n), { priceWei: parseEther("1") }));
    const [prefix, hash = ""] = askId.split("-0x");
    expect((await buyDataOf(`${prefix}-0x${hash.toUpperCase()}`)).askId).toBe(askId);
  });

  it("rejects invalid input with a code for each reason", async () => {
    const { carol } = book.actors;
    const askId = await listed(await carol.lists(punk(15n), { priceWei: parseEther("1") }));
    const table: [unknown, string][] = [
      [{ buyer: "0x12" }, "422 bad_request"],
      [{ maxPrice: "1,5" }, "422 bad_request"],
      [{ maxPrice: -1 }, "422 bad_request"],
      [{ maxPriceWei: "1.5" }, "422 bad_request"],
      [{ amount: 0 }, "422 bad_amount"],
      [{ amount: 1.5 }, "422 bad_amount"],
      [{ amount: "1" }, "422 bad_amount"],
      [{ amount: 2 }, "422 bad_amount"],
      [{ chainId: 5 }, "422 unsupported_chain"],
      [{ chainId: 33139 }, "422 unsupported_chain"],
      [[], "422 bad_request"],
    ];
    for (const [body, refused] of table) {
      expect(await refusalOf(askId, body), JSON.stringify(body)).toMatchObject({ refused });
    }
    for (const unknown of ["mkt-0x12", `mkt-0x${"ab".repeat(32)}`, `0x${"ab".repeat(32)}`]) {
      expect(await refusalOf(unknown)).toMatchObject({ refused: "404 not_found" });
    }
  });

  it("reports at once that a listing is not fillable on the chain, and updates the order book", async () => {
    const { carol, frank } = book.actors;
    const moved = await listed(await carol.lists(punk(16n), { priceWei: parseEther("1") }));
    const ended = await carol.lists(punk(17n), { priceWei: parseEther("1") });
    const cancelled = await listed(ended);
    await carol.transfers(punk(16n), frank);
    await carol.cancels(ended);
    // Nothing was indexed in between.
    expect(await statusOf(moved)).toMatchObject({ status: "active" });

    expect(await refusalOf(moved)).toMatchObject({ refused: "409 inactive" });
    expect(await statusOf(moved)).toMatchObject({ status: "inactive", invalidReason: "not_owner" });
    expect(await refusalOf(cancelled)).toMatchObject({ refused: "409 unavailable" });
    expect(await statusOf(cancelled)).toMatchObject({ status: "cancelled" });

    // The same once the events are indexed.
    await book.catchUp();
    expect(await refusalOf(moved)).toMatchObject({ refused: "409 inactive" });
    expect(await refusalOf(cancelled)).toMatchObject({ refused: "409 unavailable" });
  });

  it("rejects while the conduit is not approved, and sells again afterwards", async () => {
    const { erin } = book.actors;
    const askId = await listed(await erin.lists(punk(25n), { priceWei: parseEther("1") }));
    await erin.revokes(contracts.punks);
    const refusal = await refusalOf(askId);
    expect(refusal).toMatchObject({ refused: "409 inactive" });
    expect(await statusOf(askId)).toMatchObject({ invalidReason: "not_approved" });
    await erin.approves(contracts.punks);
    await book.catchUp();
    expect((await send("bob", await buyDataOf(askId))).status).toBe("success");
  });

  it("rejects a listing that its maker undercut, and one that a counter increment ended", async () => {
    const { frank } = book.actors;
    const dear = await listed(await frank.lists(punk(31n), { priceWei: parseEther("2") }));
    const cheap = await listed(await frank.lists(punk(31n), { priceWei: parseEther("1") }));
    const refusal = await refusalOf(dear);
    expect(refusal).toMatchObject({ refused: "409 inactive" });
    expect(refusal.message).toContain("superseded");
    await frank.incrementsCounter();
    expect(await refusalOf(cheap)).toMatchObject({ refused: "409 unavailable" });
    expect(await statusOf(cheap)).toMatchObject({ status: "cancelled" });
  });

  it("rejects a listing whose signed order differs from its row", async () => {
    const { grace } = book.actors;
    const order = await grace.lists(punk(37n), { priceWei: parseEther("1") });
    const askId = await listed(order);
    await sql`update listings.listing set unit_price_wei = unit_price_wei + 5
      where order_hash = decode(${askId.slice(6)}, 'hex')`.execute(book.db);
    expect(await refusalOf(askId)).toMatchObject({ refused: "409 order_mismatch" });
  });

  it("reports an unavailable chain, and that buying is paused", async () => {
    const { grace } = book.actors;
    const askId = await listed(await grace.lists(punk(38n), { priceWei: parseEther("1") }));
    book.node.override = () => ({ error: { code: -32_000, message: "node is down" } });
    expect(await refusalOf(askId)).toMatchObject({ refused: "502 upstream_error" });
    book.node.override = () => undefined;

    await setPaused(book.db, "buying", true);
    await expect.poll(() => refusalOf(askId)).toMatchObject({ refused: "503 buying_disabled" });
    const bulk = await book.post("/v1/listings/buy-data-bulk", { askIds: [askId] });
    expect(bulk.data).toMatchObject({ listings: [], errors: [{ askId, code: "buying_disabled" }] });
    await setPaused(book.db, "buying", false);
    await expect
      .poll(() => book.post(`/v1/listings/${askId}/buy-data`))
      .toMatchObject({
        status: 200,
      });
  });
});

describe("POST /v1/listings/buy-data-bulk", () => {
  it("returns what can be bought in the order of the request, and why the rest cannot", async () => {
    const { alice, grace } = book.actors;
    const priceWei = parseEther("1");
    const gone = await alice.lists(punk(4n), { priceWei });
    const ids = [
      await listed(await alice.lists(punk(3n), { priceWei })),
      await listed(gone),
      await listed(await grace.lists(edition(3n), { priceWei, quantity: 4n })),
      await listed(await grace.lists(punk(39n), { priceWei: 3n * priceWei })),
    ];
    await alice.cancels(gone);
    const askIds = [ids[3], "mkt-nothing", ids[2], ids[1], ids[0]];
    const requestsBefore = book.node.requests;

    const { status, data } = await book.post("/v1/listings/buy-data-bulk", {
      askIds,
      buyer: book.actors.bob.address,
    });

    expect(status).toBe(200);
    const { listings, errors } = z
      .object({ listings: z.array(BuyData), errors: z.array(z.looseObject({})) })
      .parse(data);
    expect(listings.map(({ askId, quantity }) => [askId, quantity])).toEqual([
      [ids[3], 1],
      [ids[2], 4],
      [ids[0], 1],
    ]);
    expect(errors).toMatchObject([
      { askId: "mkt-nothing", code: "not_found" },
      { askId: ids[1], code: "unavailable" },
    ]);
    expect(book.node.requests - requestsBefore).toBeLessThanOrEqual(4);
    for (const one of listings) expect((await send("bob", one)).status).toBe("success");
  });

  it("accepts one to twenty ids", async () => {
    for (const askIds of [undefined, [], Array.from({ length: 21 }, () => "mkt-1"), [7]]) {
      expect(await book.post("/v1/listings/buy-data-bulk", { askIds })).toMatchObject({
        status: 422,
        code: "bad_request",
      });
    }
  });
});

describe("any request to buy, accept or sync", () => {
  it("never causes a 500", async () => {
    const { grace } = book.actors;
    const askId = await listed(await grace.lists(punk(40n), { priceWei: parseEther("1") }));
    const bidId = await book.submit(await grace.offers(punk(1n), { priceWei: parseEther("1") }));
    const paths = [
      `/v1/listings/${askId}/buy-data`,
      "/v1/listings/buy-data-bulk",
      `/v1/bids/${bidId}/accept-data`,
      "/v1/bids/best-accept-data",
      `/v1/orders/asks/${askId}/sync`,
      `/v1/orders/bids/${bidId}/sync`,
    ];
    const hostile = fc.oneof(
      fc.jsonValue({ maxDepth: 2 }),
      fc.constantFrom(grace.address, askId, "1e999", "-1", "0x", 1e21, 1e-300, 2 ** 53),
      fc.bigInt({ min: 0n, max: 2n ** 260n }).map(String),
    );
    const fields = ["buyer", "amount", "maxPrice", "maxPriceWei", "askIds", "fulfiller"];
    const keys = fc.constantFrom("chainId", "tokenId", "contract", "txHash", ...fields);
    const bodies = fc.oneof(fc.dictionary(keys, hostile, { maxKeys: 4 }), hostile);
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...paths), bodies, async (path, body) => {
        expect((await book.post(path, body)).status).toBeLessThan(500);
      }),
      { numRuns: 150 },
    );
  });
});
