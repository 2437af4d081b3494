import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { snake } from "#api/account/objects.ts";
import { eventsWhere } from "#projections/activity/read-event-scans.ts";
import { block } from "#test/support/database/given.ts";
import { type NftDataFixture, openNftDataFixture } from "#test/support/http/nft-data-fixture.ts";
import { soldOnX2y2 } from "#test/support/market-data/exchange-sales.ts";
import { dead, holders, nfts } from "#test/support/market-data/token-market.ts";
import { counterRaised, transferred } from "#test/support/orders/order-facts.ts";
import { seedsOf } from "#test/support/thoroughness.ts";

let stage: NftDataFixture;
beforeAll(async () => {
  stage = await openNftDataFixture();
});
afterAll(() => stage?.close());

/** Something that happened, as the books tell it. */
type Known = {
  type: string;
  contract: string | null;
  from: string | null;
  to: string | null;
  token: string | null;
  /** Last id of a range. */
  last: string | null;
  price: string | null;
  hash: string | null;
  at: Date;
  /** Places in the source's own order; an event stands before an order of its moment. */
  source: number;
  place: bigint[];
};

async function readKnown(): Promise<Known[]> {
  const { rows: events } = await sql<
    Omit<Known, "source" | "place"> & Record<"b" | "l" | "s", bigint>
  >`
    select e.type, k.address as contract, e.from_address as "from", e.to_address as "to", e.token_id::text as token,
           e.last_id::text as last,
           e.price_wei::text as price, e.order_hash as hash, b.timestamp as at, e.block_id as b,
           e.log_index::bigint as l, e.sub_index::bigint as s
    from (${eventsWhere(sql`true`)}) e join log.block b using (block_id) left join log.contract k using (contract_id)`.execute(
    stage.db,
  );
  const { rows: orders } = await sql<Omit<Known, "source" | "place"> & { position: bigint }>`
    select o.type, k.address as contract, o.maker as "from", null as "to", o.token_id::text as token, null as last,
           o.unit_price_wei::text as price, o.order_hash as hash, o.created_at as at, o.position
    from (
      select 'listing' as type, contract_id, maker, token_id, unit_price_wei, order_hash, created_at, position
      from listings.listing where marketplace = 'native'
      union all
      select 'offer', contract_id, maker, token_id, unit_price_wei, order_hash, created_at, position from bids.bid
    ) o join log.contract k using (contract_id)`.execute(stage.db);
  return [
    ...events.map(({ b, l, s, ...event }) => ({ ...event, source: 0, place: [b, l, s] })),
    ...orders.map(({ position, ...order }) => ({ ...order, source: 1, place: [position] })),
  ].sort(newestFirst);
}

function newestFirst(a: Known, b: Known): number {
  if (a.at.getTime() !== b.at.getTime()) return b.at.getTime() - a.at.getTime();
  if (a.source !== b.source) return a.source - b.source;
  for (const [index, one] of a.place.entries()) {
    const other = b.place[index] ?? 0n;
    if (one !== other) return one > other ? -1 : 1;
  }
  return 0;
}

const Item = z.looseObject({
  id: z.string(),
  type: z.string(),
  contract: z.string().nullable(),
  from: z.string().nullable(),
  to: z.string().nullable(),
  token_id: z.string().nullable(),
  price_wei: z.string().nullable(),
  order_hash: z.string().nullable(),
  timestamp: z.string(),
});

const [alice = dead, bob = dead] = holders;

/** A sale on another exchange. */
const elsewhere = {
  ...{ contract: nfts.punks.address, tokenId: 55n, priceWei: 123_456_789_012_345_678n },
  ...{ seller: alice, buyer: bob },
};

/** What the market has not, or rarely. */
function aftermath() {
  const place = (log: number) => ({ at: block(1, 900), log });
  const moved = { contract: nfts.kin.address, from: alice, tokenId: 77n };
  return [
    transferred({ ...moved, to: dead }, place(1)),
    transferred({ ...moved, to: alice }, place(2)),
    transferred({ ...moved, contract: nfts.punks.address, to: bob }, place(3)),
    transferred({ ...moved, contract: nfts.editions.address, to: bob, units: 3n }, place(4)),
    counterRaised(bob, 1n, place(5)),
    soldOnX2y2(elsewhere, place(6)),
  ];
}

const told = (row: unknown) => {
  const { type, from, to, price_wei, order_hash, timestamp, ...item } = Item.parse(row);
  return [type, from, to, price_wei, order_hash, timestamp, item.contract, item.token_id].join(" ");
};
const known = ({ type, from, to, price, hash, at, contract, token }: Known) => {
  return [type, from, to, price, hash, at.toISOString(), contract, token].join(" ");
};

const kin: (string | null)[] = [nfts.kin.address, nfts.kinSecond.address];
const has = (wallet: string) => (one: Known) => one.from === wallet || one.to === wallet;
const isOf = (types: string) => (one: Known) => types.split(",").includes(one.type);

const isOfToken = ({ token, last }: Known, id: bigint) =>
  token !== null && BigInt(token) <= id && id <= BigInt(last ?? token);

const Page = z.object({
  data: z.array(z.looseObject({})),
  meta: z.looseObject({ next_cursor: z.string().nullable() }),
});

