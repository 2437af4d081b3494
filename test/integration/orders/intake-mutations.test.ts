import fc from "fast-check";
import { type Address, type Hex, maxUint256, parseEther, zeroAddress } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { commonConduit, seaportAddresses } from "#abis/deployments.ts";
import { wrappedNative } from "#chains/index.ts";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import type { IntakeCode } from "#projections/domain/intake-codes.ts";
import type {
  ConsiderationItem,
  OrderComponents,
  SignedOrder,
} from "#projections/domain/seaport/order-components.ts";
import {
  type IntakeFixture,
  openIntakeFixture,
  resign,
  wireOrder,
} from "#test/support/orders/intake-fixture.ts";
import { punk } from "#test/support/orders/stocked-tokens.ts";

const chainId = 33139;
const base = ["listing", "edition", "bid", "collection bid"] as const;
type Base = (typeof base)[number];

let stand: IntakeFixture;
let orders: Record<Base, SignedOrder>;

const signers = {
  listing: accounts.alice,
  edition: accounts.alice,
  bid: accounts.bob,
  "collection bid": accounts.bob,
};

const edition = { standard: "erc1155", contract: contracts.editions, tokenId: 1n } as const;

beforeAll(async () => {
  stand = await openIntakeFixture(chainId);
  const { alice, bob } = stand.market.actors;
  await bob.wraps(parseEther("10"));
  await bob.allows(parseEther("9"));
  await bob.mints({ ...punk(70n), contract: contracts.burnable });
  const gone = { ...punk(71n), contract: contracts.burnable };
  await bob.mints(gone);
  await bob.burns(gone);
  await stand.record();
  const priceWei = parseEther("1");
  orders = {
    listing: await alice.lists(punk(1n), { priceWei }),
    edition: await alice.lists(edition, { priceWei, quantity: 4n }),
    bid: await bob.offers(punk(1n), { priceWei }),
    "collection bid": await bob.offersForCollection({
      standard: "erc1155",
      contract: contracts.editions,
      priceWei,
      quantity: 3n,
    }),
  };
});
afterAll(() => stand?.close());

const pathOf = (of: Base) =>
  of === "listing" || of === "edition" ? "/v1/orders/asks" : "/v1/orders/bids";

type Row = [of: Base, what: string, code: IntakeCode];
type Fields = Record<string, unknown>;

/** Submits a changed valid body, and compares the result. */
async function refuses(of: Base, body: unknown, code: IntakeCode, status: number): Promise<void> {
  const answer = await stand.post(pathOf(of), body);
  expect([answer.status, answer.code, answer.message]).toEqual([
    status,
    code,
    expect.stringMatching(/./),
  ]);
  expect(answer.success).toBe(false);
}

const statusOf: Partial<Record<IntakeCode, number>> = { pp_retired: 409 };
const bodyOf = (of: Base) => ({ chainId, seaport: wireOrder(orders[of]) });

