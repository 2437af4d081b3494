import type { Address } from "viem";
import { describe, expect, it } from "vitest";
import { isRejection } from "../rejection.ts";
import {
  draftBidComponents,
  draftListingComponents,
  type Leg,
} from "../seaport/draft-components.ts";
import type { ParsedOrder } from "./order-terms.ts";
import {
  contract,
  creator,
  currency,
  feeRecipient,
  maker,
  now,
  stranger,
  terms,
} from "./orders.fixture.ts";
import { parseBid, parseListing } from "./parse-order.ts";
import { validateFees } from "./validate-terms.ts";

/** 100 bps of the price are 1,000 wei. */
const unitPriceWei = 100_000n;
const feeLeg = { recipient: feeRecipient, unitWei: 1_000n } as const;
const royaltyLeg = { recipient: creator, unitWei: 5_000n } as const;
const royaltyTo = (recipient: Address, royaltyWei = 5_000n) => ({ recipient, royaltyWei });

function orderPaying(feeLegs: Leg[], parts: Partial<ParsedOrder> = {}): ParsedOrder {
  const [listing] = [parseListing(bodyOf(draftListingComponents(trade(1n))), terms)];
  if (isRejection(listing)) throw new Error(listing.message);
  return { ...listing, unitPriceWei, feeLegs, ...parts };
}

const answer = (
  order: ParsedOrder,
  royalty: Parameters<typeof validateFees>[2],
  market = terms,
) => {
  const result = validateFees(order, market, royalty);
  return isRejection(result) ? result.rejected : "accepted";
};

