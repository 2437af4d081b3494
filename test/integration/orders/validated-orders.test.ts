import { Interface } from "ethers";
import { type Address, type Hex, parseEther } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seaportFunctions } from "#abis/seaport.ts";
import { BuyData } from "#api/v1/orders/buy-data.ts";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import type { SignedOrder } from "#projections/domain/seaport/order-components.ts";
import { wireOrder } from "#test/support/orders/intake-fixture.ts";
import { type OrderBookFixture, openOrderBook } from "#test/support/orders/order-book-fixture.ts";
import { edition, punk } from "#test/support/orders/stocked-tokens.ts";

const chainId = 33139;
let book: OrderBookFixture;
beforeAll(async () => {
  book = await openOrderBook(chainId);
  const { alice, bob, carol, frank, wallet } = book.actors;
  await alice.mintsRange(contracts.punks, 1_000n, 20n);
  await alice.mintsEditions({ contract: contracts.editions, tokenIds: [900n, 901n], units: 10n });
  await wallet.mints(punk(1_100n));
  await bob.mints(punk(1_200n));
  await carol.mints(edition(902n), 5n);
  await frank.wraps(parseEther("100"));
  await frank.allows(parseEther("100"));
  await book.catchUp();
});
afterAll(() => book?.close());

/** What a client may send in place of a signature. */
const unsigned: readonly (readonly [string, unknown])[] = [
  ["no signature", undefined],
  ["null", null],
  ["an empty text", ""],
  ["0x", "0x"],
  ["a byte", "0x01"],
  ["65 bytes", `0x${"11".repeat(65)}`],
  ["as many bytes as a bulk order's signature", `0x${"22".repeat(100)}`],
];

const post = (side: "asks" | "bids", order: SignedOrder, signature: unknown) =>
  book.post(`/v1/orders/${side}`, {
    chainId,
    seaport: { ...wireOrder(order), signature },
  });

async function fillListing(askId: string, buyer: "dave" | "erin") {
  const answer = await book.post(`/v1/listings/${askId}/buy-data`, {
    chainId,
    buyer: accounts[buyer].address,
  });
  expect(answer, JSON.stringify(answer)).toMatchObject({ status: 200 });
  const { to, data, value, orderData } = BuyData.parse(answer.data);
  const receipt = await book.client.sendTransactionSync({
    account: accounts[buyer],
    chain: book.client.chain,
    ...{ to: to as Address, data: data as Hex, value: BigInt(value), gas: 1_500_000n },
  });
  expect(receipt.status).toBe("success");
  return orderData.signature;
}

const encoder = new Interface(JSON.stringify(seaportFunctions));

async function fillBid(bidId: string, seller: "bob" | "carol", tokenId: bigint) {
  const path = `/v1/bids/${bidId}/accept-data`;
  const body = { chainId, fulfiller: accounts[seller].address, tokenId: `${tokenId}` };
  const answer = await book.post(path, body);
  expect(answer, JSON.stringify(answer)).toMatchObject({ status: 200 });
  const accept = answer.data;
  const args =
    accept.method === "matchAdvancedOrders"
      ? [accept.orders, accept.criteriaResolvers, accept.fulfillments, accept.recipient]
      : [accept.basicOrderParameters];
  const receipt = await book.client.sendTransactionSync({
    account: accounts[seller],
    chain: book.client.chain,
    to: accept.to as Address,
    data: encoder.encodeFunctionData(accept.method, args) as Hex,
    gas: 1_500_000n,
  });
  expect(receipt.status).toBe("success");
}

