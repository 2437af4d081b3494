import { zeroAddress, zeroHash } from "viem";
import { describe, expect, it } from "vitest";
import type { IntakeCode } from "../intake-codes.ts";
import type { ConsiderationItem as Item, OrderComponents } from "../seaport/order-components.ts";
import {
  contract,
  creator,
  currency,
  feeRecipient,
  maker,
  now,
  orders,
  resultOf,
  stranger,
  withChanges,
} from "./orders.fixture.ts";

type Row = [field: string, value: unknown, code: IntakeCode | "accepted", named?: string];
type Items = OrderComponents["consideration"];

const { listing, editionListing } = orders;
const [item] = listing.offer;
const [seller, fee, royalty] = listing.consideration as readonly [Item, Item, Item];
const nftLeg = { ...item, recipient: stranger } as Item;
const oneHash = `0x${"0".repeat(63)}1`;
const maxUint256 = 2n ** 256n - 1n;

const fields: Row[] = [
  ["offerer", stranger, "unexpected_consideration", "consideration[0].recipient"],
  ["zone", stranger, "zone_not_allowed"],
  ["zoneHash", oneHash, "zone_not_allowed"],
  ["orderType", 1, "accepted"],
  ["orderType", 2, "unsupported_order_type"],
  ["orderType", 3, "unsupported_order_type"],
  ["orderType", 4, "unsupported_order_type"],
  ["orderType", 255, "unsupported_order_type"],
  ["conduitKey", zeroHash, "wrong_conduit"],
  ["conduitKey", oneHash, "wrong_conduit"],
  ["offer", [], "bundle_not_supported"],
  ["offer", [item, item], "bundle_not_supported"],
  ["offer[0].itemType", 0, "unsupported_item_type"],
  ["offer[0].itemType", 1, "unsupported_item_type"],
  ["offer[0].itemType", 4, "unsupported_item_type"],
  ["offer[0].itemType", 5, "unsupported_item_type"],
  ["offer[0].itemType", 6, "unsupported_item_type"],
  ["offer[0].token", stranger, "accepted"],
  ["offer[0].identifierOrCriteria", maxUint256, "accepted"],
  ["offer[0].startAmount", 0n, "bad_quantity"],
  ["offer[0].startAmount", 2n, "bad_quantity"],
  ["offer[0].startAmount", maxUint256, "bad_quantity"],
  ["offer[0].endAmount", 0n, "bad_quantity"],
  ["offer[0].endAmount", 2n, "bad_quantity"],
  ["consideration[0].itemType", 1, "unsupported_currency"],
  ["consideration[0].itemType", 2, "private_order_not_supported"],
  ["consideration[0].itemType", 4, "unsupported_item_type"],
  ["consideration[0].itemType", 6, "unsupported_item_type"],
  ["consideration[0].token", currency, "unsupported_currency"],
  ["consideration[0].identifierOrCriteria", 1n, "unsupported_currency"],
  ["consideration[0].startAmount", 1n, "dynamic_price_not_supported", "consideration[0].endAmount"],
  ["consideration[0].endAmount", maxUint256, "dynamic_price_not_supported"],
  ["consideration[0].recipient", zeroAddress, "unexpected_consideration"],
  ["consideration[0].recipient", stranger, "unexpected_consideration"],
  ["consideration[1].itemType", 1, "unsupported_currency"],
  ["consideration[1].token", contract, "unsupported_currency"],
  ["consideration[1].endAmount", 0n, "dynamic_price_not_supported"],
  ["consideration[1].recipient", zeroAddress, "unexpected_consideration"],
  ["consideration[1].recipient", stranger, "fee_wrong_recipient"],
  ["consideration[1].recipient", maker, "fee_wrong_recipient"],
  ["consideration[1].recipient", creator, "fee_wrong_recipient"],
  ["consideration[2].recipient", zeroAddress, "unexpected_consideration"],
  ["consideration[2].recipient", stranger, "royalty_wrong_recipient"],
  ["consideration[2].recipient", maker, "royalty_wrong_recipient"],
  ["consideration[2].recipient", feeRecipient, "royalty_wrong_recipient"],
  ["startTime", now + 86_400n, "end_before_start", "endTime"],
  ["startTime", maxUint256, "end_before_start", "endTime"],
  ["startTime", now + 61n, "not_started"],
  ["startTime", 0n, "accepted"],
  ["endTime", 0n, "end_before_start"],
  ["endTime", now, "end_before_start"],
  ["endTime", now + 599n, "duration_too_short"],
  ["endTime", maxUint256, "duration_too_long"],
  ["salt", maxUint256, "accepted"],
  ["counter", maxUint256, "accepted"],
];

