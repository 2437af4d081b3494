import { sql } from "kysely";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { wrappedNative } from "#chains/index.ts";
import type { PartnerName } from "#projections/domain/partners.ts";
import { block, type ChainEvent } from "#test/support/database/given.ts";
import {
  alice,
  approves,
  at,
  bob,
  gets,
  listing,
  nft,
  openListingsLog,
} from "#test/support/orders/listings-log.ts";
import {
  cancelled,
  channelUpdated,
  counterRaised,
  filled,
  type GivenOrder,
  read,
  receivedAt,
  ticked,
  transferred,
} from "#test/support/orders/order-facts.ts";
import {
  givenPartnerOrder,
  partnerListingOf,
  partnerSignature,
  seen,
  withdrawn,
  zeroConduit,
} from "#test/support/orders/partner-orders.ts";

const book = await openListingsLog();
const { db, happens, retract, state } = book;
const hour = 3_600n;

afterAll(() => book.drop());
beforeEach(() => book.clear());

type Terms = Partial<Parameters<typeof givenPartnerOrder>[0]>;

const elsewhere = (terms: Terms = {}) =>
  givenPartnerOrder({ maker: alice, contract: nft, tokenId: 1n, ...terms });
const held = () => [transferred(gets(alice), at(1)), approves()];

/** A listing of a partner that can be filled. */
async function activeElsewhere(terms: Terms = {}, partner: PartnerName = "opensea") {
  const order = elsewhere(terms);
  await happens(...held(), seen(partnerListingOf(partner, order)));
  return order;
}

type Row = {
  marketplace: string;
  currency: string | null;
  isBuyable: boolean;
  createdAt: Date;
  updatedAt: Date;
};

async function rowsOf({ orderHash }: GivenOrder): Promise<Row[]> {
  const { rows } = await sql<Row>`
    select marketplace, '0x' || encode(currency, 'hex') as currency, is_buyable as "isBuyable",
           created_at as "createdAt", updated_at as "updatedAt"
    from listings.listing where order_hash = decode(${orderHash.slice(2)}, 'hex')`.execute(db);
  return rows;
}

async function counts(): Promise<Record<string, bigint>> {
  const { rows } = await sql<{ name: string; rows: bigint }>`
    select marketplace || ' ' || status as name, rows from listings.count order by 1`.execute(db);
  return Object.fromEntries(rows.map(({ name, rows }) => [name, rows]));
}

const moment = (unixSeconds: bigint) => new Date(Number(unixSeconds) * 1000);

