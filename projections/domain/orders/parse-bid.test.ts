import { zeroAddress } from "viem";
import { describe, expect, it } from "vitest";
import { commonConduit } from "#abis/deployments.ts";
import { wrappedNative } from "#chains/index.ts";
import type { IntakeCode } from "../intake-codes.ts";
import type { ConsiderationItem as Item } from "../seaport/order-components.ts";
import { creator, maker, now, orders, resultOf, stranger, withChanges } from "./orders.fixture.ts";

type Row = [field: string, value: unknown, code: IntakeCode | "accepted", named?: string];

const { bid, editionBid, collectionBid } = orders;
const [paid] = bid.offer;
const [nft, fee, royalty] = bid.consideration as readonly [Item, Item, Item];
const oneHash = `0x${"0".repeat(63)}1`;
const maxUint256 = 2n ** 256n - 1n;
const wei = (amount: bigint) => ({ startAmount: amount, endAmount: amount });

const fields: Row[] = [
  ["offerer", stranger, "unexpected_consideration", "consideration[0].recipient"],
  ["zone", stranger, "zone_not_allowed"],
  ["zoneHash", oneHash, "zone_not_allowed"],
  ["orderType", 1, "unsupported_order_type"],
  ["orderType", 2, "unsupported_order_type"],
  ["orderType", 4, "unsupported_order_type"],
  ["conduitKey", commonConduit.key, "wrong_conduit"],
  ["conduitKey", oneHash, "wrong_conduit"],
  ["offer", [], "bundle_not_supported"],
  ["offer", [paid, paid], "bundle_not_supported"],
  ["offer[0].itemType", 0, "unsupported_item_type"],
  ["offer[0].itemType", 2, "unsupported_item_type"],
  ["offer[0].itemType", 3, "unsupported_item_type"],
  ["offer[0].itemType", 255, "unsupported_item_type"],
  ["offer[0].token", wrappedNative[33139], "unsupported_currency"],
  ["offer[0].token", zeroAddress, "unsupported_currency"],
  ["offer[0].identifierOrCriteria", 1n, "unsupported_currency"],
  ["offer[0].startAmount", 0n, "dynamic_price_not_supported", "offer[0].endAmount"],
  ["offer[0].endAmount", maxUint256, "dynamic_price_not_supported"],
  ["consideration[0].itemType", 0, "unsupported_item_type"],
  ["consideration[0].itemType", 1, "unsupported_item_type"],
  ["consideration[0].itemType", 4, "bad_criteria", "consideration[0].identifierOrCriteria"],
  ["consideration[0].itemType", 6, "unsupported_item_type"],
  ["consideration[0].token", stranger, "accepted"],
  ["consideration[0].identifierOrCriteria", 0n, "accepted"],
  ["consideration[0].startAmount", 0n, "bad_quantity"],
  ["consideration[0].startAmount", 2n, "bad_quantity"],
  ["consideration[0].endAmount", 2n, "bad_quantity"],
  ["consideration[0].recipient", zeroAddress, "unexpected_consideration"],
  ["consideration[0].recipient", stranger, "unexpected_consideration"],
  ["consideration[1].itemType", 0, "unsupported_currency"],
  ["consideration[1].itemType", 2, "bundle_not_supported", "consideration"],
  ["consideration[1].token", wrappedNative[33139], "unsupported_currency"],
  ["consideration[1].identifierOrCriteria", 1n, "unsupported_currency"],
  ["consideration[1].startAmount", 0n, "dynamic_price_not_supported", "consideration[1].endAmount"],
  ["consideration[1].recipient", zeroAddress, "unexpected_consideration"],
  ["consideration[1].recipient", stranger, "fee_wrong_recipient"],
  ["consideration[1].recipient", maker, "fee_wrong_recipient"],
  ["consideration[2].token", stranger, "unsupported_currency"],
  ["consideration[2].endAmount", 0n, "dynamic_price_not_supported"],
  ["consideration[2].recipient", stranger, "royalty_wrong_recipient"],
  ["consideration[2].recipient", maker, "royalty_wrong_recipient"],
  ["startTime", now + 86_400n, "end_before_start", "endTime"],
  ["startTime", now + 61n, "not_started"],
  ["endTime", now + 599n, "duration_too_short"],
  ["endTime", maxUint256, "duration_too_long"],
  ["salt", 0n, "accepted"],
  ["counter", 0n, "accepted"],
];

