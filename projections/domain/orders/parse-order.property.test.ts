import fc from "fast-check";
import { type Address, type Hex, zeroAddress, zeroHash } from "viem";
import { describe, expect, it } from "vitest";
import { commonConduit } from "#abis/deployments.ts";
import { intakeCodes } from "../intake-codes.ts";
import { isRejection } from "../rejection.ts";
import {
  draftBidComponents,
  draftListingComponents,
  priceLegs,
} from "../seaport/draft-components.ts";
import type { OrderComponents } from "../seaport/order-components.ts";
import { contract, currency, maker, now, orders, terms, withChanges } from "./orders.fixture.ts";
import { parseBid, parseListing } from "./parse-order.ts";
import { validateFees, validateTimes } from "./validate-terms.ts";

const maxUint256 = 2n ** 256n - 1n;
const uint256 = fc.oneof(
  fc.constantFrom(0n, 1n, 2n, 10_000n, 10n ** 18n, 2n ** 120n, 2n ** 255n, maxUint256),
  fc.bigInt(0n, maxUint256),
);
const bytes = (length: number) =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((some) => `0x${hexOf(some)}` as Hex);
const hexOf = (some: Uint8Array) => Buffer.from(some).toString("hex");
const address: fc.Arbitrary<Address> = fc.oneof(
  fc.constantFrom<Address>(zeroAddress, maker, contract, currency, terms.fee.recipient),
  bytes(20),
);
const hash = fc.oneof(fc.constantFrom<Hex>(zeroHash, commonConduit.key), bytes(32));
const uint8 = fc.oneof(fc.nat(6), fc.nat(255));

const itemFields = {
  itemType: uint8,
  token: address,
  identifierOrCriteria: uint256,
  startAmount: uint256,
  endAmount: uint256,
};
const offerItem = fc.record(itemFields);
const considerationItem = fc.record({ ...itemFields, recipient: address });
const fields = {
  offerer: address,
  zone: address,
  offer: fc.array(offerItem, { maxLength: 50 }),
  consideration: fc.array(considerationItem, { maxLength: 50 }),
  orderType: uint8,
  startTime: uint256,
  endTime: uint256,
  zoneHash: hash,
  salt: uint256,
  conduitKey: hash,
  counter: uint256,
};

/** Random orders of the right types, and valid orders with a few fields replaced. */
const anyOrder: fc.Arbitrary<OrderComponents> = fc.oneof(
  fc.record(fields),
  fc
    .record({
      base: fc.constantFrom(...Object.values(orders)),
      whole: fc.record(fields, { requiredKeys: [] }).map(dropMost),
      item: fc.record({ ...itemFields, recipient: address }, { requiredKeys: [] }).map(dropMost),
      at: fc.constantFrom("offer[0]", "consideration[0]", "consideration[1]", "consideration[2]"),
    })
    .map(({ base, whole, item, at }) => ({
      ...withChanges(
        base,
        Object.fromEntries(Object.entries(item).map(([name, value]) => [`${at}.${name}`, value])),
      ),
      ...whole,
    })),
);

/** Most changes are rejected by the first checks: with one or two an order gets further. */
function dropMost<Fields extends object>(some: Fields): Partial<Fields> {
  return Object.fromEntries(Object.entries(some).slice(-1)) as Partial<Fields>;
}

const trade = fc.record({
  unitPriceWei: fc.bigInt(terms.bounds.minPriceWei, terms.bounds.maxPriceWei),
  quantity: fc.oneof(fc.constant(1n), fc.bigInt(1n, 10n ** 9n), fc.constant(2n ** 53n - 1n)),
  standard: fc.constantFrom<"erc721" | "erc1155">("erc721", "erc1155"),
  tokenId: uint256,
  feeBps: fc.nat(1_000),
  feeRecipient: fc.constantFrom<Address>(terms.fee.recipient, maker),
  royaltyBps: fc.bigInt(0n, 8_000n),
  royaltyRecipient: fc.constantFrom<Address>(terms.fee.recipient, maker, contract),
  salt: uint256,
});