describe("a listing that a partner shows", () => {
  it("follows its owner, the conduit, the channel and the clock as the house's own do", async () => {
    const order = await activeElsewhere();
    const states = [await state(order)];
    for (const fact of [
      transferred(gets(bob, alice), at(2)),
      transferred(gets(alice, bob), at(3)),
      approves(false, 4),
      approves(true, 5),
      channelUpdated(false, at(6)),
      channelUpdated(true, at(7)),
      ticked(receivedAt + 24n * hour),
    ]) {
      await happens(fact);
      states.push(await state(order));
    }

    expect(states).toEqual([
      "active",
      "inactive not_owner",
      "active",
      "inactive not_approved",
      "active",
      "inactive conduit_channel_closed",
      "active",
      "expired",
    ]);
  });

  it.each([
    ["filled", (order: GivenOrder): ChainEvent => filled(order, 1n, at(2))],
    ["cancelled", (order: GivenOrder): ChainEvent => cancelled(order, at(2))],
    ["cancelled", (): ChainEvent => counterRaised(alice, 1n, at(2))],
  ] as const)(
    "is %s by the chain, whatever the partner says, until that block is dropped",
    async (status, ends) => {
      const order = await activeElsewhere({}, "magiceden");
      await happens(ends(order));
      const ended = await state(order);
      await happens(withdrawn(partnerListingOf("magiceden", order)));
      const hidden = await state(order);
      await retract(block(1, 2));

      expect([ended, hidden]).toEqual([status, status]);
      expect(await state(order)).toBe("inactive partner_invalidated");
    },
  );

  it("is hidden from when the partner withdraws it until it shows it again", async () => {
    const order = await activeElsewhere();
    const shown = partnerListingOf("opensea", order);
    const states: unknown[] = [];
    for (const fact of [
      withdrawn(shown, { at: receivedAt + 60n }),
      seen(shown),
      seen(shown, { generation: 1, at: receivedAt + 120n }),
      withdrawn(shown, { generation: 1, at: receivedAt + 180n }),
    ]) {
      await happens(fact);
      const [row] = await rowsOf(order);
      states.push([await state(order), row?.updatedAt, row?.createdAt]);
    }

    const created = moment(receivedAt);
    expect(states).toEqual([
      ["inactive partner_invalidated", moment(receivedAt + 60n), created],
      ["inactive partner_invalidated", moment(receivedAt + 60n), created],
      ["active", moment(receivedAt + 120n), created],
      ["inactive partner_invalidated", moment(receivedAt + 180n), created],
    ]);
    expect(await counts()).toEqual({ "opensea inactive": 1n });
  });

  it("is hidden for what the chain says before what its partner says", async () => {
    const order = await activeElsewhere();
    await happens(
      withdrawn(partnerListingOf("opensea", order)),
      transferred(gets(bob, alice), at(2)),
    );

    expect(await state(order)).toBe("inactive not_owner");
  });

  it("is nothing while it was only ever withdrawn", async () => {
    const order = elsewhere();
    await happens(...held(), withdrawn(partnerListingOf("opensea", order)));

    expect(await state(order)).toBeUndefined();
  });

  it("through a conduit that the log does not follow is hindered by no approval or channel", async () => {
    const order = elsewhere({ conduitKey: zeroConduit });
    const token = { contract: nft, tokenId: 1n, owner: alice };
    await happens(
      transferred(gets(alice), at(1)),
      channelUpdated(false, at(1)),
      read({ kind: "transfer_read", ...token, allowed: false }, block(1, 1)),
      seen(partnerListingOf("magiceden", order)),
    );
    const unapproved = await state(order);
    await happens(transferred(gets(bob, alice), at(2)));

    expect([unapproved, await state(order)]).toEqual(["active", "inactive not_owner"]);
  });

  it("hides none of the house's own and is hidden by none", async () => {
    const own = await book.activeListing({ unitPriceWei: 5_000n });
    const cheap = elsewhere({ unitPriceWei: 1_000n });
    const dear = elsewhere({ unitPriceWei: 9_000n });
    await happens(
      seen(partnerListingOf("opensea", cheap)),
      seen(partnerListingOf("magiceden", dear)),
    );

    expect(await Promise.all([own, cheap, dear].map(state))).toEqual([
      "active",
      "active",
      "active",
    ]);
    expect(await counts()).toEqual({
      "native active": 1n,
      "opensea active": 1n,
      "magiceden active": 1n,
    });
  });
});