const consideration: [title: string, items: Items, code: IntakeCode | "accepted", at?: string][] = [
  ["is left out", [], "zero_price", ""],
  ["pays the royalty before the fee", [seller, royalty, fee], "unexpected_consideration", "[1]"],
  ["has no payment to the seller", [fee, royalty], "unexpected_consideration", "[0].recipient"],
  ["pays the seller second", [fee, seller, royalty], "unexpected_consideration", "[0].recipient"],
  ["pays the fee twice", [seller, fee, royalty, fee], "unexpected_consideration", ""],
  ["pays the seller twice", [seller, seller, fee, royalty], "unexpected_consideration", ""],
  ["pays the seller for the creator", [seller, fee, seller], "fee_wrong_amount", "[1].startAmount"],
  ["has no fee", [seller, royalty], "fee_missing", ""],
  ["pays the seller only", [seller], "fee_missing", ""],
  ["has no royalty", [{ ...seller, ...wei(99n * 10n ** 16n) }, fee], "royalty_missing", ""],
  ["asks for an NFT too", [seller, fee, nftLeg], "private_order_not_supported", "[2].itemType"],
  ["asks for an NFT only", [nftLeg], "private_order_not_supported", "[0].itemType"],
  ["pays nothing", [seller, fee, royalty].map((leg) => ({ ...leg, ...wei(0n) })), "zero_price", ""],
];

const changes: [title: string, changes: Record<string, unknown>, answer: string][] = [
  ["of 5 units fillable as a whole only", { orderType: 0 }, "not_partially_fillable orderType"],
  [
    "of 7 units at the price of 5",
    { "offer[0]": { ...editionListing.offer[0], ...wei(7n) } },
    "amount_not_divisible consideration[0].startAmount",
  ],
  [
    "of 1 unit at the price of 5",
    { "offer[0]": { ...editionListing.offer[0], ...wei(1n) } },
    "accepted",
  ],
  [
    "with a fee that units do not divide",
    { "consideration[1]": { ...editionListing.consideration[1], ...wei(5n * 10n ** 16n + 1n) } },
    "amount_not_divisible consideration[1].startAmount",
  ],
  [
    "with 1 wei per unit too much for the service",
    { "consideration[1]": { ...editionListing.consideration[1], ...wei(5n * 10n ** 16n + 5n) } },
    "fee_wrong_amount consideration[1].startAmount",
  ],
  [
    "of more units than fractions can represent",
    { "offer[0]": { ...editionListing.offer[0], ...wei(2n ** 120n) } },
    "bad_quantity offer[0].startAmount",
  ],
  ["below the least price", priced(9_999n), "price_too_low consideration"],
  ["above the greatest price", priced(10n ** 27n + 1n), "price_too_high consideration"],
];

describe("a listing", () => {
  it("of one token and one of an edition are accepted", () => {
    expect([resultOf("ask", listing), resultOf("ask", editionListing)]).toEqual([
      "accepted",
      "accepted",
    ]);
  });

  it.each(fields)("with %s = %s is answered %s", (field, value, code, at = field) => {
    const answer = resultOf("ask", withChanges(listing, { [field]: value }));

    expect(answer).toBe(code === "accepted" ? code : `${code} ${at}`);
  });

  it.each(consideration)("whose consideration %s is rejected", (_, items, code, at = "") => {
    const answer = resultOf("ask", withChanges(listing, { consideration: items }));

    expect(answer).toBe(code === "accepted" ? code : `${code} consideration${at}`);
  });

  it.each(changes)("%s is rejected", (_, change, answer) => {
    expect(resultOf("ask", withChanges(editionListing, change))).toBe(answer);
  });

  it("is rejected when totalOriginalConsiderationItems is wrong", () => {
    expect([3n, 2n, 4n, 0n].map((count) => resultOf("ask", listing, count))).toEqual([
      "accepted",
      ...Array(3).fill("consideration_mismatch totalOriginalConsiderationItems"),
    ]);
  });

  it("with several faults is rejected with the first code of the table", () => {
    const faults: [Record<string, unknown>, IntakeCode][] = [
      [{ orderType: 2 }, "unsupported_order_type"],
      [{ zone: stranger }, "zone_not_allowed"],
      [{ conduitKey: zeroHash }, "wrong_conduit"],
      [{ "offer[0].itemType": 1 }, "unsupported_item_type"],
      [{ "offer[0].endAmount": 2n }, "bad_quantity"],
      [{ "consideration[1].endAmount": 5n }, "dynamic_price_not_supported"],
      [{ "consideration[2].token": currency }, "unsupported_currency"],
      [{ "consideration[0].recipient": stranger }, "unexpected_consideration"],
      [{ "consideration[1].recipient": stranger }, "fee_wrong_recipient"],
      [{ "consideration[2].recipient": stranger }, "royalty_wrong_recipient"],
      [{ endTime: now - 1n, startTime: now - 2n }, "order_expired"],
    ];

    const answers = faults.map((_, first) => {
      const left = faults.slice(first).map(([change]) => change);
      return resultOf("ask", withChanges(listing, Object.assign({}, ...left))).split(" ")[0];
    });

    expect(answers).toEqual(faults.map(([, code]) => code));
  });
});

function wei(amount: bigint) {
  return { startAmount: amount, endAmount: amount };
}

/** Fees are validated after the price. */
function priced(unitPriceWei: bigint): Record<string, unknown> {
  const leg = { ...editionListing.consideration[0], ...wei(5n * unitPriceWei) };
  return { consideration: [leg] };
}