const consideration: [title: string, items: Item[], code: IntakeCode | "accepted", at?: string][] =
  [
    ["is left out", [], "unsupported_item_type", "[0].itemType"],
    ["asks for no NFT", [fee, royalty], "unsupported_item_type", "[0].itemType"],
    ["asks for two NFTs", [nft, nft, fee, royalty], "bundle_not_supported", ""],
    ["has the NFT second", [fee, nft, royalty], "unexpected_consideration", "[0].itemType"],
    ["pays the royalty before the fee", [nft, royalty, fee], "unexpected_consideration", "[1]"],
    ["has no fee", [nft, royalty], "fee_missing", ""],
    ["has no royalty", [nft, fee], "royalty_missing", ""],
    ["pays no fee", [nft], "fee_missing", ""],
    ["pays the fee twice", [nft, fee, fee, royalty], "unexpected_consideration", ""],
    [
      "pays the service 1 wei less",
      [nft, { ...fee, ...wei(10n ** 16n - 1n) }, royalty],
      "fee_wrong_amount",
      "[1].startAmount",
    ],
    [
      "pays the creator 1 wei more",
      [nft, fee, { ...royalty, ...wei(5n * 10n ** 16n + 1n) }],
      "royalty_wrong_amount",
      "[2].startAmount",
    ],
  ];

const others: [
  title: string,
  base: typeof bid,
  changes: Record<string, unknown>,
  answer: string,
][] = [
  ["for units", editionBid, { orderType: 1 }, "unsupported_order_type orderType"],
  [
    "for 7 units at the price of 5",
    editionBid,
    { "consideration[0]": { ...editionBid.consideration[0], ...wei(7n) } },
    "amount_not_divisible offer[0].startAmount",
  ],
  ["for many", collectionBid, { orderType: 0 }, "not_partially_fillable orderType"],
  [
    "on ids under a root",
    collectionBid,
    { "consideration[0].identifierOrCriteria": 1n },
    "bad_criteria consideration[0].identifierOrCriteria",
  ],
  ["on any id of an edition", collectionBid, { "consideration[0].itemType": 5 }, "accepted"],
  [
    "for none of a collection",
    collectionBid,
    { "consideration[0]": { ...collectionBid.consideration[0], ...wei(0n) } },
    "bad_quantity consideration[0].startAmount",
  ],
  ["of nothing", bid, { offer: [{ ...paid, ...wei(0n) }] }, "zero_price offer[0].startAmount"],
  [
    "below the least price",
    bid,
    { offer: [{ ...paid, ...wei(9_999n) }] },
    "price_too_low offer[0].startAmount",
  ],
  [
    "above the greatest price",
    bid,
    { offer: [{ ...paid, ...wei(maxUint256) }] },
    "price_too_high offer[0].startAmount",
  ],
];

describe("a bid", () => {
  it("on a token, on units of one and on a collection is accepted", () => {
    const answers = [bid, editionBid, collectionBid].map((one) => resultOf("bid", one));

    expect(answers).toEqual(["accepted", "accepted", "accepted"]);
  });

  it.each(fields)("with %s = %s is answered %s", (field, value, code, at = field) => {
    const answer = resultOf("bid", withChanges(bid, { [field]: value }));

    expect(answer).toBe(code === "accepted" ? code : `${code} ${at}`);
  });

  it.each(consideration)("whose consideration %s is rejected", (_, items, code, at = "") => {
    const answer = resultOf("bid", withChanges(bid, { consideration: items }));

    expect(answer).toBe(code === "accepted" ? code : `${code} consideration${at}`);
  });

  it.each(others)("%s is rejected with the field", (_, base, changes, answer) => {
    expect(resultOf("bid", withChanges(base, changes))).toBe(answer);
  });

  it("is rejected when totalOriginalConsiderationItems is wrong", () => {
    expect(resultOf("bid", bid, 2n)).toBe("consideration_mismatch totalOriginalConsiderationItems");
  });

  it("sent as a listing, and a listing sent as a bid, has the other side's conduit", () => {
    expect([resultOf("ask", bid), resultOf("bid", orders.listing)]).toEqual([
      "wrong_conduit conduitKey",
      "wrong_conduit conduitKey",
    ]);
  });

  it("whose creator is the bidder pays the royalty to the bidder", () => {
    const own = withChanges(bid, { offerer: creator, "consideration[0].recipient": creator });

    expect(resultOf("bid", own)).toBe("accepted");
  });
});
