import { describe, expect, it } from "vitest";
import {
  draftBidComponents,
  draftListingComponents,
  type RequestedNft,
} from "./draft-components.ts";
import { advancedOrder, basicOrderForItemBid, matchBidWithMirror } from "./fill.ts";

const maker = "0x00000000000000000000000000000000000a11ce";
const seller = "0x0000000000000000000000000000000000000b0b";
const nft = {
  standard: "erc1155",
  contract: "0x0000000000000000000000000000000000001155",
  tokenId: 7n,
} as const;
const common = {
  maker,
  startTime: 1n,
  endTime: 2n,
  salt: 3n,
  counter: 4n,
  price: {
    unitPriceWei: 1_000n,
    fee: { recipient: "0x000000000000000000000000000000000000fee0", bps: 100 },
    royalty: null,
  },
} as const;

const bidOn = (wanted: RequestedNft, quantity: bigint) => ({
  components: draftBidComponents({
    ...common,
    nft: wanted,
    quantity,
    currency: "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2",
  }),
  signature: "0x" as const,
});

describe("advancedOrder", () => {
  it("fills units as the smallest fraction of the signed quantity", () => {
    const components = draftListingComponents({ ...common, nft, quantity: 20n });

    const { numerator, denominator } = advancedOrder({ components, signature: "0x" }, 8n);

    expect([numerator, denominator]).toEqual([2n, 5n]);
  });
});

describe("basicOrderForItemBid", () => {
  it.each([
    ["erc721", 16],
    ["erc1155", 20],
  ] as const)("takes the route of an %s for ERC-20", (standard, route) => {
    const basic = basicOrderForItemBid(bidOn({ ...nft, standard }, 1n));

    expect(basic.basicOrderType).toBe(route);
    expect(basic.additionalRecipients).toEqual([
      { amount: 10n, recipient: common.price.fee.recipient },
    ]);
  });

  it("rejects a collection bid", () => {
    const bid = bidOn({ standard: "erc721", contract: nft.contract, criteria: 0n }, 1n);

    expect(() => basicOrderForItemBid(bid)).toThrow("one ERC-721 or ERC-1155 token");
  });
});

describe("matchBidWithMirror", () => {
  it("hands the seller, to the wei, what the bid leaves after its fees for the units accepted", () => {
    const bid = bidOn({ standard: "erc1155", contract: nft.contract, criteria: 0n }, 5n);
    const acceptance = {
      seller,
      tokenId: 9n,
      units: 2n,
      criteriaProof: [],
      startTime: 1n,
      endTime: 2n,
      salt: 0n,
    } as const;

    const [filled, mirror] = matchBidWithMirror(bid, acceptance).orders;

    expect([filled?.numerator, filled?.denominator]).toEqual([2n, 5n]);
    expect(mirror?.parameters.offer).toMatchObject([
      { itemType: 3, identifierOrCriteria: 9n, startAmount: 2n },
    ]);
    expect(mirror?.parameters.consideration).toMatchObject([
      { startAmount: 1_980n, recipient: seller },
    ]);
  });
});
