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
import type { OrderComponents } from "#projections/domain/seaport/order-components.ts";
import { dropTarget } from "#projections/engine/checkpoint.ts";
import { schemaOf } from "#projections/log/versions.ts";
import { crossListingsProjection } from "#projections/partners/cross-listings.ts";
import { createProjection, project } from "#test/support/database/given.ts";
import { until } from "#test/support/database/pipeline.ts";
import {
  openPartnerOrderBook,
  type PartnerOrderBook,
} from "#test/support/orders/partner-order-book-fixture.ts";
import { openCrossListingFixture } from "./cross-listings-fixture.ts";

const chainId = 33139;
const { alice } = accounts;
const priceWei = parseEther("1");

let book: PartnerOrderBook;
let fixture: ReturnType<typeof openCrossListingFixture>;
beforeAll(async () => {
  book = await openPartnerOrderBook(chainId);
  fixture = openCrossListingFixture(book, chainId);
});
afterAll(() => book?.close());
afterEach(() => {
  book.opensea.heal();
  book.opensea.forgetRequests();
});

type Pair = Awaited<ReturnType<typeof fixture.pair>>;

const postings = () => book.opensea.requests().filter(({ method }) => method === "POST").length;
const isPosted = (crossListingHash: Hex) =>
  book.opensea.book.find(chainId, crossListingHash) !== undefined;

async function stateOf(pair: Pair) {
  await book.catchUp();
  const [result] = await fixture.send(pair);
  return result?.crossListing;
}

const untilAnswered = (pair: Pair) =>
  until("the cross-listing has an answer", async () => {
    const state = await stateOf(pair);
    return state?.status === "queued" ? null : state;
  });

async function queued(
  tokenId: bigint,
  change?: (crossListing: OrderComponents) => OrderComponents,
) {
  const pair = await fixture.pair(alice, { tokenId, priceWei }, change);
  const [result] = await fixture.send(pair);
  expect(result?.crossListing).toMatchObject({ status: "queued" });
  await book.catchUp();
  return { ...pair, askId: result?.askId };
}

/** The order for a token of another collection, whose partner terms are not cached. */
const ofFamily = (tokenId: bigint) => (crossListing: OrderComponents) => ({
  ...crossListing,
  offer: crossListing.offer.map((item) => ({
    ...item,
    token: contracts.familyOne,
    identifierOrCriteria: tokenId,
  })),
});

async function pairOfFamily(
  tokenId: bigint,
  change: (crossListing: OrderComponents) => OrderComponents = (crossListing) => crossListing,
) {
  const like = await fixture.pair(alice, { tokenId: 1n, priceWei }, (crossListing) =>
    change(ofFamily(tokenId)(crossListing)),
  );
  book.opensea.fail({ down: "refusing" });
  const item = { contract: contracts.familyOne, tokenId, priceWei };
  const found = await fixture.required(alice.address, item);
  const seaport = await fixture.sign(alice, fixture.components(alice.address, found, found.row));
  return { ...like, seaport };
}