describe("validateFees", () => {
  it.each<[string, Leg[], ReturnType<typeof royaltyTo> | null]>([
    ["fee and royalty, each due", [feeLeg, royaltyLeg], royaltyTo(creator)],
    ["the fee alone, no royalty due", [feeLeg], null],
    ["the fee alone, a royalty of nothing due", [feeLeg], royaltyTo(creator, 0n)],
    [
      "fee and royalty apart, both due to one address",
      [feeLeg, { ...royaltyLeg, recipient: feeRecipient }],
      royaltyTo(feeRecipient),
    ],
    [
      "equal fee and royalty to one address",
      [feeLeg, feeLeg],
      royaltyTo(feeRecipient, feeLeg.unitWei),
    ],
    [
      "the royalty to the maker, who is the creator",
      [feeLeg, { ...royaltyLeg, recipient: maker }],
      royaltyTo(maker),
    ],
  ])("accepts an order that pays %s", (_, feeLegs, royalty) => {
    expect(answer(orderPaying(feeLegs), royalty)).toBe("accepted");
  });

  it("takes the market's own listings, which pay the fee to their maker", () => {
    const own = orderPaying([{ ...feeLeg, recipient: maker }]);
    const market = { ...terms, fee: { recipient: maker, bps: 100 } } as const;

    expect(answer(own, null, market)).toBe("accepted");
  });

  it.each<[string, string, Leg[], ReturnType<typeof royaltyTo> | null]>([
    ["fee_missing", "only the royalty", [royaltyLeg], royaltyTo(creator)],
    [
      "fee_missing",
      "only the royalty, to the fee's address",
      [{ ...royaltyLeg, recipient: feeRecipient }],
      royaltyTo(feeRecipient),
    ],
    ["fee_missing", "no fee", [], null],
    [
      "fee_wrong_amount",
      "fee and royalty in one item",
      [{ ...feeLeg, unitWei: 6_000n }],
      royaltyTo(feeRecipient),
    ],
    ["fee_wrong_amount", "a fee of nothing", [{ ...feeLeg, unitWei: 0n }], null],
    ["fee_wrong_recipient", "the fee to somebody else", [{ ...feeLeg, recipient: stranger }], null],
    ["royalty_missing", "only the fee", [feeLeg], royaltyTo(creator)],
    ["royalty_missing", "only the fee, both due to one address", [feeLeg], royaltyTo(feeRecipient)],
    [
      "royalty_wrong_amount",
      "1 wei too much to the creator",
      [feeLeg, { ...royaltyLeg, unitWei: 5_001n }],
      royaltyTo(creator),
    ],
    ["royalty_unexpected", "a royalty not due", [feeLeg, royaltyLeg], null],
    [
      "royalty_unexpected",
      "a royalty of nothing",
      [feeLeg, { ...royaltyLeg, unitWei: 0n }],
      royaltyTo(creator, 0n),
    ],
    [
      "unexpected_consideration",
      "the seller again",
      [feeLeg, { ...royaltyLeg, recipient: maker }],
      null,
    ],
    ["unexpected_consideration", "the fee again", [feeLeg, feeLeg], null],
  ])("rejects with %s an order that pays %s", (code, _, feeLegs, royalty) => {
    expect(answer(orderPaying(feeLegs), royalty)).toBe(code);
  });

  it("wants no item for a fee of 0 wei", () => {
    const free = { ...terms, fee: { recipient: feeRecipient, bps: 0 } } as const;

    expect(answer(orderPaying([]), null, free)).toBe("accepted");
    expect(answer(orderPaying([{ ...feeLeg, unitWei: 1n }]), null, free)).toBe("fee_wrong_amount");
  });

  it("rounds the fee down per unit and reports it in wei and basis points, with the signed amount", () => {
    const order = orderPaying([{ ...feeLeg, unitWei: 11n }], {
      unitPriceWei: 1_099n,
      quantity: 3n,
    });

    expect(validateFees(order, terms, null)).toMatchObject({
      rejected: "fee_wrong_amount",
      message: `parameters.consideration[1] must be the service fee, 10 wei for each of 3 units (90.99 bps of 1099 wei) to ${feeRecipient}, and is 11 wei for each of 3 units (100.09 bps of 1099 wei)`,
      details: [{ field: "parameters.consideration[1].startAmount", expected: "30", actual: "33" }],
    });
  });

  it("rejects fee and royalty that leave the seller nothing, on either side", () => {
    const royaltyWei = 99_000n;
    const bid = parseBid(bodyOf(draftBidComponents(trade(1n, royaltyWei))), terms);
    const listing = parseListing(bodyOf(draftListingComponents(trade(1n, royaltyWei))), terms);
    if (isRejection(bid) || isRejection(listing)) throw new Error("both shapes are valid");

    expect(answer(bid, royaltyTo(creator, royaltyWei))).toBe("fees_too_high");
    expect(answer(listing, royaltyTo(creator, royaltyWei))).toBe("fees_too_high");
  });

  it("reads the terms of the trade per unit, addresses in lower case", () => {
    const order = parseListing(bodyOf(draftListingComponents(trade(5n))), terms);
    if (isRejection(order)) throw new Error(order.message);

    expect(
      validateFees(order, terms, royaltyTo("0x000000000000000000000000000000000000C4EA")),
    ).toEqual({
      terms: {
        side: "ask",
        contract,
        standard: "erc1155",
        tokenId: 9n,
        quantity: 5n,
        unitPriceWei,
        sellerNetWei: 94_000n,
        fees: [
          { kind: "service", ...feeLeg },
          { kind: "royalty", ...royaltyLeg },
        ],
      },
    });
  });
});

function trade(quantity: bigint, royaltyWei = 5_000n) {
  const nft = { standard: "erc1155", contract, tokenId: 9n } as const;
  const price = { unitPriceWei, fee: terms.fee, royalty: royaltyTo(creator, royaltyWei) };
  const times = { startTime: now, endTime: now + 86_400n };
  return {
    maker,
    ...times,
    salt: 1n,
    counter: 0n,
    nft,
    quantity,
    price,
    currency,
  } as const;
}

function bodyOf(components: ReturnType<typeof draftListingComponents>) {
  return { components, signature: "0x", totalOriginalConsiderationItems: null } as const;
}
