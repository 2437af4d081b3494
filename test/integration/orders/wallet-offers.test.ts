import { parseEther } from "viem";
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { WalletOffer } from "#api/v1/orders/wallet-offers.ts";
import { wrappedNative } from "#chains/index.ts";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import { type OrderBookFixture, openOrderBook } from "#test/support/orders/order-book-fixture.ts";
import { punk } from "#test/support/orders/stocked-tokens.ts";

const chainId = 33139;
const ether = parseEther("1");
const lower = ({ address }: { address: string }) => address.toLowerCase();
const [alice, bob] = [lower(accounts.alice), lower(accounts.bob)];

let book: OrderBookFixture;
beforeAll(async () => {
  book = await openOrderBook(chainId);
  await book.actors.frank.wraps(20n * ether);
  await book.actors.frank.allows(20n * ether);
  await book.catchUp();
});
afterAll(() => book?.close());

const Page = z.object({ data: z.array(WalletOffer), meta: z.looseObject({ total: z.int() }) });

async function offersOf(wallet: string, more = "") {
  const path = `/v1/wallets/${wallet}/offers?chainId=${chainId}${more}`;
  const { body } = await book.api.get(path);
  return Page.parse(body);
}

/** Token ids with the id of their bid. */
const bidsOf = async (wallet: string) => {
  const { data } = await offersOf(wallet, "&per_page=100");
  return Object.fromEntries(data.map(({ token, bid }) => [token.tokenId, bid.bidId]));
};

it("each token has the best bid that covers it, best net first, and the call that accepts it nets that", async () => {
  const { frank } = book.actors;
  const onAll = await book.submit(
    await frank.offersForCollection({
      standard: "erc721",
      contract: contracts.punks,
      priceWei: ether,
    }),
  );
  const onOne = await book.submit(await frank.offers(punk(3n), { priceWei: 2n * ether }));
  const lesser = await book.submit(await frank.offers(punk(2n), { priceWei: ether / 2n }));

  const { data, meta } = await offersOf(alice, `&collection=${contracts.punks}`);
  expect(meta.total).toBe(6);
  expect(data.map(({ token }) => token.tokenId)).toEqual(["3", "1", "2", "4", "5", "6"]);
  expect(data.map(({ bid }) => bid.bidId)).toEqual([onOne, ...Array(5).fill(onAll)]);
  expect(data.some(({ bid }) => bid.bidId === lesser)).toBe(false);
  const [first, second] = data;
  expect(first).toMatchObject({ kind: "single-token", sellableUnits: 1, token: { units: "1" } });
  expect(second).toMatchObject({
    kind: "collection",
    currency: { address: wrappedNative[chainId].toLowerCase() },
  });
  for (const { token, bid, sellerNetWei } of [first, second].flatMap((one) => one ?? [])) {
    const body = { chainId, fulfiller: alice, tokenId: token.tokenId };
    const accepted = await book.post(`/v1/bids/${bid.bidId}/accept-data`, body);
    expect(accepted, JSON.stringify(accepted)).toMatchObject({ data: { sellerNetWei } });
    expect(bid.sellerNetWei).toBe(sellerNetWei);
  }
});

it("a token that is sent takes its offers to the new owner, and one that is sold has none of its seller's", async () => {
  const before = await bidsOf(bob);
  const bid = (await bidsOf(alice))["3"];
  await book.actors.alice.transfers(punk(3n), book.actors.bob);
  await book.catchUp();
  expect(await bidsOf(alice)).not.toHaveProperty("3");
  expect(await bidsOf(bob)).toEqual({ ...before, "3": bid });
});

it("a bidder is offered nothing of its own, and a bid without money is offered to nobody", async () => {
  expect(await bidsOf(lower(accounts.frank))).toEqual({});
  await book.actors.frank.allows(0n);
  await book.catchUp();
  expect(await bidsOf(bob)).toEqual({});
  await book.actors.frank.allows(20n * ether);
  await book.catchUp();
  expect(Object.keys(await bidsOf(bob))).toContain("3");
});

it("pages by cursor and by number name each token once", async () => {
  const { data } = await offersOf(bob);
  const idsOf = (rows: typeof data) => rows.map(({ token }) => token.tokenId);
  const byNumber: string[] = [];
  for (let page = 1; page <= data.length; page += 1)
    byNumber.push(...idsOf((await offersOf(bob, `&per_page=1&page=${page}`)).data));
  expect(byNumber).toEqual(idsOf(data));
  const byCursor: string[] = [];
  for (let cursor = ""; ; ) {
    const page = await offersOf(bob, `&per_page=2${cursor}`);
    byCursor.push(...idsOf(page.data));
    const { next_cursor: next } = page.meta;
    if (typeof next !== "string") break;
    cursor = `&cursor=${next}`;
  }
  expect(byCursor).toEqual(idsOf(data));
});

it("an unknown collection is refused", async () => {
  const path = `/v1/wallets/${alice}/offers?chainId=${chainId}&collection=nobody`;
  expect((await book.api.get(path)).status).toBe(404);
});
