import { sql } from "kysely";
import {
  type Hex,
  parseEther,
  parseSignature,
  serializeCompactSignature,
  signatureToCompactSignature,
} from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { accounts } from "../../../devnet/accounts.ts";
import { contracts } from "../../../devnet/contracts/addresses.ts";
import { crossListingsProjection } from "../../../projections/cross-listings/project.ts";
import type { OrderComponents } from "../../../projections/domain/seaport/order-components.ts";
import { dropTarget } from "../../../projections/engine/checkpoint.ts";
import { createProjection, project } from "../../support/database/given.ts";
import { until } from "../../support/database/pipeline.ts";
import { openPartnerOrderBook, type PartnerOrderBook } from "../../support/orders/partner-order-book-fixture.ts";
import { openCrossListingFixture } from "./cross-listings-fixture.ts";

const chainId = 33139;
const { alice } = accounts;
const priceWei = parseEther("1");

let book: PartnerOrderBook;
let desk: ReturnType<typeof openCrossListingFixture>;
beforeAll(async () => {
  book = await openPartnerOrderBook(chainId);
  desk = openCrossListingFixture(book, chainId);
}, 120_000);
afterAll(() => book?.close());
afterEach(() => {
  book.opensea.heal();
  book.opensea.forgetRequests();
});

type Pair = Awaited<ReturnType<typeof desk.pair>>;

const postings = () => book.opensea.requests().filter(({ method }) => method === "POST").length;
const isPosted = (twinHash: Hex) => book.opensea.book.find(chainId, twinHash) !== undefined;

async function stateOf(pair: Pair) {
  await book.catchUp();
  const [result] = await desk.send(pair);
  return result?.crossListing;
}

const untilAnswered = (pair: Pair) =>
  until("the twin has an answer", async () => {
    const state = await stateOf(pair);
    return state?.status === "queued" ? null : state;
  });

async function queued(tokenId: bigint, change?: (twin: OrderComponents) => OrderComponents) {
  const pair = await desk.pair(alice, { tokenId, priceWei }, change);
  const [result] = await desk.send(pair);
  expect(result?.crossListing).toMatchObject({ status: "queued" });
  await book.catchUp();
  return { ...pair, askId: result?.askId };
}

/** An order that another partner's twin may be of: the terms of familyOne were never asked for. */
const ofFamily = (tokenId: bigint) => (twin: OrderComponents) => ({
  ...twin,
  offer: twin.offer.map((item) => ({
    ...item,
    token: contracts.familyOne,
    identifierOrCriteria: tokenId,
  })),
});

async function pairOfFamily(
  tokenId: bigint,
  change: (twin: OrderComponents) => OrderComponents = (twin) => twin,
) {
  const like = await desk.pair(alice, { tokenId: 1n, priceWei }, (twin) =>
    change(ofFamily(tokenId)(twin)),
  );
  book.opensea.fail({ down: "refusing" });
  const wish = { contract: contracts.familyOne, tokenId, priceWei };
  const found = await desk.required(alice.address, wish);
  const seaport = await desk.sign(alice, desk.components(alice.address, found, found.row));
  return { ...like, seaport };
}

describe("the job that posts twins", () => {
  it("posts what was taken in while the partner was away, once it is back", async () => {
    const pair = await pairOfFamily(1n);
    const [sent] = await desk.send(pair);
    expect(sent).toMatchObject({ success: true, crossListing: { status: "queued" } });
    await book.catchUp();
    const job = desk.startPosting();
    await until("a posting that fails", async () => postings() > 0);
    expect(isPosted(pair.twinHash)).toBe(false);
    expect(await stateOf(pair)).toMatchObject({ status: "queued" });
    book.opensea.heal();
    expect(await untilAnswered(pair)).toMatchObject({ status: "posted" });
    await job.stop();
    expect(isPosted(pair.twinHash)).toBe(true);
  });

  it("tells the partner's own words of what it refuses, once", async () => {
    const unpaid = (twin: OrderComponents) => ({
      ...twin,
      consideration: twin.consideration.slice(0, 2),
    });
    const pair = await pairOfFamily(2n, unpaid);
    await desk.send(pair);
    book.opensea.heal();
    await book.catchUp();
    book.opensea.forgetRequests();
    const job = desk.startPosting();
    const refused = { status: "rejected", code: "partner_rejected", orderHash: pair.twinHash };
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

  it("begun anew posts nothing twice, also what it was killed over before it wrote the answer down", async () => {
    const pair = await queued(3n);
    book.opensea.show(chainId, pair.opensea);
    for (const _ of [1, 2]) {
      const job = desk.startPosting();
      expect(await untilAnswered(pair)).toMatchObject({ status: "posted", code: null });
      await job.stop();
    }
    expect(postings()).toBe(1);
  });

  it("leaves the twin of a listing that has ended, or of which there is a later one", async () => {
    const cancelled = await queued(4n);
    await book.actors.alice.cancels(cancelled.seaport);
    const replaced = await queued(5n);
    const later = await desk.pair(alice, { tokenId: 5n, priceWei });
    await desk.send({ ...later, seaport: replaced.seaport });
    const job = desk.startPosting();
    expect(await untilAnswered({ ...later, seaport: replaced.seaport })).toMatchObject({
      status: "posted",
    });
    await job.stop();
    expect(postings()).toBe(1);
    for (const [pair, words] of [
      [cancelled, "The listing is cancelled"],
      [replaced, later.twinHash],
    ] as const) {
      expect(isPosted(pair.twinHash)).toBe(false);
      expect(await stateOf(pair)).toMatchObject({
        status: "rejected",
        code: "partner_requirements_unmet",
        message: expect.stringContaining(words),
      });
    }
    expect((await desk.crossListingOf(replaced.askId)).orderHash).toBe(later.twinHash);
  });

  it("takes signatures of 64 bytes, and leaves a contract's to the partner", async () => {
    const short = await desk.pair(alice, { tokenId: 6n, priceWei });
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
    const contracted = await desk.pair(signer, { tokenId: 900n, priceWei });
    const forged = {
      ...contracted,
      opensea: await desk.sign(accounts.bob, contracted.opensea.components),
    };
    const results = await desk.send(compacted, contracted, forged);
    expect(results.map(({ crossListing }) => crossListing?.status)).toEqual([
      "queued",
      "queued",
      "rejected",
    ]);
    await book.catchUp();
    const job = desk.startPosting();
    expect(await untilAnswered(compacted)).toMatchObject({ status: "posted" });
    expect(await untilAnswered(contracted)).toMatchObject({ code: "partner_rejected" });
    await job.stop();
  });
});

describe("the queue", () => {
  it("is the same however the log was cut into windows", async () => {
    await queued(1n);
    const rows = async () =>
      (await sql`select partner_order_hash, is_queued from cross_listings.cross_listing order by position`.execute(book.db))
        .rows;
    const kept = await rows();
    expect(kept.length).toBeGreaterThan(5);
    await dropTarget(book.db, "cross_listings");
    await project(book.db, [await createProjection(book.db, crossListingsProjection)]);
    expect(await rows()).toEqual(kept);
  });
});
