import { type Address, erc20Abi, type Hex, parseEther } from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { z } from "zod";
import { seaportAddresses } from "#abis/deployments.ts";
import { erc721Abi, erc1155Abi } from "#abis/tokens.ts";
import { BuyData } from "#api/v1/orders/buy-data.ts";
import { wrappedNative } from "#chains/index.ts";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import {
  openPartnerOrderBook,
  type PartnerOrderBook,
} from "#test/support/orders/partner-order-book-fixture.ts";
import { punk } from "#test/support/orders/stocked-tokens.ts";

let book: PartnerOrderBook;
beforeAll(async () => {
  book = await openPartnerOrderBook(1);
});
afterAll(() => book?.close());
afterEach(() => {
  book.opensea.heal();
  book.magiceden.heal();
});

const edition = { standard: "erc1155", contract: contracts.editions, tokenId: 1n } as const;
const priceWei = parseEther("1");
const maker = accounts.alice;

const buyerOf = (name: "bob" | "carol") => accounts[name].address.toLowerCase();

async function buyDataOf(askId: string, body?: unknown) {
  const answer = await book.post(`/v1/listings/${askId}/buy-data`, body);
  expect(answer, JSON.stringify(answer)).toMatchObject({ status: 200 });
  return BuyData.parse(answer.data);
}

async function refusalOf(askId: string, body?: unknown) {
  const { status, code } = await book.post(`/v1/listings/${askId}/buy-data`, body);
  return `${status} ${code}`;
}

/** Sends the API's response unchanged; whether the transaction succeeded. */
async function sends(from: "bob" | "carol", { to, data, value }: z.output<typeof BuyData>) {
  const receipt = await book.client.sendTransactionSync({
    account: accounts[from],
    chain: book.client.chain,
    to: to as Address,
    data: data as Hex,
    value: BigInt(value),
    gas: 1_500_000n,
  });
  return receipt.status;
}

const ownerOf = async (tokenId: bigint) => {
  const asked = { address: contracts.punks, abi: erc721Abi, functionName: "ownerOf" } as const;
  return (await book.client.readContract({ ...asked, args: [tokenId] })).toLowerCase();
};

const unitsOf = (owner: Address) =>
  book.client.readContract({
    address: contracts.editions,
    abi: erc1155Abi,
    functionName: "balanceOf",
    args: [owner, edition.tokenId],
  });

describe("a listing of partner_a", () => {
  it("is bought by the named wallet, for its price", async () => {
    const { askId } = await book.shows(book.opensea, { maker, nft: punk(1n), priceWei });
    const bought = await buyDataOf(askId, { buyer: buyerOf("bob") });
    expect(bought).toMatchObject({ askId, to: seaportAddresses["1.6"], value: `${priceWei}` });
    const soon = Date.now() + 10 * 60_000;
    expect(Date.parse(bought.validUntil ?? "")).toBeLessThan(soon);
    expect(await sends("bob", bought)).toBe("success");
    expect(await ownerOf(1n)).toBe(buyerOf("bob"));
  });

  it("needs the buyer, and fails for any other wallet and after its time", async () => {
    const { askId } = await book.shows(book.opensea, { maker, nft: punk(2n), priceWei });
    expect(await refusalOf(askId)).toBe("422 buyer_required");
    const bought = await buyDataOf(askId, { buyer: buyerOf("bob") });
    expect(await sends("carol", bought)).toBe("reverted");

    const snapshot = await book.client.snapshot();
    await book.client.increaseTime({ seconds: 300 });
    expect(await sends("bob", bought)).toBe("reverted");
    await book.client.revert({ id: snapshot });
    expect(await sends("bob", bought)).toBe("success");
  });

  it("rejects a fulfillment of another order or at another price", async () => {
    const { askId } = await book.shows(book.opensea, { maker, nft: punk(3n), priceWei });
    const body = { buyer: buyerOf("bob") };
    book.opensea.fail({ wrong: ["substituted"] });
    expect(await refusalOf(askId, body)).toBe("409 order_mismatch");
    book.opensea.heal();
    const limit = { ...body, maxPriceWei: `${priceWei - 1n}` };
    expect(await refusalOf(askId, limit)).toBe("409 price_above_max");
    expect(await refusalOf(askId, { ...body, amount: 2 })).toBe("422 bad_amount");
  });

  it("is unavailable once the partner no longer has it, and upstream_error while the partner does not respond", async () => {
    const { askId, shown } = await book.shows(book.opensea, { maker, nft: punk(4n), priceWei });
    const body = { buyer: buyerOf("bob") };
    book.opensea.fail({ down: "refusing" });
    expect(await refusalOf(askId, body)).toBe("502 upstream_error");
    book.opensea.heal();
    expect((await buyDataOf(askId, body)).askId).toBe(askId);
    book.opensea.withdraw(1, shown.orderHash);
    expect(await refusalOf(askId, body)).toBe("409 unavailable");
  });

  it("of several units is bought in part", async () => {
    const sale = { maker: accounts.bob, nft: edition, priceWei, quantity: 4n };
    const { askId } = await book.shows(book.opensea, sale);
    const bought = await buyDataOf(askId, { buyer: buyerOf("carol"), amount: 3 });
    expect(bought).toMatchObject({ quantity: 3, value: `${priceWei * 3n}` });
    expect(await sends("carol", bought)).toBe("success");
    await book.catchUp();
    const { data } = await book.get(`/v1/listings/${askId}`);
    expect(data).toMatchObject({ status: "active", quantityRemaining: 1 });
  });

  it("of several units that the exchange fills together is bought as a whole, or not at all", async () => {
    const sale = { maker: accounts.bob, nft: edition, priceWei, quantity: 3n, isWhole: true };
    const { askId } = await book.shows(book.opensea, sale);
    const buyer = buyerOf("carol");
    expect(await refusalOf(askId, { buyer, amount: 2 })).toBe("422 bad_amount");
    const bought = await buyDataOf(askId, { buyer });
    expect(bought).toMatchObject({ quantity: 3, value: `${priceWei * 3n}` });
    expect(await sends("carol", bought)).toBe("success");
  });
});

