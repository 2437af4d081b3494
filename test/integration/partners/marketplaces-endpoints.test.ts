import { zeroHash } from "viem";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import { openPartnerB } from "#devnet/marketplaces/magiceden/magiceden.ts";
import { partnerComponents } from "#devnet/marketplaces/make-partner-listing.ts";
import { openPartnerA } from "#devnet/marketplaces/opensea/opensea.ts";
import type { StandIn } from "#devnet/marketplaces/stand-in.ts";
import type { Partner } from "#jobs/partners/partner.ts";
import {
  type OrderComponents,
  orderTypes,
  type SignedOrder,
} from "#projections/domain/seaport/order-components.ts";
import { exchangeDomain, orderHash } from "#projections/domain/seaport/order-hash.ts";
import { openTestPartner } from "#test/support/orders/partner-sync.ts";

const chainId = 1;
const now = Math.floor(Date.now() / 1_000);
const buyer = accounts.bob.address.toLowerCase() as `0x${string}`;
const collection = { contract: contracts.familyOne, slug: "family-one", creators: [] };

let standIn: StandIn;
let partner: Partner;
afterEach(async () => {
  await partner?.close();
  await standIn?.close();
});

/** A listing of the partner's form that `alice` signed. */
async function signed(
  name: Partner["name"],
  { tokenId = 7n, quantity = 1n, creatorBps = 500 } = {},
): Promise<SignedOrder> {
  const components = partnerComponents(
    chainId,
    {
      ...{
        maker: accounts.alice.address.toLowerCase() as `0x${string}`,
        salt: tokenId,
        counter: 0n,
      },
      ...{ startTime: BigInt(now - 60), endTime: BigInt(now + 86_400) },
    },
    {
      ...{ partner: name, priceWei: 10n ** 18n, quantity },
      nft: {
        ...{ standard: quantity === 1n ? "erc721" : "erc1155", tokenId },
        contract: quantity === 1n ? contracts.familyOne : contracts.editions,
      },
      creatorFees: [{ recipient: accounts.royaltyRecipient, bps: creatorBps, isRequired: true }],
    },
  );
  const signature = await accounts.alice.signTypedData({
    domain: exchangeDomain(chainId),
    types: orderTypes,
    primaryType: "OrderComponents",
    message: components,
  });
  return { components, signature };
}