describe("the envelope of an order", () => {
  const text: [what: string, body: (good: ReturnType<typeof bodyOf>) => unknown, IntakeCode][] = [
    ["malformed JSON", () => '{"chainId":', "bad_structure"],
    ["no body", () => "", "bad_structure"],
    ["a list", (good) => [good], "bad_structure"],
    ["no chain", ({ seaport }) => ({ seaport }), "bad_structure"],
    ["a chain as text", ({ seaport }) => ({ chainId: "33139", seaport }), "bad_structure"],
    ["another chain", ({ seaport }) => ({ chainId: 137, seaport }), "unsupported_chain"],
    ["a chain not served", ({ seaport }) => ({ chainId: 1, seaport }), "unsupported_chain"],
    ["no order", () => ({ chainId }), "bad_structure"],
    ["null for an order", () => ({ chainId, seaport: null }), "bad_structure"],
    ["a list for an order", () => ({ chainId, seaport: [] }), "bad_structure"],
    ["text for an order", () => ({ chainId, seaport: "0x" }), "bad_structure"],
    ["an order without parts", () => ({ chainId, seaport: {} }), "bad_structure"],
    [
      "another exchange",
      (good) => ({ ...good, protocolAddress: seaportAddresses["1.5"] }),
      "wrong_protocol",
    ],
    [
      "another exchange inside",
      ({ seaport: order }) => ({
        chainId,
        seaport: { ...order, protocol_address: seaportAddresses["1.4"] },
      }),
      "wrong_protocol",
    ],
    [
      "another domain",
      ({ seaport: order }) => ({ chainId, seaport: { ...order, domain: { version: "1.5" } } }),
      "wrong_protocol",
    ],
    [
      "another chain's domain",
      ({ seaport: order }) => ({ chainId, seaport: { ...order, domain: { chainId: 1 } } }),
      "wrong_protocol",
    ],
    ["another protocol", (good) => ({ ...good, protocol: "seaport-v1.5" }), "wrong_protocol"],
    [
      "the payment processor by name",
      () => ({ chainId, seaport: { kind: "payment-processor", data: {} } }),
      "pp_retired",
    ],
    [
      "the payment processor by its fields",
      () => ({ chainId, seaport: { sellerAcceptedOffer: false, masterNonce: "0" } }),
      "pp_retired",
    ],
    [
      "the payment processor in place of an order",
      () => ({ chainId, paymentProcessor: { marketplaceFeeNumerator: "100" } }),
      "pp_retired",
    ],
  ];
  it.each(text)("%s", async (_what, change, code) => {
    await refuses("listing", change(bodyOf("listing")), code, statusOf[code] ?? 422);
  });
});

describe("the format of an order", () => {
  const set = (path: string, value: unknown) => (good: Fields) => {
    const order = structuredClone(good);
    const parts = path.split(".");
    const last = parts.pop() ?? "";
    const holder = parts.reduce<Fields>((fields, part) => fields[part] as Fields, order);
    if (value === undefined) delete holder[last];
    else holder[last] = value;
    return order;
  };
  const tooLarge = (maxUint256 + 1n).toString();
  const written: [path: string, value: unknown][] = [
    ["parameters.offerer", undefined],
    ["parameters.offerer", "alice"],
    ["parameters.offerer", `${accounts.alice.address}00`],
    ["parameters.zone", null],
    ["parameters.offer", "none"],
    ["parameters.offer", [null]],
    ["parameters.consideration", undefined],
    ["parameters.consideration.0.recipient", undefined],
    ["parameters.consideration.0.startAmount", "-1"],
    ["parameters.consideration.0.startAmount", "1.5"],
    ["parameters.consideration.0.startAmount", "0x10"],
    ["parameters.consideration.0.startAmount", "01"],
    ["parameters.consideration.0.startAmount", "1e18"],
    ["parameters.consideration.0.startAmount", tooLarge],
    ["parameters.consideration.0.endAmount", 1e20],
    ["parameters.offer.0.itemType", "two"],
    ["parameters.offer.0.identifierOrCriteria", tooLarge],
    ["parameters.orderType", 256],
    ["parameters.startTime", null],
    ["parameters.endTime", "tomorrow"],
    ["parameters.zoneHash", "0x00"],
    ["parameters.salt", "salty"],
    ["parameters.salt", `0x1${"0".repeat(64)}`],
    ["parameters.conduitKey", 0],
    ["parameters.counter", undefined],
    ["parameters.counter", true],
    ["signature", 7],
    ["signature", "signed"],
    ["signature", "0x123"],
  ];
  it.each(written)("bad_structure: %s = %s", async (path, value) => {
    const order = set(path, value)(wireOrder(orders.listing));
    await refuses("listing", { chainId, seaport: order }, "bad_structure", 422);
  });
});

type Change = (order: OrderComponents) => OrderComponents;

