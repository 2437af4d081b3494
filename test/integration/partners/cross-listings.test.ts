import { type Address, type Hex, parseEther } from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { erc721Abi } from "#abis/tokens.ts";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import { partnerFeeRecipients } from "#devnet/marketplaces/stand-in-collections.ts";
import type { OrderComponents } from "#projections/domain/seaport/order-components.ts";
import { appendObservations } from "#projections/log/append.ts";
import { partnerListingSeen } from "#projections/partners/partner-listing.ts";
import { until } from "#test/support/database/pipeline.ts";
import { openOrderBook } from "#test/support/orders/order-book-fixture.ts";
import {
  openPartnerOrderBook,
  type PartnerOrderBook,
} from "#test/support/orders/partner-order-book-fixture.ts";
import { openTestPartner } from "#test/support/orders/partner-sync.ts";
import { openCrossListingFixture } from "./cross-listings-fixture.ts";

const chainId = 1;
const { alice, bob } = accounts;
const priceWei = parseEther("1");

let book: PartnerOrderBook;
let fixture: ReturnType<typeof openCrossListingFixture>;
beforeAll(async () => {
  book = await openPartnerOrderBook(chainId);
  fixture = openCrossListingFixture(book, chainId);
});
afterAll(() => book?.close());
afterEach(() => book.opensea.heal());

const ownerOf = async (tokenId: bigint) => {
  const asked = { address: contracts.punks, abi: erc721Abi, functionName: "ownerOf" } as const;
  return (await book.client.readContract({ ...asked, args: [tokenId] })).toLowerCase();
};

async function posted(pair: Parameters<typeof fixture.send>[0]) {
  return until("the cross-listing has an answer", async () => {
    await book.catchUp();
    const [result] = await fixture.send(pair);
    return result?.crossListing?.status === "queued" ? null : result;
  });
}

describe("the requirements of a listing", () => {
  it("describe the cross-listing, with the components to sign", async () => {
    const { row } = await fixture.required(alice.address, { tokenId: 1n, priceWei });
    expect(row.opensea).toMatchObject({
      orderType: 2,
      fees: [
        { recipient: partnerFeeRecipients.opensea, bps: 250, required: true, kind: "service" },
        { recipient: accounts.royaltyRecipient, bps: 500, required: true, kind: "royalty" },
      ],
    });
    const amounts = row.opensea?.consideration.map(({ startAmount }) => startAmount);
    expect(amounts).toEqual(["0.925", "0.025", "0.05"].map((share) => `${parseEther(share)}`));
  });

  it("lack only the cross-listing while the partner is unavailable", async () => {
    book.opensea.fail({ down: "refusing" });
    const item = { contract: contracts.familyOne, tokenId: 1n, priceWei };
    const { row } = await fixture.required(alice.address, item);
    expect(row.opensea).toBeNull();
    expect(row.consideration).toHaveLength(3);
  });
});