describe("the job that posts cross-listings", () => {
  it("posts what was submitted while the partner was unavailable, once it is back", async () => {
    const pair = await pairOfFamily(1n);
    const [sent] = await fixture.send(pair);
    expect(sent).toMatchObject({ success: true, crossListing: { status: "queued" } });
    await book.catchUp();
    const job = fixture.startPosting();
    await until("a posting that fails", async () => postings() > 0);
    expect(isPosted(pair.crossListingHash)).toBe(false);
    expect(await stateOf(pair)).toMatchObject({ status: "queued" });
    book.opensea.heal();
    expect(await untilAnswered(pair)).toMatchObject({ status: "posted" });
    await job.stop();
    expect(isPosted(pair.crossListingHash)).toBe(true);
  });

  it("records the partner's message for a rejection, once", async () => {
    const unpaid = (crossListing: OrderComponents) => ({
      ...crossListing,
      consideration: crossListing.consideration.slice(0, 2),
    });
    const pair = await pairOfFamily(2n, unpaid);
    await fixture.send(pair);
    book.opensea.heal();
    await book.catchUp();
    book.opensea.forgetRequests();
    const job = fixture.startPosting();
    const refused = {
      status: "rejected",
      code: "partner_rejected",
      orderHash: pair.crossListingHash,
    };
    expect(await untilAnswered(pair)).toMatchObject({
      ...refused,
      message: expect.stringContaining(accounts.royaltyRecipient),
    });
    const next = await queued(2n);
    await untilAnswered(next);
    await job.stop();
    expect(postings()).toBe(2);
    expect(await stateOf(pair)).toMatchObject(refused);
  });

  it("posts nothing twice after a restart, even if it was killed before the answer was recorded", async () => {
    const pair = await queued(3n);
    book.opensea.show(chainId, pair.opensea);
    for (const _ of [1, 2]) {
      const job = fixture.startPosting();
      expect(await untilAnswered(pair)).toMatchObject({ status: "posted", code: null });
      await job.stop();
    }
    expect(postings()).toBe(1);
  });

  it("does not post after the listing ended, or when there is a later cross-listing", async () => {
    const cancelled = await queued(4n);
    await book.actors.alice.cancels(cancelled.seaport);
    const replaced = await queued(5n);
    const later = await fixture.pair(alice, { tokenId: 5n, priceWei });
    await fixture.send({ ...later, seaport: replaced.seaport });
    const job = fixture.startPosting();
    expect(await untilAnswered({ ...later, seaport: replaced.seaport })).toMatchObject({
      status: "posted",
    });
    await job.stop();
    expect(postings()).toBe(1);
    for (const [pair, words] of [
      [cancelled, "The listing is cancelled"],
      [replaced, later.crossListingHash],
    ] as const) {
      expect(isPosted(pair.crossListingHash)).toBe(false);
      expect(await stateOf(pair)).toMatchObject({
        status: "rejected",
        code: "partner_requirements_unmet",
        message: expect.stringContaining(words),
      });
    }
    expect((await fixture.crossListingOf(replaced.askId)).orderHash).toBe(later.crossListingHash);
  });

  it("accepts signatures of 64 bytes, and leaves a contract's to the partner", async () => {
    const short = await fixture.pair(alice, { tokenId: 6n, priceWei });
    const { signature } = short.opensea;
    const compact = serializeCompactSignature(
      signatureToCompactSignature(parseSignature(signature)),
    );
    const compacted = { ...short, opensea: { ...short.opensea, signature: compact } };
    const { wallet } = book.actors;
    const owned = { standard: "erc721", contract: contracts.punks, tokenId: 900n } as const;
    await book.actors.alice.mints(owned);
    await book.actors.alice.transfers(owned, wallet);
    await book.catchUp();
    const signer = {
      address: wallet.address,
      sign: alice.sign,
    };
    const contracted = await fixture.pair(signer, { tokenId: 900n, priceWei });
    const forged = {
      ...contracted,
      opensea: await fixture.sign(accounts.bob, contracted.opensea.components),
    };
    const results = await fixture.send(compacted, contracted, forged);
    expect(results.map(({ crossListing }) => crossListing?.status)).toEqual([
      "queued",
      "queued",
      "rejected",
    ]);
    await book.catchUp();
    const job = fixture.startPosting();
    expect(await untilAnswered(compacted)).toMatchObject({ status: "posted" });
    expect(await untilAnswered(contracted)).toMatchObject({ code: "partner_rejected" });
    await job.stop();
  });
});

describe("the queue", () => {
  it("does not depend on the windows in which the log is applied", async () => {
    await queued(1n);
    const rows = async () =>
      (
        await sql`select partner_order_hash, is_queued from cross_listings.cross_listing order by position`.execute(
          book.db,
        )
      ).rows;
    const kept = await rows();
    expect(kept.length).toBeGreaterThan(5);
    await dropTarget(book.db, schemaOf("cross_listings"));
    await project(book.db, [await createProjection(book.db, crossListingsProjection)]);
    expect(await rows()).toEqual(kept);
  });
});
