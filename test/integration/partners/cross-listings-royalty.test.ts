import { type Address, parseEther } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import { collectionsProjection } from "#projections/collections/collections.ts";
import { readPartnerRoyalties } from "#projections/collections/read-royalties.ts";
import type { CreatorFee } from "#projections/domain/royalty.ts";
import { dropTarget } from "#projections/engine/checkpoint.ts";
import { appendObservations } from "#projections/log/append.ts";
import { schemaOf } from "#projections/log/versions.ts";
import { creatorFeeRead } from "#projections/partners/sync-fees.ts";
import { createProjection, project } from "#test/support/database/given.ts";
import {
  openPartnerOrderBook,
  type PartnerOrderBook,
} from "#test/support/orders/partner-order-book-fixture.ts";
import { openCrossListingFixture } from "./cross-listings-fixture.ts";

const chainId = 1;
const { alice } = accounts;
const priceWei = parseEther("1");
const creator: Address = "0x00000000000000000000000000000000000c0de1";
const other: Address = "0x00000000000000000000000000000000000c0de2";

let book: PartnerOrderBook;
let fixture: ReturnType<typeof openCrossListingFixture>;
beforeAll(async () => {
  book = await openPartnerOrderBook(chainId);
  fixture = openCrossListingFixture(book, chainId);
});
afterAll(() => book?.close());

let change = 0;
async function told(contract: Address, ...fees: CreatorFee[]) {
  change += 1;
  const reading = { chainId, contract, marketplace: "opensea", fees, change, readAt: new Date() };
  await appendObservations(book.db, [creatorFeeRead({ ...reading, chainId })]);
  await book.catchUp();
}

const fee = (recipient: Address, bps: number, isRequired = true) => ({
  recipient,
  bps,
  isRequired,
});

async function dueOf(contract: Address, tokenId: bigint) {
  const { data } = await book.get(
    `/v1/orders/params?chainId=${chainId}&maker=${alice.address}&contract=${contract}&tokenId=${tokenId}&unitPriceWei=${priceWei}&quantity=1`,
  );
  const { data: required } = await book.post("/v1/listings/requirements", {
    chainId,
    maker: alice.address,
    items: [{ contract, tokenId: `${tokenId}`, quantity: 1, unitPriceWei: `${priceWei}` }],
  });
  expect(required.items[0].royalty).toEqual(data.royalty);
  const { data: bid } = await book.post("/v1/bids/requirements", {
    chainId,
    maker: accounts.dave.address,
    items: [
      { kind: "item", contract, tokenId: `${tokenId}`, quantity: 1, amountWei: `${priceWei}` },
    ],
  });
  expect(bid.items[0].royalty).toEqual(data.royalty);
  return data.royalty;
}

const royaltyOf = async (contract: Address) =>
  (await book.get(`/v1/collections/${contract}?chainId=${chainId}`)).data.royalty;

describe("the royalty of listings and bids", () => {
  it("is the partner's creator fee where it requires one, instead of the contract's royalty", async () => {
    const { punks } = contracts;
    expect(await dueOf(punks, 1n)).toMatchObject({ source: "erc2981", bps: 500 });
    await told(punks, fee(creator, 700));
    expect(await dueOf(punks, 1n)).toEqual({
      royaltyWei: `${parseEther("0.07")}`,
      royaltyRecipient: creator,
      ...{ bps: 700, source: "partner" },
    });
    expect(await royaltyOf(punks)).toEqual({ recipient: creator, bps: 700, source: "partner" });
  });

  it("is required of submitted listings", async () => {
    const found = await fixture.required(alice.address, { tokenId: 2n, priceWei });
    const seaport = await fixture.sign(alice, fixture.components(alice.address, found, found.row));
    const [taken] = await fixture.send({ seaport });
    expect(taken).toMatchObject({ success: true });
    const [last] = seaport.components.consideration.slice(-1);
    expect(last).toMatchObject({ recipient: creator, startAmount: parseEther("0.07") });

    const usual = await fixture.sign(alice, {
      ...seaport.components,
      consideration: seaport.components.consideration.map((leg) =>
        leg === last ? { ...leg, recipient: accounts.royaltyRecipient } : leg,
      ),
    });
    const [refused] = await fixture.send({ seaport: usual });
    expect(refused).toMatchObject({ success: false, code: "royalty_wrong_recipient" });
  });

  it("is the sum of the required fees, to the largest recipient, without optional fees", async () => {
    const { familyOne } = contracts;
    await told(familyOne, fee(other, 200), fee(creator, 300), fee(other, 900, false));
    expect(await dueOf(familyOne, 1n)).toMatchObject({ royaltyRecipient: creator, bps: 500 });
    await told(familyOne, fee(other, 300), fee(creator, 300));
    expect(await dueOf(familyOne, 1n)).toMatchObject({ royaltyRecipient: other, bps: 600 });
  });

  it("is the contract's again once the partner requires nothing", async () => {
    const { familyOne } = contracts;
    await told(familyOne, fee(creator, 300, false));
    expect(await dueOf(familyOne, 1n)).toMatchObject({ source: "erc2981", bps: 500 });
    await told(familyOne, fee(creator, 300));
    await told(familyOne);
    expect(await dueOf(familyOne, 1n)).toMatchObject({ source: "erc2981" });
    expect((await royaltyOf(familyOne)).source).not.toBe("partner");
  });

  it("does not depend on the windows in which the log is applied", async () => {
    const asked = Object.values(contracts);
    const kept = await readPartnerRoyalties(book.db, chainId, asked);
    expect([...kept.keys()]).toEqual([contracts.punks]);
    await dropTarget(book.db, schemaOf("collections"));
    await project(book.db, [await createProjection(book.db, collectionsProjection)]);
    expect(await readPartnerRoyalties(book.db, chainId, asked)).toEqual(kept);
  });
});