describe("a listing with a cross-listing", () => {
  it("is in the order book at once, and its cross-listing is posted, shown and filled at the partner", async () => {
    const pair = await fixture.pair(alice, { tokenId: 1n, priceWei });
    const [sent] = await fixture.send(pair);
    expect(sent).toMatchObject({
      success: true,
      crossListing: { status: "queued", orderHash: pair.crossListingHash, code: null },
    });
    expect((await fixture.crossListingOf(sent?.askId)).orderHash).toBe(pair.crossListingHash);
    const job = fixture.startPosting();
    expect((await posted(pair))?.crossListing).toMatchObject({ status: "posted", code: null });
    await job.stop();
    expect(book.opensea.book.find(chainId, pair.crossListingHash)?.order.signature).toBe(
      pair.opensea.signature,
    );

    const partner = openTestPartner("opensea", { url: book.opensea.url });
    const listing = await partner.fetchListing(chainId, pair.crossListingHash);
    await partner.close();
    if (listing === null || "rejected" in listing) throw new Error("the partner does not show it");
    const sighting = { generation: 0, seenAt: new Date() };
    await appendObservations(book.db, [partnerListingSeen(listing, sighting)]);
    await book.catchUp();
    const { data: both } = await book.get(
      `/v1/listings?chainId=${chainId}&maker=${alice.address}&per_page=100`,
    );
    const ofToken = both.filter((one: { tokenId: string }) => one.tokenId === "1");
    expect(ofToken.map((one: { askId: string }) => one.askId).toSorted()).toEqual(
      [pair.crossListingHash, sent?.askId].toSorted(),
    );

    const { data } = await book.post(`/v1/listings/${pair.crossListingHash}/buy-data`, {
      buyer: bob.address.toLowerCase(),
    });
    const receipt = await book.client.sendTransactionSync({
      ...{ account: bob, chain: book.client.chain, gas: 1_500_000n },
      ...{ to: data.to as Address, data: data.data as Hex, value: BigInt(data.value) },
    });
    expect(receipt.status).toBe("success");
    expect(await ownerOf(1n)).toBe(bob.address.toLowerCase());
  });

  it("submitted again returns its current status, and is one listing with one cross-listing", async () => {
    const pair = await fixture.pair(alice, { tokenId: 2n, priceWei });
    const [first] = await fixture.send(pair);
    const [again] = await fixture.send(pair);
    expect(again?.crossListing).toEqual(first?.crossListing);
    expect(again?.askId).toBe(first?.askId);
  });

  it("may have another price there, or be submitted flat, and sells units in parts", async () => {
    const dearer = (crossListing: OrderComponents): OrderComponents => ({
      ...crossListing,
      consideration: crossListing.consideration.map((leg) => ({
        ...leg,
        ...{ startAmount: leg.startAmount * 2n, endAmount: leg.endAmount * 2n },
      })),
    });
    const edition = { contract: contracts.editions, tokenId: 1n, quantity: 6, priceWei };
    const units = await fixture.pair(alice, edition, dearer);
    const flat = await fixture.pair(alice, { tokenId: 3n, priceWei });
    const { components, signature } = flat.opensea;
    const wire = JSON.parse(
      JSON.stringify({ ...components, signature }, (_, one) =>
        typeof one === "bigint" ? one.toString() : one,
      ),
    );
    const results = await fixture.send(units, { seaport: flat.seaport, opensea: wire });
    expect(results.map(({ crossListing }) => crossListing?.status)).toEqual(["queued", "queued"]);
  });

  it("that is rejected has no status of the cross-listing, which is not stored", async () => {
    const pair = await fixture.pair(alice, { tokenId: 4n, priceWei });
    const broken = { ...pair.seaport, signature: `0x${"11".repeat(64)}` as Hex };
    const [result] = await fixture.send({ ...pair, seaport: broken });
    expect(result).toMatchObject({ success: false });
    expect(result).not.toHaveProperty("crossListing");
    const [alone] = await fixture.send({ seaport: pair.seaport });
    expect(alone).toMatchObject({ success: true });
    expect(alone).not.toHaveProperty("crossListing");
    expect(await fixture.crossListingOf(alone?.askId)).toBeNull();
  });
});

type Change = (crossListing: OrderComponents) => OrderComponents;
const withoutLeg =
  (index: number): Change =>
  (crossListing) => ({
    ...crossListing,
    consideration: crossListing.consideration.filter((_, at) => at !== index),
  });
const paying =
  (index: number, change: Partial<OrderComponents["consideration"][number]>): Change =>
  (crossListing) => ({
    ...crossListing,
    consideration: crossListing.consideration.map((leg, at) =>
      at === index ? { ...leg, ...change } : leg,
    ),
  });
const offering =
  (change: Partial<OrderComponents["offer"][number]>): Change =>
  (crossListing) => ({
    ...crossListing,
    offer: crossListing.offer.map((item) => ({ ...item, ...change })),
  });
const other =
  (change: Partial<OrderComponents>): Change =>
  (crossListing) => ({ ...crossListing, ...change });
const small = parseEther("0.001");