describe("OpenSea", () => {
  const key = "the-key";
  beforeEach(async () => {
    standIn = await openPartnerA({ apiKey: key });
    partner = openTestPartner("opensea", { url: standIn.url, key });
  });

  const fulfil = (order: OrderComponents, units: bigint | null = null) =>
    partner.fetchFulfillment?.(chainId, {
      ...{ orderHash: orderHash(order), counter: order.counter, buyer, units },
    });

  it("is asked with the key, and is off without it", async () => {
    const keyless = openTestPartner("opensea", { url: standIn.url });
    expect(await keyless.fetchCollection?.(chainId, contracts.familyOne)).toMatchObject({
      rejected: "upstream_error",
    });
    await keyless.close();
    expect(await partner.fetchCollection?.(chainId, contracts.familyOne)).toMatchObject({
      slug: "family-one",
    });
  });

  it("tells a contract's collection, and whose each fee is", async () => {
    expect(await partner.fetchCollection?.(chainId, contracts.familyOne)).toEqual({
      slug: "family-one",
      contracts: [contracts.familyOne],
      fees: [
        {
          ...{ recipient: "0x0000a26b00c1f0df003000390027140000faa719", bps: 250 },
          ...{ isRequired: true, isService: true },
        },
        {
          ...{ recipient: accounts.royaltyRecipient, bps: 500 },
          ...{ isRequired: true, isService: false },
        },
      ],
    });
    const stranger = "0x00000000000000000000000000000000000000aa";
    expect(await partner.fetchCollection?.(chainId, stranger)).toMatchObject({
      rejected: "not_found",
    });
  });

  it("tells legs apart: its own, the creator's where that is known, others", async () => {
    standIn.show(chainId, await signed("opensea"));
    const kinds = async (creators: readonly `0x${string}`[]) => {
      const page = await partner.fetchListings(
        chainId,
        { ...collection, creators },
        { order: "any", cursor: null },
      );
      return "listings" in page && page.listings[0]?.fees.map(({ kind }) => kind);
    };
    expect(await kinds([accounts.royaltyRecipient])).toEqual(["service", "royalty"]);
    expect(await kinds([])).toEqual(["service", "other"]);
  });

  it("tells one listing while it is shown", async () => {
    const order = await signed("opensea");
    const { orderHash: hash } = standIn.show(chainId, order);
    expect(await partner.fetchListing(chainId, hash)).toMatchObject({
      ...{ orderHash: hash, components: order.components, signature: null },
    });
    standIn.withdraw(chainId, hash);
    expect(await partner.fetchListing(chainId, hash)).toBeNull();
    expect(await partner.fetchListing(chainId, zeroHash)).toBeNull();
    expect(await partner.fetchListing(33139, hash)).toBeNull();
  });

  it("hands an order over to one buyer for a short time", async () => {
    const { components, signature } = await signed("opensea");
    standIn.show(chainId, { components, signature });
    const handed = await fulfil(components);

    expect(handed).toMatchObject({ components, signature, numerator: 1n, denominator: 1n });
    expect(handed).toMatchObject({ value: 10n ** 18n });
    const until = handed && "validUntil" in handed ? handed.validUntil : null;
    expect(until?.getTime()).toBeGreaterThan(Date.now() + 60_000);
    expect(until?.getTime()).toBeLessThan(Date.now() + 300_000);
  });

  it("hands over the units asked for", async () => {
    const { components, signature } = await signed("opensea", { quantity: 10n });
    standIn.show(chainId, { components, signature });

    const handed = await fulfil(components, 3n);
    expect(handed).toMatchObject({ components, value: 3n * 10n ** 18n });
    const { numerator = 0n, denominator = 1n } = handed && "numerator" in handed ? handed : {};
    expect((numerator * 10n) / denominator).toBe(3n);
    expect(await fulfil(components, 11n)).toMatchObject({ rejected: "unavailable" });
  });

  it("is not believed when it hands over another order than the one asked for", async () => {
    const { components, signature } = await signed("opensea");
    standIn.show(chainId, { components, signature });
    standIn.fail({ wrong: ["substituted"] });

    expect(await fulfil(components)).toMatchObject({ rejected: "order_mismatch" });
  });

  it("says of a listing that is gone that it is, and of itself when it is away", async () => {
    const { components, signature } = await signed("opensea");
    const { orderHash: hash } = standIn.show(chainId, { components, signature });
    standIn.withdraw(chainId, hash);
    expect(await fulfil(components)).toMatchObject({
      rejected: "unavailable",
      message: expect.stringContaining("withdrawn"),
    });
    standIn.fail({ down: "refusing" });
    expect(await fulfil(components)).toMatchObject({ rejected: "upstream_error" });
  });

  it("takes a listing that its maker signed for it, and shows it", async () => {
    const order = await signed("opensea");
    const hash = orderHash(order.components);
    expect(await partner.postListing?.(chainId, order)).toEqual({ orderHash: hash });
    expect(await partner.fetchListing(chainId, hash)).toMatchObject({ orderHash: hash });
  });

  it("says why it does not take a listing", async () => {
    const order = await signed("opensea", { creatorBps: 1 });
    const refused = await partner.postListing?.(chainId, order);
    expect(refused).toMatchObject({ rejected: "partner_rejected" });
    expect(refused && "message" in refused && refused.message.length).toBeGreaterThan(20);
  });
});

describe("Magic Eden", () => {
  beforeEach(async () => {
    standIn = await openPartnerB({ apiKey: "the-key" });
    partner = openTestPartner("magiceden", { url: `${standIn.url}/v3/rtp`, key: "the-key" });
  });

  it("shows orders whole, with what fills them", async () => {
    const order = await signed("magiceden");
    const { orderHash: hash } = standIn.show(chainId, order);
    const listing = await partner.fetchListing(chainId, hash);
    expect(listing).toMatchObject({ ...order, orderHash: hash, marketplace: "magiceden" });
    expect(listing).toMatchObject({ fees: [{ kind: "service" }, { kind: "other" }] });
    standIn.withdraw(chainId, hash);
    expect(await partner.fetchListing(chainId, hash)).toBeNull();
  });

  it("shows listings in the wrapped currency", async () => {
    await standIn.showMany({ chainId, contract: contracts.familyOne, count: 4 });
    const page = await partner.fetchListings(chainId, collection, { order: "any", cursor: null });
    const currencies = "listings" in page && page.listings.map(({ currency }) => currency);
    expect(new Set(currencies || [])).toEqual(
      new Set([null, "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2"]),
    );
  });

  it("is asked neither for what fills an order nor to take one", () => {
    expect([partner.fetchFulfillment, partner.postListing, partner.fetchCollection]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});
