import { parseEther } from "viem";
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { commonConduit, seaportAddresses } from "#abis/deployments.ts";
import { Exposure } from "#api/v1/orders/exposure.ts";
import { wrappedNative } from "#chains/index.ts";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import { type OrderBookFixture, openOrderBook } from "#test/support/orders/order-book-fixture.ts";
import { punk } from "#test/support/orders/stocked-tokens.ts";

const chainId = 33139;
const ether = parseEther("1");
const lower = ({ address }: { address: string }) => address.toLowerCase();
const [alice, frank] = [lower(accounts.alice), lower(accounts.frank)];

let book: OrderBookFixture;
beforeAll(async () => {
  book = await openOrderBook(chainId);
});
afterAll(() => book?.close());

type Item = z.output<typeof Exposure>;
const Page = z.object({
  data: z.array(Exposure),
  meta: z.object({ next_cursor: z.string().nullable() }),
});

/** The whole list, by pages of that many rows. */
async function exposureOf(wallet: string, perPage = 100): Promise<Item[]> {
  const items: Item[] = [];
  const first = `/v1/wallets/${wallet}/exposure?chainId=${chainId}&per_page=${perPage}`;
  for (let cursor: string | null = ""; cursor !== null; ) {
    const { body } = await book.api.get(cursor === "" ? first : `${first}&cursor=${cursor}`);
    const page: z.output<typeof Page> = Page.parse(body);
    expect(page.data.length).toBeLessThanOrEqual(perPage);
    items.push(...page.data);
    cursor = page.meta.next_cursor;
  }
  return items;
}

const idOf = ({ listing, bid }: Item) => listing?.askId ?? bid?.bidId;

/** The orders listed, with what each lacks. */
async function ordersOf(wallet: string): Promise<Record<string, string | null>> {
  const items = await exposureOf(wallet);
  return Object.fromEntries(
    items.flatMap((item) => {
      const id = idOf(item);
      return id === undefined ? [] : [[id, item.fillableWith]];
    }),
  );
}

async function statusOf(side: "listings" | "bids", id: string): Promise<string> {
  const { data } = await book.get(`/v1/${side}/${id}?chainId=${chainId}`);
  return z.looseObject({ status: z.string() }).parse(data).status;
}

const statuses = (side: "listings" | "bids", ids: readonly string[]) =>
  Promise.all(ids.map((id) => statusOf(side, id)));

async function itemOf(wallet: string, id: string): Promise<Item> {
  const item = (await exposureOf(wallet)).find((one) => idOf(one) === id);
  if (item === undefined) throw new Error(`${id} is not listed`);
  return item;
}

it("listings are listed while their token or approval is away, become active when it is back, and no others do", async () => {
  const { alice: maker, bob } = book.actors;
  const lists = async (tokenId: bigint) => {
    const order = await maker.lists(punk(tokenId), { priceWei: ether });
    return { order, id: await book.submit(order) };
  };
  const [kept, sent, cancelled] = [await lists(1n), await lists(2n), await lists(3n)];
  const ids = [kept.id, sent.id, cancelled.id];
  expect(await ordersOf(alice)).toEqual({});

  await maker.transfers(punk(2n), bob);
  await maker.transfers(punk(3n), bob);
  await maker.cancels(cancelled.order);
  await book.catchUp();
  expect(await ordersOf(alice)).toEqual({ [sent.id]: "token" });

  await maker.revokes(contracts.punks);
  await book.catchUp();
  const told = await ordersOf(alice);
  expect(told).toEqual({ [kept.id]: "token_approval", [sent.id]: "token" });
  expect(await statuses("listings", ids)).toEqual(["inactive", "inactive", "cancelled"]);

  await bob.transfers(punk(2n), maker);
  await bob.transfers(punk(3n), maker);
  await maker.approves(contracts.punks);
  await book.catchUp();
  const expected = ids.map((id) => (id in told ? "active" : "cancelled"));
  expect(await statuses("listings", ids)).toEqual(expected);
  expect(await ordersOf(alice)).toEqual({});
});

it("the cancellation that is given ends a listing for good", async () => {
  const { alice: maker, bob } = book.actors;
  const id = await book.submit(await maker.lists(punk(4n), { priceWei: ether }));
  await maker.transfers(punk(4n), bob);
  await book.catchUp();
  const { end } = await itemOf(alice, id);
  expect(end).toMatchObject({ action: "cancel", to: seaportAddresses["1.6"], value: "0" });

  await maker.transact({ to: end.to as `0x${string}`, data: end.data as `0x${string}` });
  await bob.transfers(punk(4n), maker);
  await book.catchUp();
  expect(await statusOf("listings", id)).toBe("cancelled");
  expect(await ordersOf(alice)).toEqual({});
});

it("bids are listed while money or the allowance is away, and become active when it is back", async () => {
  const { frank: bidder } = book.actors;
  await bidder.wraps(3n * ether);
  await bidder.allows(3n * ether);
  const ids = [
    await book.submit(await bidder.offers(punk(7n), { priceWei: ether })),
    await book.submit(await bidder.offers(punk(8n), { priceWei: 2n * ether })),
  ];
  const [small = "", large = ""] = ids;
  await book.catchUp();
  expect(await statuses("bids", ids)).toEqual(["active", "active"]);
  expect(await ordersOf(frank)).toEqual({});

  await bidder.unwraps(2n * ether);
  await book.catchUp();
  expect(await ordersOf(frank)).toEqual({ [large]: "balance" });
  await bidder.allows(0n);
  await book.catchUp();
  expect(await ordersOf(frank)).toEqual({ [large]: "balance", [small]: "allowance" });

  await bidder.wraps(2n * ether);
  await bidder.allows(3n * ether);
  await book.catchUp();
  expect(await statuses("bids", ids)).toEqual(["active", "active"]);
  expect(await ordersOf(frank)).toEqual({});
});

it("approvals are listed until they are revoked by the transaction that is given", async () => {
  const { frank: owner } = book.actors;
  const approvalsOf = async () =>
    (await exposureOf(frank)).flatMap(({ approval, end }) =>
      approval === null ? [] : [{ ...approval, end }],
    );
  const before = await approvalsOf();
  const money = before.find(({ of }) => of === "money");
  expect(money).toMatchObject({
    contract: wrappedNative[chainId],
    operator: seaportAddresses["1.6"],
    amountWei: String(3n * ether),
  });
  const tokens = before.find(({ contract }) => contract === contracts.punks.toLowerCase());
  expect(tokens).toMatchObject({ of: "tokens", operator: commonConduit.address, amountWei: null });

  for (const { end } of before)
    await owner.transact({ to: end.to as `0x${string}`, data: end.data as `0x${string}` });
  await book.catchUp();
  expect(await approvalsOf()).toEqual([]);
});

it("its pages, of any size, are the whole list", async () => {
  const { alice: maker, bob } = book.actors;
  for (const tokenId of [5n, 6n]) {
    await book.submit(await maker.lists(punk(tokenId), { priceWei: ether }));
    await maker.transfers(punk(tokenId), bob);
  }
  await book.catchUp();
  const whole = await exposureOf(alice);
  expect(whole.filter(({ kind }) => kind === "listing")).toHaveLength(2);
  expect(whole.filter(({ kind }) => kind === "approval").length).toBeGreaterThan(1);
  for (const size of [1, 2, 3]) expect(await exposureOf(alice, size)).toEqual(whole);
});