describe("any order that is well typed", () => {
  it("is validated, on either side, without an exception, and with a code of the table", () => {
    fc.assert(
      fc.property(anyOrder, fc.option(uint256), (components, count) => {
        const body = {
          components,
          signature: "0x",
          totalOriginalConsiderationItems: count,
        } as const;
        for (const order of [parseListing(body, terms), parseBid(body, terms)]) {
          const results = isRejection(order)
            ? [order]
            : [validateFees(order, terms, null), validateTimes(components, terms.bounds, now)];
          for (const result of results.filter((one) => isRejection(one))) {
            expect(intakeCodes).toHaveProperty(result.rejected);
            expect(result.details).toHaveLength(1);
          }
        }
      }),
      { numRuns: 2_000 },
    );
  });
});

type Trade = typeof trade extends fc.Arbitrary<infer Value> ? Value : never;

function priceOf(sample: Trade) {
  const royaltyWei = (sample.unitPriceWei * sample.royaltyBps) / 10_000n;
  return {
    unitPriceWei: sample.unitPriceWei,
    fee: { recipient: sample.feeRecipient, bps: sample.feeBps },
    royalty: { recipient: sample.royaltyRecipient, royaltyWei },
  };
}

const bodyOf = (components: OrderComponents) =>
  ({ components, signature: "0x", totalOriginalConsiderationItems: null }) as const;

/** Parses the order and validates its fees. */
function parseAndValidate(components: OrderComponents, side: "ask" | "bid", sample: Trade) {
  const { fee, royalty } = priceOf(sample);
  const market = { ...terms, fee };
  const body = bodyOf(components);
  const order = side === "ask" ? parseListing(body, market) : parseBid(body, market);
  return isRejection(order) ? order : validateFees(order, market, royalty);
}

function termsOf(sample: Trade) {
  const { sellerNetWei, feeLegs } = priceLegs(priceOf(sample));
  const { standard, unitPriceWei } = sample;
  return { contract, standard, unitPriceWei, sellerNetWei, fees: feeLegs };
}

describe("an order created for a trade is parsed as that trade, to the wei, for any recipients", () => {
  const free = { maker, startTime: now, endTime: now + 1n, counter: 0n } as const;
  const check = (checkOne: (sample: Trade) => void) =>
    fc.assert(fc.property(trade, checkOne), { numRuns: 300 });

  it("a listing", () => {
    check((sample) => {
      const { standard, tokenId, salt } = sample;
      const quantity = standard === "erc721" ? 1n : sample.quantity;
      const nft = { standard, contract, tokenId } as const;
      const listing = draftListingComponents({
        ...free,
        salt,
        nft,
        quantity,
        price: priceOf(sample),
      });

      expect(parseAndValidate(listing, "ask", sample)).toMatchObject({
        terms: { ...termsOf(sample), side: "ask", tokenId, quantity },
      });
    });
  });

  it("a bid on a token", () => {
    check((sample) => {
      const { standard, tokenId, salt } = sample;
      const quantity = standard === "erc721" ? 1n : sample.quantity;
      const bid = { nft: { standard, contract, tokenId }, quantity, currency } as const;

      expect(
        parseAndValidate(
          draftBidComponents({ ...free, salt, ...bid, price: priceOf(sample) }),
          "bid",
          sample,
        ),
      ).toMatchObject({ terms: { ...termsOf(sample), side: "bid", tokenId, quantity } });
    });
  });

  it("a bid on a collection", () => {
    check((sample) => {
      const { standard, quantity, salt } = sample;
      const bid = { nft: { standard, contract, criteria: 0n }, quantity, currency } as const;

      expect(
        parseAndValidate(
          draftBidComponents({ ...free, salt, ...bid, price: priceOf(sample) }),
          "bid",
          sample,
        ),
      ).toMatchObject({ terms: { ...termsOf(sample), side: "bid", tokenId: null, quantity } });
    });
  });
});