const offerItem =
  (change: Partial<OrderComponents["offer"][number]>): Change =>
  (order) => ({ ...order, offer: order.offer.map((item) => ({ ...item, ...change })) });
const leg =
  (index: number, change: (leg: ConsiderationItem) => Partial<ConsiderationItem>): Change =>
  (order) => ({
    ...order,
    consideration: order.consideration.map((one, at) =>
      at === index ? { ...one, ...change(one) } : one,
    ),
  });
const every =
  (change: (leg: ConsiderationItem) => Partial<ConsiderationItem>): Change =>
  (order) => ({
    ...order,
    consideration: order.consideration.map((one) => ({ ...one, ...change(one) })),
  });
const paid = (wei: bigint) => ({ startAmount: wei, endAmount: wei });
/** Moves wei from a leg to the seller's, so that the price is unchanged. */
const cut =
  (index: number, wei: bigint): Change =>
  (order) =>
    leg(index, (one) => paid(one.startAmount - wei))(
      leg(0, (one) => paid(one.startAmount + wei))(order),
    );
const without =
  (index: number): Change =>
  (order) => {
    const wei = order.consideration[index]?.startAmount ?? 0n;
    const cutOrder = leg(0, (one) => paid(one.startAmount + wei))(order);
    return { ...cutOrder, consideration: cutOrder.consideration.filter((_, at) => at !== index) };
  };
const added =
  (extra: Partial<ConsiderationItem>): Change =>
  (order) => {
    const first = order.consideration[0];
    if (first === undefined) throw new Error("no leg");
    return { ...order, consideration: [...order.consideration, { ...first, ...extra }] };
  };
const fields =
  (change: Partial<OrderComponents>): Change =>
  (order) => ({ ...order, ...change });
const inTime =
  (change: (startTime: bigint) => Partial<OrderComponents>): Change =>
  (order) => ({ ...order, ...change(order.startTime) });

/** A token without a royalty has no royalty leg. */
const unroyal =
  (change: Change): Change =>
  (order) =>
    change(without(2)(order));

const other: Address = "0x00000000000000000000000000000000000a11ce";
const word: Hex = `0x${"11".repeat(32)}`;
const nftLeg = {
  itemType: 2,
  token: contracts.punks,
  identifierOrCriteria: 5n,
  ...paid(1n),
  recipient: other,
};
const day = 86_400n;