describe("an order that its maker validated on chain", () => {
  it.each(unsigned.map(([name, signature], index) => ({ name, signature, index })))(
    "is listed and sold with $name",
    async ({ signature, index }) => {
      const { alice, dave } = book.actors;
      const tokenId = 1_000n + BigInt(index);
      const order = await alice.lists(punk(tokenId), { priceWei: parseEther("0.1") });
      expect((await post("asks", order, signature)).status).toBe(422);
      await alice.validates({ ...order, signature: "0x" });
      const answer = await post("asks", order, signature);
      expect(answer, JSON.stringify(answer)).toMatchObject({ status: 201 });
      expect(answer.data.status).toBe("active");
      expect(await fillListing(answer.data.askId, "dave")).toBe("0x");
      expect(await book.ownerOf(tokenId)).toBe(dave.address);
    },
  );

  it("is refused as before when it is not validated", async () => {
    const order = await book.actors.alice.lists(punk(1_010n), { priceWei: parseEther("0.1") });
    const codes = await Promise.all(
      unsigned.map(async ([, signature]) => (await post("asks", order, signature)).code),
    );
    expect(codes).toEqual([
      ...["missing_signature", "missing_signature", "missing_signature", "missing_signature"],
      ...["bad_signature_length", "bad_signature", "bulk_signature_not_allowed"],
    ]);
  });

  it("sells units of an ERC-1155 token in parts", async () => {
    const { alice, dave } = book.actors;
    const terms = { priceWei: parseEther("0.1"), quantity: 4n };
    const order = await alice.lists(edition(900n), terms);
    await alice.validates({ ...order, signature: "0x" });
    const { data } = await post("asks", order, "0x");
    await fillListing(data.askId, "dave");
    expect(await book.unitsOf(dave.address, 900n)).toBe(4n);
  });

  it("is accepted of a contract and in bulk", async () => {
    const { alice, wallet, erin } = book.actors;
    const ofWallet = await wallet.lists(punk(1_100n), { priceWei: parseEther("0.1") });
    const ofAccount = await alice.lists(edition(901n), { priceWei: parseEther("0.1") });
    const fresh = await alice.lists(punk(1_011n), { priceWei: parseEther("0.1") });
    await wallet.validates({ ...ofWallet, signature: "0x" });
    await alice.validates({ ...ofAccount, signature: "0x" });
    const answer = await book.post("/v1/orders/asks/bulk", {
      chainId,
      listings: [ofWallet, ofAccount, fresh].map((order) => ({
        seaport: { ...wireOrder(order), signature: "0x" },
      })),
    });
    const results: { askId?: string; code?: string }[] = answer.data.results ?? answer.data;
    expect(results.map(({ code }) => code ?? null)).toEqual([null, null, "missing_signature"]);
    for (const { askId } of results.slice(0, 2)) await fillListing(askId ?? "", "erin");
    expect(await book.ownerOf(1_100n)).toBe(erin.address);
  });

  it.each([
    ["one token", () => book.actors.frank.offers(punk(1_200n), { priceWei: parseEther("1") })],
    [
      "a collection",
      () =>
        book.actors.frank.offersForCollection({
          standard: "erc1155",
          contract: contracts.editions,
          priceWei: parseEther("1"),
        }),
    ],
  ] as const)("buys as an offer for %s", async (name, bid) => {
    const { frank } = book.actors;
    const order = await bid();
    expect((await post("bids", order, "0x")).code).toBe("missing_signature");
    await frank.validates({ ...order, signature: "0x" });
    const answer = await post("bids", order, undefined);
    expect(answer, JSON.stringify(answer)).toMatchObject({ status: 201 });
    if (name === "one token") {
      await fillBid(answer.data.bidId, "bob", 1_200n);
      expect(await book.ownerOf(1_200n)).toBe(frank.address);
    } else {
      await fillBid(answer.data.bidId, "carol", 902n);
      expect(await book.unitsOf(frank.address, 902n)).toBe(1n);
    }
  });

  it("ends with its cancellation and with its maker's counter", async () => {
    const { alice } = book.actors;
    const orders = await Promise.all(
      [1_012n, 1_013n].map((id) => alice.lists(punk(id), { priceWei: parseEther("0.1") })),
    );
    for (const order of orders) await alice.validates({ ...order, signature: "0x" });
    const ids: string[] = [];
    for (const order of orders) ids.push((await post("asks", order, "0x")).data.askId);
    const statusOf = async (askId = "") =>
      (await book.get(`/v1/listings/${askId}?chainId=${chainId}`)).data.status;
    await alice.cancels(...orders.slice(0, 1));
    await book.catchUp();
    expect(await statusOf(ids[0])).toBe("cancelled");
    await alice.incrementsCounter();
    const [, other] = orders;
    if (other === undefined) throw new Error("no order");
    expect((await book.post(`/v1/listings/${ids[1]}/buy-data`, { chainId })).code).toBe(
      "unavailable",
    );
    await book.catchUp();
    expect(await statusOf(ids[1])).toBe("cancelled");
    const late = await alice.lists(punk(1_014n), { priceWei: parseEther("0.1") });
    await alice.validates({ ...late, signature: "0x" });
    await alice.incrementsCounter();
    expect((await post("asks", late, "0x")).code).toBe("counter_stale");
  });
});