describe("an order that several marketplaces tell of", () => {
  const facts = {
    native: (order: GivenOrder) => order.submitted,
    opensea: (order: GivenOrder) => seen(partnerListingOf("opensea", order)),
    magiceden: (order: GivenOrder) => seen(partnerListingOf("magiceden", order)),
  };
  type Source = keyof typeof facts;

  it.each<[string, Source[]]>([
    ["native", ["native", "opensea", "magiceden"]],
    ["native", ["magiceden", "opensea", "native"]],
    ["native", ["opensea", "native"]],
    ["opensea", ["magiceden", "opensea"]],
    ["opensea", ["opensea", "magiceden"]],
  ])("is one listing, of %s, when they tell of it in this order: %s", async (best, sources) => {
    const order = listing();
    await happens(...held());
    for (const source of sources) await happens(facts[source](order));

    expect((await rowsOf(order)).map(({ marketplace }) => marketplace)).toEqual([best]);
    expect(await counts()).toEqual({ [`${best} active`]: 1n });
  });

  it("is not hidden when a lesser one withdraws it", async () => {
    const order = await book.activeListing();
    const before = await rowsOf(order);
    const [opensea, magiceden] = [
      partnerListingOf("opensea", order),
      partnerListingOf("magiceden", order),
    ];
    await happens(seen(opensea), withdrawn(magiceden), withdrawn(opensea));

    expect(await state(order)).toBe("active");
    expect(await rowsOf(order)).toEqual(before);
  });

  it("superseded its maker's dearer listing from when it is the house's own", async () => {
    const dear = await book.activeListing({ unitPriceWei: 9_000n });
    const cheap = listing({ unitPriceWei: 1_000n });
    await happens(seen(partnerListingOf("opensea", cheap)));
    const before = await state(dear);
    await happens(cheap.submitted);

    expect([before, await state(dear)]).toEqual(["active", "inactive superseded"]);
  });
});

describe("a listing of several units that is filled as a whole or not at all", () => {
  const receives = (units: bigint) => ({ ...gets(alice), units });
  const whole = ["inactive not_owner 0", "active 4", "active 4", "inactive not_owner 0"];
  const inParts = ["active 3", "active 4", "active 4", "active 2"];

  it.each<[string, number, string[]]>([
    ["FULL_OPEN", 0, whole],
    ["FULL_RESTRICTED", 2, whole],
    ["PARTIAL_OPEN", 1, inParts],
    ["PARTIAL_RESTRICTED", 3, inParts],
  ])("%s is active while its maker holds enough of them", async (_, orderType, expected) => {
    const order = elsewhere({ quantity: 4n, standard: "erc1155", orderType });
    await happens(transferred(receives(3n), at(1)), approves());
    await happens(seen(partnerListingOf("magiceden", order)));
    const stateAndUnits = async () => `${await state(order)} ${(await book.amounts(order))[1]}`;
    const states = [await stateAndUnits()];
    for (const fact of [
      transferred(receives(1n), at(2)),
      transferred(receives(5n), at(3)),
      transferred({ ...gets(bob, alice), units: 7n }, at(4)),
    ]) {
      await happens(fact);
      states.push(await stateAndUnits());
    }

    expect(states).toEqual(expected);
  });
});

describe("data to buy it can be made", () => {
  const weth = wrappedNative[1];
  it.each<[boolean, PartnerName, Terms, typeof partnerSignature | null]>([
    [true, "opensea", {}, null],
    [true, "opensea", { orderType: 2, conduitKey: zeroConduit }, null],
    [false, "opensea", { isWrapped: true }, null],
    [true, "magiceden", {}, partnerSignature],
    [true, "magiceden", { isWrapped: true }, partnerSignature],
    [true, "magiceden", { quantity: 4n, standard: "erc1155", orderType: 1 }, partnerSignature],
    [false, "magiceden", {}, null],
    [false, "magiceden", { conduitKey: zeroConduit }, partnerSignature],
    [false, "magiceden", { orderType: 2 }, partnerSignature],
  ])("%s for a listing of %s like %o", async (isBuyable, partner, terms, signature) => {
    const order = elsewhere(terms);
    await happens(seen(partnerListingOf(partner, order, signature)));

    const currency = terms.isWrapped ? weth : null;
    expect(await rowsOf(order)).toMatchObject([{ isBuyable, currency, marketplace: partner }]);
  });

  it("from the first sighting on that has the signature", async () => {
    const order = elsewhere();
    await happens(seen(partnerListingOf("magiceden", order, null)));
    const before = await rowsOf(order);
    await happens(seen(partnerListingOf("magiceden", order), { generation: 1 }));

    expect([...before, ...(await rowsOf(order))].map(({ isBuyable }) => isBuyable)).toEqual([
      false,
      true,
    ]);
  });
});
