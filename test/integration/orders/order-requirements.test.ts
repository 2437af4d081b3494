import { parseEther, zeroHash } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { commonConduit, seaportAddresses } from "#abis/deployments.ts";
import { wrappedNative } from "#chains/index.ts";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import { addressOf } from "#test/support/database/given.ts";
import { type OrderBookFixture, openOrderBook } from "#test/support/orders/order-book-fixture.ts";
import { testFee } from "#test/support/orders/test-market.ts";

const chainId = 33139;
const alice = accounts.alice.address;
const unitPriceWei = `${parseEther("1")}`;

let book: OrderBookFixture;

beforeAll(async () => {
  book = await openOrderBook(chainId);
  const { actors } = book;
  for (const contract of [contracts.burnable, contracts.guarded]) {
    await actors.alice.mints({ standard: "erc721", contract, tokenId: 1n });
  }
  const gone = { standard: "erc721", contract: contracts.burnable, tokenId: 2n } as const;
  await actors.alice.mints(gone);
  await actors.alice.burns(gone);
  await actors.alice.approves(contracts.guarded);
  await book.catchUp();
});
afterAll(() => book?.close());

const punk = { contract: contracts.punks, tokenId: "1", quantity: 1, unitPriceWei };
const edition = { contract: contracts.editions, tokenId: "1", quantity: 60, unitPriceWei };
const bobsPunk = { ...punk, tokenId: "7" };

async function required(path: string, maker: string, items: object[]) {
  const { status, data } = await book.post(path, { chainId, maker, items });
  expect(status).toBe(200);
  expect(data.items).toHaveLength(items.length);
  return data;
}

const toList = (items: object[]) => required("/v1/listings/requirements", alice, items);
const toBid = (items: object[]) => required("/v1/bids/requirements", accounts.dave.address, items);

describe("POST /v1/listings/requirements", () => {
  it("returns what to approve, what to sign and the seller's net", async () => {
    const answer = await toList([punk, edition]);

    expect(answer).toMatchObject({
      seaport: seaportAddresses["1.6"],
      conduitKey: commonConduit.key,
      conduit: commonConduit.address,
      feeRecipient: testFee.recipient,
      feeBps: testFee.bps,
      counter: "0",
    });
    const [one, many] = answer.items;
    expect(one).toMatchObject({
      ...punk,
      standard: "erc721",
      heldUnits: "1",
      owned: true,
      approval: { needed: false, operator: commonConduit.address, token: contracts.punks },
      royalty: { source: "erc2981", bps: 500 },
      sellerNetWei: `${parseEther("0.94")}`,
      orderType: 0,
      blocked: null,
      message: null,
    });
    expect(many).toMatchObject({
      standard: "erc1155",
      heldUnits: "60",
      orderType: 1,
      blocked: null,
    });
    expect(many.consideration.map((leg: { startAmount: string }) => leg.startAmount)).toEqual(
      ["0.94", "0.01", "0.05"].map((share) => `${parseEther(share) * 60n}`),
    );
  });

  it("does not block because of a missing approval", async () => {
    const { items } = await toList([{ ...punk, contract: contracts.burnable }]);

    expect(items[0]).toMatchObject({ blocked: null, approval: { needed: true } });
  });

  it.each([
    ["not_owner", bobsPunk],
    ["insufficient_quantity", { ...edition, quantity: 61 }],
    ["not_owner", { ...edition, tokenId: "99" }],
    ["token_not_found", { ...punk, tokenId: "4000" }],
    ["token_burned", { ...punk, contract: contracts.burnable, tokenId: "2" }],
    ["transfer_restricted", { ...punk, contract: contracts.guarded }],
    ["bad_quantity", { ...punk, quantity: 2 }],
    ["zero_price", { ...punk, unitPriceWei: "0" }],
    ["price_too_low", { ...punk, unitPriceWei: "9999" }],
    ["price_too_high", { ...punk, unitPriceWei: `${10n ** 27n + 1n}` }],
    ["price_too_high", { ...edition, unitPriceWei: `${2n ** 256n - 1n}` }],
    ["unknown_collection", { ...punk, contract: addressOf(1) }],
    ["unknown_collection", { ...punk, contract: wrappedNative[chainId] }],
  ])("blocks with %s like intake, and continues with the other items", async (code, item) => {
    const { items } = await toList([punk, item, edition]);

    expect(items.map(({ blocked }: { blocked: string | null }) => blocked)).toEqual([
      null,
      code,
      null,
    ]);
    expect(items[1].message).not.toBe("");
  });

  it("blocks with raise_requires_cancel while the maker's cheaper listing of the token is open", async () => {
    const token = { standard: "erc721", contract: contracts.punks, tokenId: 2n } as const;
    const order = await book.actors.alice.lists(token, { priceWei: parseEther("1") });
    await book.submit(order);
    const item = { ...punk, tokenId: "2" };
    const dearer = { ...item, unitPriceWei: `${parseEther("1") + 1n}` };
    const codes = async () =>
      (await toList([item, dearer])).items.map(({ blocked }: { blocked: string }) => blocked);
    expect(await codes()).toEqual([null, "raise_requires_cancel"]);

    await book.actors.alice.cancels(order);
    expect(await codes(), "the chain is ahead of the book").toEqual([null, null]);
  });

  it("makes as many RPC requests for a hundred items as for one", async () => {
    const requests = async (items: object[]) => {
      const before = book.node.requests;
      await toList(items);
      return book.node.requests - before;
    };
    const hundred = Array.from({ length: 100 }, (_, index) => ({ ...punk, tokenId: `${index}` }));

    expect(await requests([punk])).toBeLessThanOrEqual(4);
    expect(await requests(hundred)).toBeLessThanOrEqual(10);
  });

  it.each([
    ["no items", { maker: alice, items: [] }],
    ["101 items", { maker: alice, items: Array.from({ length: 101 }, () => punk) }],
    ["no maker", { items: [punk] }],
    ["a token id that is a number", { maker: alice, items: [{ ...punk, tokenId: 1 }] }],
    ["a quantity of 0", { maker: alice, items: [{ ...punk, quantity: 0 }] }],
    ["half a unit", { maker: alice, items: [{ ...punk, quantity: 0.5 }] }],
  ])("rejects %s as bad_structure", async (_, body) => {
    const answer = await book.post("/v1/listings/requirements", { chainId, ...body });
    expect(answer).toMatchObject({ status: 422, code: "bad_structure" });
  });
});

