import { describe, expect, it } from "vitest";
import { draftBidComponents, draftListingComponents } from "./draft-components.ts";

const maker = "0x00000000000000000000000000000000000a11ce";
const feeRecipient = "0x000000000000000000000000000000000000fee0";
const creator = "0x000000000000000000000000000000000000c4ea";
const currency = "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2";

const terms = { maker, startTime: 1n, endTime: 2n, salt: 3n, counter: 4n } as const;
const price = {
  unitPriceWei: 1_050n,
  fee: { recipient: feeRecipient, bps: 100 },
  royalty: { recipient: creator, royaltyWei: 52n },
} as const;
const edition = {
  standard: "erc1155",
  contract: "0x0000000000000000000000000000000000001155",
  tokenId: 7n,
} as const;
const punk = { ...edition, standard: "erc721" } as const;

describe("listingComponents", () => {
  it("pays seller, service and creator per unit, so that every leg divides by the quantity", () => {
    const listing = draftListingComponents({ ...terms, nft: edition, quantity: 3n, price });

    expect(listing.consideration.map((leg) => [leg.recipient, leg.startAmount])).toEqual([
      [maker, 3n * 988n],
      [feeRecipient, 3n * 10n],
      [creator, 3n * 52n],
    ]);
    expect(listing.offer).toMatchObject([
      { itemType: 3, identifierOrCriteria: 7n, startAmount: 3n },
    ]);
  });

  it("can be filled in parts only above one unit", () => {
    const typeOf = (quantity: bigint) =>
      draftListingComponents({ ...terms, nft: edition, quantity, price }).orderType;

    expect([typeOf(1n), typeOf(2n)]).toEqual([0, 1]);
  });
});

describe("bidComponents", () => {
  it("offers the whole price and asks for the token before fee and royalty", () => {
    const bid = draftBidComponents({ ...terms, nft: punk, quantity: 1n, price, currency });

    expect(bid.offer).toMatchObject([{ itemType: 1, token: currency, startAmount: 1_050n }]);
    expect(bid.consideration).toMatchObject([
      { itemType: 2, identifierOrCriteria: 7n, startAmount: 1n, recipient: maker },
      { itemType: 1, token: currency, startAmount: 10n, recipient: feeRecipient },
      { itemType: 1, token: currency, startAmount: 52n, recipient: creator },
    ]);
    expect(BigInt(bid.conduitKey)).toBe(0n);
  });

  it("on a collection asks for any id by criteria, in parts above one unit", () => {
    const wanted = { standard: "erc721", contract: punk.contract, criteria: 0n } as const;
    const bid = draftBidComponents({ ...terms, nft: wanted, quantity: 2n, price, currency });

    expect(bid.consideration[0]).toMatchObject({
      itemType: 4,
      identifierOrCriteria: 0n,
      startAmount: 2n,
    });
    expect(bid.orderType).toBe(1);
  });
});