describe("a changed order with a valid signature", () => {
  const rows: [...Row, Change][] = [
    ["listing", "contract order", "unsupported_order_type", fields({ orderType: 4 })],
    ["listing", "restricted order", "unsupported_order_type", fields({ orderType: 2 })],
    ["listing", "a zone", "zone_not_allowed", fields({ zone: other })],
    ["listing", "a zone hash", "zone_not_allowed", fields({ zoneHash: word })],
    ["listing", "no conduit", "wrong_conduit", fields({ conduitKey: `0x${"00".repeat(32)}` })],
    ["listing", "another conduit", "wrong_conduit", fields({ conduitKey: word })],
    ["listing", "nothing offered", "bundle_not_supported", fields({ offer: [] })],
    [
      "listing",
      "two tokens offered",
      "bundle_not_supported",
      (order) => ({ ...order, offer: [...order.offer, ...order.offer] }),
    ],
    ["listing", "native currency offered", "unsupported_item_type", offerItem({ itemType: 0 })],
    ["listing", "currency offered", "unsupported_item_type", offerItem({ itemType: 1 })],
    ["listing", "any token offered", "unsupported_item_type", offerItem({ itemType: 4 })],
    ["listing", "an item of no type", "unsupported_item_type", offerItem({ itemType: 9 })],
    ["listing", "two of an ERC-721", "bad_quantity", offerItem(paid(2n))],
    ["listing", "no unit", "bad_quantity", offerItem(paid(0n))],
    ["edition", "units that change", "bad_quantity", offerItem({ endAmount: 2n })],
    ["edition", "units together only", "not_partially_fillable", fields({ orderType: 0 })],
    [
      "edition",
      "a price without a unit price",
      "amount_not_divisible",
      leg(0, (one) => paid(one.startAmount + 1n)),
    ],
    [
      "listing",
      "a price that falls",
      "dynamic_price_not_supported",
      leg(0, (one) => ({ endAmount: one.endAmount / 2n })),
    ],
    ["listing", "a token in return", "private_order_not_supported", added(nftLeg)],
    [
      "listing",
      "one leg in a currency",
      "unsupported_currency",
      leg(0, () => ({ itemType: 1, token: wrappedNative[chainId] })),
    ],
    [
      "listing",
      "a price in a currency",
      "unsupported_currency",
      every(() => ({ itemType: 1, token: wrappedNative[chainId] })),
    ],
    ["listing", "a price of nothing", "zero_price", every(() => paid(0n))],
    [
      "listing",
      "a price of dust",
      "price_too_low",
      every((one) => paid(one.startAmount / 10n ** 16n)),
    ],
    [
      "listing",
      "a price beyond measure",
      "price_too_high",
      every((one) => paid(one.startAmount * 10n ** 12n)),
    ],
    ["listing", "nobody paid at all", "zero_price", fields({ consideration: [] })],
    ["listing", "another seller", "unexpected_consideration", leg(0, () => ({ recipient: other }))],
    [
      "listing",
      "one more paid",
      "unexpected_consideration",
      added({ recipient: other, ...paid(parseEther("0.1")) }),
    ],
    [
      "listing",
      "nobody paid",
      "unexpected_consideration",
      added({ recipient: zeroAddress, ...paid(1n) }),
    ],
    ["listing", "no service fee", "fee_missing", without(1)],
    [
      "listing",
      "the service fee to another",
      "fee_wrong_recipient",
      leg(1, () => ({ recipient: other })),
    ],
    ["listing", "a wei less of service fee", "fee_wrong_amount", cut(1, 1n)],
    ["listing", "a wei more of service fee", "fee_wrong_amount", cut(1, -1n)],
    ["listing", "no royalty", "royalty_missing", without(2)],
    [
      "listing",
      "the royalty to another",
      "royalty_wrong_recipient",
      leg(2, () => ({ recipient: other })),
    ],
    ["listing", "a wei less of royalty", "royalty_wrong_amount", cut(2, 1n)],
    ["listing", "an end at the start", "end_before_start", inTime((at) => ({ endTime: at }))],
    ["listing", "a start in an hour", "not_started", inTime((at) => ({ startTime: at + 3_600n }))],
    [
      "listing",
      "an end that is over",
      "order_expired",
      inTime((at) => ({ startTime: at - day, endTime: at - 60n })),
    ],
    ["listing", "a minute", "duration_too_short", inTime((at) => ({ endTime: at + 60n }))],
    ["listing", "a year", "duration_too_long", inTime((at) => ({ endTime: at + 365n * day }))],
    ["listing", "a counter ahead", "counter_ahead", fields({ counter: 2n ** 130n })],
    ["listing", "nobody's contract", "unknown_collection", unroyal(offerItem({ token: other }))],
    [
      "listing",
      "the wrapped currency as a token",
      "unknown_collection",
      unroyal(offerItem({ token: wrappedNative[chainId] })),
    ],
    ["listing", "units of an ERC-721", "token_standard_mismatch", offerItem({ itemType: 3 })],
    [
      "listing",
      "an ERC-1155 as one of a kind",
      "token_standard_mismatch",
      offerItem({ token: contracts.editions }),
    ],
    [
      "listing",
      "a token nobody minted",
      "token_not_found",
      offerItem({ identifierOrCriteria: 4_242n }),
    ],
    [
      "listing",
      "a token that was burned",
      "token_burned",
      offerItem({ token: contracts.burnable, identifierOrCriteria: 71n }),
    ],
    ["listing", "somebody else's token", "not_owner", offerItem({ identifierOrCriteria: 7n })],
    [
      "edition",
      "more units than there are",
      "insufficient_quantity",
      (order) => every((one) => paid(one.startAmount * 100n))(offerItem(paid(400n))(order)),
    ],
    ["bid", "a restricted order", "unsupported_order_type", fields({ orderType: 3 })],
    ["bid", "a zone", "zone_not_allowed", fields({ zone: other })],
    ["bid", "a conduit", "wrong_conduit", fields({ conduitKey: commonConduit.key })],
    [
      "bid",
      "two things offered",
      "bundle_not_supported",
      (order) => ({ ...order, offer: [...order.offer, ...order.offer] }),
    ],
    ["bid", "two tokens wanted", "bundle_not_supported", added(nftLeg)],
    [
      "bid",
      "nothing wanted",
      "unsupported_item_type",
      (order) => ({
        ...order,
        consideration: order.consideration.slice(1),
      }),
    ],
    ["bid", "a token offered", "unsupported_item_type", offerItem({ itemType: 2 })],
    [
      "bid",
      "native currency offered",
      "unsupported_item_type",
      offerItem({ itemType: 0, token: zeroAddress }),
    ],
    ["bid", "two of an ERC-721", "bad_quantity", leg(0, () => paid(2n))],
    ["bid", "another currency", "unsupported_currency", offerItem({ token: other })],
    ["bid", "a fee in another currency", "unsupported_currency", leg(1, () => ({ token: other }))],
    [
      "bid",
      "an offer that grows",
      "dynamic_price_not_supported",
      offerItem({ endAmount: parseEther("2") }),
    ],
    [
      "collection bid",
      "some tokens only",
      "bad_criteria",
      leg(0, () => ({ identifierOrCriteria: 77n })),
    ],
    ["collection bid", "all units together", "not_partially_fillable", fields({ orderType: 0 })],
    [
      "bid",
      "the token to another",
      "unexpected_consideration",
      leg(0, () => ({ recipient: other })),
    ],
    [
      "bid",
      "no service fee",
      "fee_missing",
      (order) => ({
        ...order,
        consideration: order.consideration.filter((_, at) => at !== 1),
      }),
    ],
    [
      "bid",
      "a wei less of service fee",
      "fee_wrong_amount",
      leg(1, (one) => paid(one.startAmount - 1n)),
    ],
    [
      "bid",
      "a wei more of royalty",
      "royalty_wrong_amount",
      leg(2, (one) => paid(one.startAmount + 1n)),
    ],
    [
      "bid",
      "no royalty",
      "royalty_missing",
      (order) => ({
        ...order,
        consideration: order.consideration.slice(0, 2),
      }),
    ],
    ["bid", "a minute", "duration_too_short", inTime((at) => ({ endTime: at + 60n }))],
    ["bid", "more than the bidder has", "insufficient_balance", (order) => scale(order, 20n)],
    ["bid", "more than is allowed", "insufficient_allowance", (order) => scale(order, 19n, 2n)],
    ["bid", "the bidder's own token", "self_offer", leg(0, () => ({ identifierOrCriteria: 7n }))],
    [
      "bid",
      "a token nobody minted",
      "token_not_found",
      leg(0, () => ({ identifierOrCriteria: 4_242n })),
    ],
  ];
  it.each(rows)("%s: %s → %s", async (of, _what, code, change) => {
    const changed = change(orders[of].components);
    const order = await resign(chainId, signers[of], changed);
    await refuses(of, { chainId, seaport: wireOrder(order) }, code, 422);
  });
});