describe("a cross-listing that does not meet the requirements does not affect the listing:", () => {
  it.each<[string, Change, RegExp]>([
    ["another zone", other({ zone: `0x${"00".repeat(20)}` }), /zone must be 0x000056f7/],
    ["an open order", other({ orderType: 0 }), /orderType must be 2 or 3/],
    ["another conduit", other({ conduitKey: `0x${"00".repeat(32)}` }), /conduitKey must be 0x/],
    ["another counter", other({ counter: 7n }), /counter must be 0, and is 7/],
    ["no service fee", withoutLeg(1), /must pay the service 0x0000a26b/],
    ["no creator fee", withoutLeg(2), /must pay the creator 0x.*c4ea70/],
    ["a small fee", paying(1, { startAmount: small, endAmount: small }), /250 basis points/],
    ["a stranger paid", paying(2, { recipient: bob.address.toLowerCase() as Hex }), /must not pay/],
    [
      "somebody else first",
      paying(0, { recipient: bob.address.toLowerCase() as Hex }),
      /consideration.0/,
    ],
    ["another token", offering({ identifierOrCriteria: 99n }), /identifierOrCriteria must be 5/],
    [
      "a bundle",
      (crossListing) => ({
        ...crossListing,
        offer: [...crossListing.offer, ...crossListing.offer],
      }),
      /one item/,
    ],
    ["a falling price", paying(0, { endAmount: 1n }), /price must be fixed/],
    ["an end that passed", other({ startTime: 1n, endTime: 2n }), /endTime must be in the future/],
    [
      "too long a life",
      (crossListing) => ({ ...crossListing, endTime: crossListing.endTime + 200n * 86_400n }),
      /within/,
    ],
  ])("%s", async (_, change, words) => {
    const pair = await fixture.pair(alice, { tokenId: 5n, priceWei }, change);
    const [result] = await fixture.send(pair);
    expect(result).toMatchObject({ success: true });
    expect(result?.crossListing).toMatchObject({
      status: "rejected",
      code: "partner_requirements_unmet",
      orderHash: pair.crossListingHash,
      message: expect.stringMatching(words),
    });
    expect(await fixture.crossListingOf(result?.askId)).toBeNull();
  });

  it("another maker, another signer, and an invalid order", async () => {
    const pair = await fixture.pair(alice, { tokenId: 6n, priceWei });
    const bobs = await fixture.sign(bob, {
      ...pair.opensea.components,
      offerer: bob.address.toLowerCase() as Hex,
    });
    const forged = await fixture.sign(bob, pair.opensea.components);
    for (const [crossListing, words] of [
      [bobs, /offerer must be/],
      [forged, /signature must recover to the offerer/],
      [{ parameters: {}, signature: "0x" }, /offerer/],
    ] as const) {
      const [result] = await fixture.send({ seaport: pair.seaport, opensea: crossListing });
      expect(result).toMatchObject({
        success: true,
        crossListing: {
          status: "rejected",
          code: "partner_requirements_unmet",
          message: expect.stringMatching(words),
        },
      });
    }
  });

  it("a collection that the partner does not know", async () => {
    const at = book.opensea.collections.findIndex(
      ({ contract }) => contract === contracts.familyTwo,
    );
    const item = { contract: contracts.familyTwo, tokenId: 1n, priceWei };
    const like = await fixture.pair(alice, { tokenId: 6n, priceWei });
    const [kept] = book.opensea.collections.splice(at, 1);
    if (kept === undefined) throw new Error("the stand-in has no such collection");
    const found = await fixture.required(alice.address, item);
    const seaport = await fixture.sign(alice, fixture.components(alice.address, found, found.row));
    const { offer } = seaport.components;
    const opensea = await fixture.sign(alice, { ...like.opensea.components, offer });
    const [result] = await fixture.send({ seaport, opensea });
    book.opensea.collections.push(kept);
    expect(found.row.opensea).toBeNull();
    expect(result?.crossListing).toMatchObject({
      code: "partner_requirements_unmet",
      message: expect.stringContaining("has no collection"),
    });
  });
});

describe("where no partner is configured", () => {
  it("cross-listings are rejected as partner_unavailable, and listings admitted", async () => {
    const pair = await fixture.pair(alice, { tokenId: 6n, priceWei });
    const plain = await openOrderBook(chainId);
    try {
      const alone = openCrossListingFixture({ ...book, ...plain }, chainId);
      const [result] = await alone.send(pair);
      expect(result).toMatchObject({
        success: true,
        crossListing: { status: "rejected", code: "partner_unavailable" },
      });
      const { row } = await alone.required(alice.address, { tokenId: 6n, priceWei });
      expect(row.opensea).toBeNull();
    } finally {
      await plain.close();
    }
  });
});