describe("POST /v1/bids/requirements", () => {
  const amountWei = `${parseEther("2")}`;
  const item = { kind: "item", contract: contracts.punks, tokenId: "1", amountWei, quantity: 1 };
  const any = { kind: "collection", contract: contracts.punks, amountWei, quantity: 3 };

  it("requires an allowance for the open offers and every item that is not blocked", async () => {
    const { dave } = book.actors;
    await dave.wraps(parseEther("6"));
    const open = await dave.offersForCollection({
      standard: "erc721",
      contract: contracts.punks,
      priceWei: parseEther("0.5"),
      quantity: 2n,
    });
    await book.submit(open);
    await book.catchUp();

    const tooDear = { ...item, amountWei: `${parseEther("6") + 1n}` };
    const answer = await toBid([item, any, tooDear]);

    expect(answer).toMatchObject({
      seaport: seaportAddresses["1.6"],
      conduitKey: zeroHash,
      sellerConduitKey: commonConduit.key,
      currency: { symbol: "WAPE", address: wrappedNative[chainId] },
      balanceWei: `${parseEther("6")}`,
      allowanceWei: "0",
      openOffersWei: `${parseEther("1")}`,
      requiredAllowanceWei: `${parseEther("9")}`,
    });
    expect(answer.items).toMatchObject([
      { kind: "item", tokenId: "1", totalWei: amountWei, blocked: null, orderType: 0 },
      {
        kind: "collection",
        tokenId: null,
        totalWei: `${parseEther("6")}`,
        blocked: null,
        orderType: 1,
      },
      { blocked: "insufficient_balance" },
    ]);
  });

  it("returns the consideration for all units", async () => {
    const { items } = await toBid([any]);

    expect(items[0]).toMatchObject({
      sellerNetWei: `${parseEther("1.88")}`,
      offer: [{ itemType: 1, token: wrappedNative[chainId], startAmount: `${parseEther("6")}` }],
      consideration: [
        { itemType: 4, token: contracts.punks, identifierOrCriteria: "0", startAmount: "3" },
        { itemType: 1, recipient: testFee.recipient, startAmount: `${parseEther("0.06")}` },
        { itemType: 1, recipient: accounts.royaltyRecipient, startAmount: `${parseEther("0.3")}` },
      ],
    });
  });

  it.each([
    ["token_not_found", { ...item, tokenId: "4000" }],
    ["token_burned", { ...item, contract: contracts.burnable, tokenId: "2" }],
    ["self_offer", { ...item, tokenId: "20" }],
    ["bad_quantity", { ...item, quantity: 2 }],
    ["price_too_low", { ...item, amountWei: "1" }],
    ["zero_price", { ...item, amountWei: "0" }],
    ["unknown_collection", { ...any, contract: addressOf(1) }],
  ])("blocks with %s like intake", async (code, wrong) => {
    const { items, openOffersWei, requiredAllowanceWei } = await toBid([wrong]);

    expect(items[0].blocked).toBe(code);
    expect(requiredAllowanceWei).toBe(openOffersWei);
  });

  it.each([
    [
      "an item without a token",
      { kind: "item", contract: contracts.punks, amountWei, quantity: 1 },
    ],
    ["a collection with a token", { ...any, tokenId: "1" }],
    ["another kind", { ...item, kind: "single-token" }],
  ])("rejects %s as bad_structure", async (_, wrong) => {
    const body = { chainId, maker: alice, items: [wrong] };
    const answer = await book.post("/v1/bids/requirements", body);
    expect(answer).toMatchObject({ status: 422, code: "bad_structure" });
  });
});

describe("while the chain is unavailable, requirements", () => {
  it.each([
    ["/v1/listings/requirements", punk],
    [
      "/v1/bids/requirements",
      { kind: "collection", contract: contracts.punks, amountWei: "20000", quantity: 1 },
    ],
  ])("of %s are rejected with rpc_unavailable", async (path, item) => {
    book.node.override = () => ({ error: { code: -32_000, message: "the node is down" } });
    try {
      const answer = await book.post(path, { chainId, maker: alice, items: [item] });
      expect(answer).toMatchObject({ status: 422, code: "rpc_unavailable" });
    } finally {
      book.node.override = () => undefined;
    }
  });

  it("of a chain that is not served are rejected with unsupported_chain", async () => {
    const body = { chainId: 5, maker: alice, items: [punk] };
    const answer = await book.post("/v1/listings/requirements", body);
    expect(answer).toMatchObject({ status: 422, code: "unsupported_chain" });
  });
});