/** A bid at another price, with its fees. */
function scale(order: OrderComponents, by: bigint, over = 1n): OrderComponents {
  const scaled = (wei: bigint) => (wei * by) / over;
  return {
    ...order,
    offer: order.offer.map((item) => ({ ...item, ...paid(scaled(item.startAmount)) })),
    consideration: order.consideration.map((one) =>
      one.itemType === 1 ? { ...one, ...paid(scaled(one.startAmount)) } : one,
    ),
  };
}

describe("the signature of an order", () => {
  const rows: [what: string, IntakeCode, (good: Hex) => unknown][] = [
    ["not at all", "missing_signature", () => undefined],
    ["by nothing", "missing_signature", () => "0x"],
    ["by null", "missing_signature", () => null],
    ["by a byte too few", "bad_signature_length", (good) => good.slice(0, -4)],
    ["by a byte too many", "bad_signature_length", (good) => `${good}00`],
    ["in another's name", "bad_signature", (good) => `0x${good.slice(4, 130)}01${good.slice(-2)}`],
    ["with v of 0", "bad_signature", (good) => `${good.slice(0, -2)}00`],
    ["with v of 29", "bad_signature", (good) => `${good.slice(0, -2)}1d`],
    ["with zeros", "bad_signature", () => `0x${"00".repeat(65)}`],
  ];
  it.each(rows)("%s → %s", async (_what, code, change) => {
    const order = { ...wireOrder(orders.listing), signature: change(orders.listing.signature) };
    await refuses("listing", { chainId, seaport: order }, code, 422);
  });

  it("for another chain → bad_signature", async () => {
    const order = await resign(1, accounts.alice, orders.listing.components);
    await refuses("listing", { chainId, seaport: wireOrder(order) }, "bad_signature", 422);
  });

  it("a wrong totalOriginalConsiderationItems → consideration_mismatch", async () => {
    const { parameters, signature } = wireOrder(orders.listing) as { parameters: Fields } & Fields;
    const order = {
      parameters: { ...parameters, totalOriginalConsiderationItems: 2 },
      signature,
    };
    await refuses("listing", { chainId, seaport: order }, "consideration_mismatch", 422);
  });
});