/** Every row of a list of /v1. */
async function walkV1(path: string, perPage: number) {
  const first = `${path}${path.includes("?") ? "&" : "?"}per_page=${perPage}`;
  const rows: Record<string, unknown>[] = [];
  for (let next = Page.parse(await stage.v1(first)); ; ) {
    expect(next.data.length).toBeLessThanOrEqual(perPage);
    rows.push(...next.data);
    if (next.meta.next_cursor === null) return rows;
    next = Page.parse(await stage.v1(`${first}&cursor=${next.meta.next_cursor}`));
  }
}

const lists: [string, (one: Known) => boolean][] = [
  ["/api/activity", () => true],
  ["/api/activity?type=sale", isOf("sale")],
  ["/api/activity?type=listing,offer", isOf("listing,offer")],
  ["/api/activity?type=mint,offer", isOf("mint,offer")],
  ["/api/activity?type=burn", isOf("burn")],
  ["/api/activity?type=cancel", isOf("cancel")],
  [
    `/api/activity?collection=${nfts.kinSecond.address}`,
    ({ contract }) => contract === nfts.kinSecond.address,
  ],
  [
    `/api/activity?collection=${nfts.editions.address.toUpperCase().replace("0X", "0x")}&type=transfer,listing`,
    (one) => one.contract === nfts.editions.address && isOf("transfer,listing")(one),
  ],
  [`/api/wallets/${alice}/activity`, has(alice)],
  [
    `/api/activity?wallet=${bob}&type=transfer,sale`,
    (one) => has(bob)(one) && isOf("transfer,sale")(one),
  ],
  [
    `/api/wallets/${bob}/activity?collection=${nfts.kin.address}`,
    (one) => has(bob)(one) && one.contract === nfts.kin.address,
  ],
];

describe.each(seedsOf([21, 22]))("the activity of market %i", (seed) => {
  let all: Known[] = [];
  beforeAll(async () => {
    await stage.playMarket(seed, 40);
    await stage.happens(...aftermath());
    all = await readKnown();
  });

  it.each(lists)("%s is what the books tell, on one page or on many", async (path, keeps) => {
    const expected = all.filter(keeps);

    const page = await stage.walk(path, 100);
    expect(page.map(told)).toEqual(expected.map(known));
    expect(await stage.walk(path, 7)).toEqual(page);
    expect(new Set(page.map(({ id }) => id)).size).toBe(page.length);
    expect(expected.length).toBeGreaterThan(0);
  });

  it("of one token is what happened to it, in ranges too, on one page or on many", async () => {
    let ranges = 0;
    for (const { address } of [nfts.punks, nfts.kin, nfts.kinSecond, nfts.editions]) {
      for (let id = 1n; id < 14n; id += 1n) {
        const own = all.filter((one) => one.contract === address && isOfToken(one, id));
        ranges += own.filter(({ last }) => last !== null).length;
        const path = `/collections/${address}/tokens/${id}/activity`;
        const page = await walkV1(path, 100);
        const asked = own.map((one) => known({ ...one, token: String(id) }));
        expect(snake(page)).toMatchObject(asked.map(() => ({ token_id: String(id) })));
        expect(
          page.map((row) => told(snake(row))),
          path,
        ).toEqual(asked);
        expect(await walkV1(path, 3)).toEqual(page);
      }
    }
    expect(ranges).toBeGreaterThan(0);
    const sales = await walkV1(`/collections/kin/tokens/1/activity?type=sale`, 100);
    const ofKin = all.filter((one) => kin.includes(one.contract) && one.type === "sale");
    expect(sales.map((row) => told(snake(row)))).toEqual(
      ofKin.filter(({ token }) => token === "1").map(known),
    );
  });

  it("has a sale on another exchange, with its price and both sides", async () => {
    const page = await stage.walk(`/api/activity?type=sale&wallet=${bob}`, 100);
    const sold = page.filter((row) => Item.parse(row).price_wei === `${elsewhere.priceWei}`);
    const { contract, seller: from, buyer: to } = elsewhere;
    expect(sold).toMatchObject([{ contract, token_id: "55", type: "sale", from, to }]);
  });

  it("ends at the requested time, inclusive", async () => {
    for (const one of [all[0], all[Math.floor(all.length / 2)], all.at(-1)]) {
      if (one === undefined) throw new Error("nothing has happened");
      const since = one.at.toISOString();
      const expected = all.filter(({ at }) => at >= one.at);

      const page = await stage.walk(`/api/activity?since=${since}`, 9);
      expect(page.map(told)).toEqual(expected.map(known));
    }
  });

  it("loses and repeats nothing while more happens", async () => {
    const before = all.map(known);
    const path = `/api/activity?collection=${nfts.kin.address}`;
    const expected = all.filter(({ contract }) => contract === nfts.kin.address).map(known);
    const walked = await stage.walk(path, 5, async () => {
      await sql`
        insert into activity.cancel (block_id, log_index, sub_index, transaction_index, contract_id, token_id, maker)
        select e.block_id, (select max(log_index) + 1 from (${eventsWhere(sql`true`)}) every), 0, e.transaction_index, e.contract_id,
               1, e.to_address
        from (${eventsWhere(sql`true`)}) e where contract_id = 2 order by block_id desc limit 1`.execute(
        stage.db,
      );
    });
    expect(before.length).toBeGreaterThan(expected.length);
    expect(walked.map(told)).toEqual(expected);
  });
});