describe("a listing of partner_b", () => {
  it("is checked against the chain and bought without a named buyer", async () => {
    const { askId } = await book.shows(book.magiceden, { maker, nft: punk(5n), priceWei });
    const bought = await buyDataOf(askId);
    expect(bought).toMatchObject({ value: `${priceWei}`, orderData: { payment: null } });
    await book.actors.alice.transfers(punk(5n), book.actors.carol);
    expect(await refusalOf(askId)).toBe("409 inactive");
  });

  it("without an end is bought until the last time that there is", async () => {
    const sale = { maker: accounts.dave, nft: punk(19n), priceWei, durationSeconds: 9e12 };
    const { askId } = await book.shows(book.magiceden, sale);
    const bought = await buyDataOf(askId);
    expect(bought.validUntil).toBe("9999-12-31T23:59:59.000Z");
    expect(await sends("carol", bought)).toBe("success");
  });

  it("of several units that the exchange fills together is bought as a whole, or not at all", async () => {
    const sale = { maker: accounts.dave, nft: edition, priceWei, quantity: 3n, isWhole: true };
    const { askId } = await book.shows(book.magiceden, sale);
    expect(await refusalOf(askId, { amount: 2 })).toBe("422 bad_amount");
    const bought = await buyDataOf(askId);
    expect(bought).toMatchObject({ quantity: 3, value: `${priceWei * 3n}` });
    const rest = (await unitsOf(accounts.dave.address)) - 2n;
    await book.actors.dave.transfers(edition, book.actors.carol, rest);
    expect(await refusalOf(askId)).toBe("409 inactive");
    expect(await sends("carol", bought)).toBe("reverted");
    await book.catchUp();
    const { data } = await book.get(`/v1/listings/${askId}`);
    expect(data).toMatchObject({ status: "inactive", invalidReason: "not_owner" });
    await book.actors.carol.transfers(edition, book.actors.dave, rest);
    await book.catchUp();
    expect(await sends("carol", await buyDataOf(askId))).toBe("success");
  });

  it("priced in the wrapped currency sends no value and returns the buyer's balance and allowance", async () => {
    const sale = { maker, nft: punk(6n), priceWei, currency: "wrapped" } as const;
    const { askId } = await book.shows(book.magiceden, sale);
    const token = wrappedNative[1];
    expect(await buyDataOf(askId)).toMatchObject({
      value: "0",
      priceWei: `${priceWei}`,
      currency: { address: token },
      orderData: { payment: { token, balanceWei: null, requiredWei: `${priceWei}` } },
    });
    await book.actors.bob.wraps(priceWei);
    const before = await buyDataOf(askId, { buyer: buyerOf("bob") });
    const wei = BigInt(before.orderData.payment?.balanceWei ?? 0);
    expect(wei).toBeGreaterThanOrEqual(priceWei);
    expect(await sends("bob", before)).toBe("reverted");
    await book.client.writeContractSync({
      account: accounts.bob,
      chain: book.client.chain,
      address: token,
      abi: erc20Abi,
      functionName: "approve",
      args: [seaportAddresses["1.6"], BigInt(before.priceWei)],
    });
    const after = await buyDataOf(askId, { buyer: buyerOf("bob") });
    expect(after.orderData.payment).toMatchObject({ allowanceWei: `${priceWei}` });
    expect(await sends("bob", after)).toBe("success");
    expect(await ownerOf(6n)).toBe(buyerOf("bob"));
  });
});

describe("one call for listings of every marketplace", () => {
  it("returns what can be bought in the order of the request, despite an outage of one", async () => {
    const sale = (tokenId: bigint) => ({ maker: accounts.bob, nft: punk(tokenId), priceWei });
    const first = await book.shows(book.opensea, sale(7n));
    const second = await book.shows(book.magiceden, sale(8n));
    const own = await book.submit(await book.actors.bob.lists(punk(9n), { priceWei }));
    const askIds = [own, first.askId, second.askId];
    const ask = () => book.post("/v1/listings/buy-data-bulk", { askIds, buyer: buyerOf("carol") });
    book.opensea.fail({ down: "reset" });
    expect((await ask()).data).toMatchObject({
      listings: [{ askId: own }, { askId: second.askId }],
      errors: [{ askId: first.askId, code: "upstream_error" }],
    });
    book.opensea.heal();
    const { data } = await ask();
    expect(data.listings.map(({ askId }: { askId: string }) => askId)).toEqual(askIds);
    for (const bought of data.listings) {
      expect(await sends("carol", BuyData.parse(bought))).toBe("success");
    }
    for (const tokenId of [7n, 8n, 9n]) expect(await ownerOf(tokenId)).toBe(buyerOf("carol"));
    await book.catchUp();
    for (const askId of askIds) {
      expect((await book.get(`/v1/listings/${askId}`)).data).toMatchObject({ status: "filled" });
    }
  });
});