describe("any body", () => {
  const hostile = fc.oneof(
    fc.constantFrom<unknown>(
      null,
      "",
      "0x",
      "\0",
      -1,
      1e300,
      [],
      {},
      [[]],
      { toString: 1, valueOf: 1 },
      { __proto__: null },
      maxUint256.toString(),
    ),
    fc.jsonValue({ maxDepth: 2 }),
  );

  it("never causes a 500", async () => {
    const of = fc.constantFrom(...base);
    const change = fc.tuple(fc.nat(), hostile);
    await fc.assert(
      fc.asyncProperty(
        of,
        fc.array(change, { minLength: 1, maxLength: 3 }),
        async (of, changes) => {
          const body: unknown = changes.reduce(
            (given, [place, value]) => replaceAt(given, place, value),
            {
              ...bodyOf(of),
              protocolAddress: seaportAddresses["1.6"],
              domain: { version: "1.6" },
            } as unknown,
          );
          const { status } = await stand.api.post(pathOf(of), body);
          expect(status).toBeOneOf([201, 409, 422]);
          const bulk = of === "listing" || of === "edition" ? "listings" : "bids";
          const many = await stand.api.post(`${pathOf(of)}/bulk`, { chainId, [bulk]: [body] });
          expect(many.status).toBeOneOf([200, 201]);
        },
      ),
      { numRuns: 200 },
    );
  });
});

/** Replaces one nested value of a JSON value, by its index in depth-first order. */
function replaceAt(given: unknown, place: number, value: unknown): unknown {
  if (typeof given !== "object" || given === null || place % 7 === 0) return value;
  const keys = Object.keys(given);
  const key = keys[place % Math.max(1, keys.length)];
  if (key === undefined) return value;
  const copy = structuredClone(given) as Record<string, unknown>;
  copy[key] = replaceAt(copy[key], Math.floor(place / 7), value);
  return copy;
}

it("the unchanged orders are accepted", async () => {
  for (const of of base) {
    const { status, data } = await stand.post(pathOf(of), bodyOf(of));
    expect([of, status, data?.status]).toEqual([of, 201, "active"]);
  }
});
