import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { addressOf, block } from "#test/support/database/given.ts";
import { type NftDataFixture, openNftDataFixture } from "#test/support/http/nft-data-fixture.ts";
import { type ApiClient, documentedAt } from "#test/support/http/openapi.ts";
import { asFileRows, readParquetPages } from "#test/support/http/parquet-pages.ts";
import {
  approval,
  cancelled,
  filled,
  givenBid,
  givenListing,
  receivedAt,
  ticked,
  transferred,
} from "#test/support/orders/order-facts.ts";
import { partnerListingOf, seen } from "#test/support/orders/partner-orders.ts";

const nft = addressOf(70);
const [alice, bob] = [addressOf(1), addressOf(2)];
const day = 86_400n;
const at = (number: number, log = 0, branch = "main") => ({ at: block(1, number, branch), log });
const listing = (tokenId: bigint, terms: { receivedAt?: bigint; endTime?: bigint } = {}) =>
  givenListing({ maker: alice, contract: nft, tokenId, salt: tokenId, ...terms });

const sold = listing(1n);
const moved = listing(2n);
const late = listing(3n, { receivedAt: receivedAt + 12n * 14n });
const short = listing(4n, { endTime: receivedAt + 12n * 13n });
const unbacked = givenBid({ maker: bob, contract: nft, tokenId: 1n });
const returned = block(1, 13, "taken");

let stage: NftDataFixture;
let api: ApiClient;
beforeAll(async () => {
  stage = await openNftDataFixture();
  api = await documentedAt(stage.api.url, { base: "", path: "/v1/openapi.json" });
  const minted = [1n, 2n, 3n, 4n].map((tokenId, index) =>
    transferred({ contract: nft, to: alice, tokenId }, at(10, index)),
  );
  await stage.happens(...minted, approval(nft, alice, true, at(10, 9)));
  for (const { submitted } of [sold, moved, short, unbacked, late]) await stage.happens(submitted);
  await stage.happens(
    transferred({ contract: nft, from: alice, to: bob, tokenId: 2n }, at(12)),
    cancelled(sold, { at: returned, log: 0 }),
  );
  await stage.retract(returned);
  await stage.happens(
    transferred({ contract: nft, from: bob, to: alice, tokenId: 2n }, at(14)),
    filled(sold, 1n, at(15)),
    cancelled(moved, at(16)),
  );
  stage.at(receivedAt + 12n * 16n);
});
afterAll(() => stage?.close());

const Told = z.object({
  data: z.array(z.looseObject({ tokenId: z.string().nullable(), status: z.string() })),
  meta: z.looseObject({ total: z.int(), next_cursor: z.string().nullable() }),
});

async function told(point: number | string, list = "listings", more = "") {
  const subject = more.includes("maker=") ? "" : `&collection=${nft}`;
  const path = `/v1/${list}?chainId=1${subject}&at=${encodeURIComponent(point)}${more}`;
  const { status, body } = await api.get(path);
  expect([path, status, status === 200 ? "" : body]).toEqual([path, 200, ""]);
  return Told.parse(body);
}

const states = async (point: number | string, more: string) => {
  const { data } = await told(
    point,
    "listings",
    `&sort=created_at&status=all&marketplace=native${more}`,
  );
  return Object.fromEntries(
    data.map(({ tokenId, status, invalidReason }) => [tokenId, invalidReason ?? status]),
  );
};
const ofAlice = `&maker=${alice}`;
const timeOf = (number: number, more = 0) =>
  new Date((block(1, number).timestamp + more) * 1_000).toISOString();

describe("listings at a block", () => {
  it("are in the status that they had then", async () => {
    expect(await states(10, ofAlice)).toEqual({ 1: "active", 2: "active", 4: "active" });
    expect(await states(12, ofAlice)).toEqual({ 1: "active", 2: "not_owner", 4: "active" });
    const all = { 1: "active", 2: "active", 3: "active", 4: "expired" };
    expect(await states(14, ofAlice)).toEqual(all);
    expect(await states(15, ofAlice)).toEqual({ ...all, 1: "filled" });
    expect(await states(16, ofAlice)).toEqual({ ...all, 1: "filled", 2: "cancelled" });
  });

  it("are of a collection, a token or a maker", async () => {
    const ids = async (more: string) =>
      (await told(12, "listings", more)).data.map(({ tokenId }) => tokenId).toSorted();
    expect(await ids("")).toEqual(["1", "4"]);
    expect(await ids("&token_id=4")).toEqual(["4"]);
    expect(await ids("&status=inactive")).toEqual(["2"]);
    expect(await ids(`&maker=${bob}`)).toEqual([]);
    const { data, meta } = await told(15, "listings", "&token_id=1&status=filled");
    expect(data).toMatchObject([{ tokenId: "1", quantityFilled: 1 }]);
    expect(meta).toMatchObject({ total: 1, at: { block: 15, clock: timeOf(15) } });
  });

  it("cannot be bought by the answer", async () => {
    const { data } = await told(14, "listings");
    expect(data.length).toBe(3);
    for (const one of data) expect(one).toMatchObject({ buyableViaApi: false });
  });

  it("start, end and were received by the time that is named, else by that of the block", async () => {
    // Nothing happened in block 13: the log knows no time of it.
    expect(await states(13, ofAlice)).toMatchObject({ 4: "active" });
    expect(await states(timeOf(13), ofAlice)).toMatchObject({ 4: "expired" });
    expect(await states(timeOf(13, -1), ofAlice)).toMatchObject({ 4: "active" });
    const { meta } = await told(timeOf(13), "listings");
    expect(meta).toMatchObject({ at: { block: 12, clock: timeOf(13) } });
    expect(Object.keys(await states(timeOf(14, -1), ofAlice))).not.toContain("3");
  });

  it("are paged at their moment", async () => {
    const first = await told(14, "listings", "&per_page=2");
    expect(first.data.length).toBe(2);
    const cursor = `&per_page=2&cursor=${first.meta.next_cursor}`;
    const second = await told(14, "listings", cursor);
    expect([...first.data, ...second.data].map(({ tokenId }) => tokenId).toSorted()).toEqual([
      "1",
      "2",
      "3",
    ]);
    const path = `/v1/listings?chainId=1&collection=${nft}&at=15${cursor}`;
    expect((await api.get(path)).body).toMatchObject({ code: "invalid_cursor" });
  });
});

const Answer = z.object({ data: z.unknown(), meta: z.looseObject({}) });

async function about(path: string) {
  const { status, body } = await api.get(path);
  expect([path, status, status === 200 ? "" : body]).toEqual([path, 200, ""]);
  return Answer.parse(body);
}

describe("a collection, its traits and a token at a block", () => {
  const collection = `/v1/collections/${nft}`;

  it("have the figures that they had then, and say of when they are", async () => {
    const { data, meta } = await about(`${collection}?chainId=1&at=14`);
    expect(data).toMatchObject({
      stats: {
        ...{ listed: 3, supply: 4, holders: 1, sales: { all: 0 }, floorBuyable: null },
        floor: { tokenId: "1", buyableViaApi: false },
      },
    });
    expect(meta).toMatchObject({ at: { block: 14, clock: timeOf(14) } });
    const { data: later } = await about(`${collection}?chainId=1&at=15`);
    expect(later).toMatchObject({ stats: { listed: 2, holders: 1, sales: { "24h": 1, all: 1 } } });
  });

  it("have the owner, the listing and the last sale of then", async () => {
    const token = async (at: number) =>
      (await about(`${collection}/tokens/1?chainId=1&at=${at}`)).data;
    expect(await token(14)).toMatchObject({
      ...{ owner: alice, lastSale: null, bestOffer: null, rarity: null },
      listing: { buyableViaApi: false },
    });
    expect(await token(15)).toMatchObject({ listing: null, lastSale: { seller: alice } });
    const { status, body } = await api.get(`${collection}/tokens/9?chainId=1&at=14`);
    expect([status, body]).toMatchObject([404, { code: "not_found" }]);
    const { data, meta } = await about(`${collection}/traits?chainId=1&at=14`);
    expect([data, meta]).toMatchObject([{ traitTypes: [] }, { at: { block: 14 } }]);
  });

  it("differ between two blocks by what was listed and what ceased to be, also as CSV and Parquet", async () => {
    const span = "chainId=1&from=12&to=15&listings=true";
    const rows = async (path: string) =>
      z
        .array(
          z.object({
            tokenId: z.string(),
            listed: z.array(z.string()).nullable(),
            delisted: z.array(z.string()).nullable(),
          }),
        )
        .parse((await about(path)).data);
    const found = await rows(`${collection}/diff?${span}`);
    expect(
      found.map(({ tokenId, listed, delisted }) => [tokenId, listed?.length, delisted?.length]),
    ).toEqual([
      ["1", 0, 1],
      ["2", 1, 0],
      ["3", 1, 0],
      ["4", 0, 1],
    ]);
    const own = await rows(`/v1/wallets/${alice}/diff?${span}`);
    expect(own.map(({ tokenId, listed }) => [tokenId, listed?.length])).toEqual([
      ["1", 0],
      ["2", 1],
      ["3", 1],
      ["4", 0],
    ]);
    const [first] = await rows(`${collection}/diff?chainId=1&from=12&to=15`);
    expect(first).toMatchObject({ listed: null, delisted: null });
    const csv = await fetch(`${stage.api.url}${collection}/diff?${span}&format=csv&per_page=1`);
    expect(csv.headers.get("content-type")).toContain("text/csv");
    expect(csv.headers.get("link")).toContain("cursor=");
    const [names, row] = (await csv.text()).split("\r\n");
    expect(names?.split(",").slice(0, 3)).toEqual(["contract", "tokenId", "standard"]);
    expect(row).toContain(`${nft},1,erc721`);
    for (const path of [`${collection}/diff?${span}`, `/v1/wallets/${alice}/diff?${span}`]) {
      const json = z.array(z.record(z.string(), z.unknown())).parse((await about(path)).data);
      const read = await readParquetPages(`${stage.api.url}${path}&format=parquet&per_page=1`);
      expect([path, read]).toEqual([path, asFileRows(json)]);
    }
  });
});

describe("bids at a block", () => {
  it("are in the status that they had then", async () => {
    const { data, meta } = await told(12, "bids", "&status=inactive&token_id=1");
    expect(data).toMatchObject([{ tokenId: "1", inactiveReason: "insufficient_balance" }]);
    expect(meta).toMatchObject({ total: 1, at: { block: 12 } });
    expect((await told(12, "bids")).data).toEqual([]);
  });
});

describe("orders of a moment that are not told", () => {
  it("are those of a whole chain", async () => {
    for (const list of ["listings?", "bids?", "listings?token_id=1&"]) {
      const { status, body } = await api.get(`/v1/${list}chainId=1&at=12`);
      expect([list, status, body]).toMatchObject([
        list,
        422,
        { code: "invalid_parameters", details: [{ field: "at" }] },
      ]);
    }
  });

  it("are those of partners that may have been forgotten", async () => {
    const order = givenListing({ maker: alice, contract: nft, tokenId: 2n, salt: 9n });
    await stage.happens(
      seen(partnerListingOf("opensea", order, null), { generation: 0, at: receivedAt + 12n * 14n }),
    );
    const ask = (more: string) =>
      api.get(`/v1/listings?chainId=1&collection=${nft}&at=14&sort=created_at${more}`);
    const markets = async (more = "") =>
      z
        .object({ data: z.array(z.object({ marketplace: z.string() })) })
        .parse((await ask(more)).body)
        .data.map(({ marketplace }) => marketplace);
    expect(await markets()).toEqual(expect.arrayContaining(["native", "opensea"]));
    expect(await markets("&marketplace=opensea")).toEqual(["opensea"]);
    expect((await ask(`&status=all&maker=${alice}`)).body).toMatchObject({
      code: "point_not_covered",
    });
    stage.at(receivedAt + 40n * day);
    expect((await ask("")).body).toMatchObject({ code: "point_not_covered" });
    expect(new Set(await markets("&marketplace=native"))).toEqual(new Set(["native"]));
  });

  it("are left out of what is more than listings, which says from when on they are known", async () => {
    const Reach = z.looseObject({ partnersFrom: z.iso.datetime().optional() });
    const Meta = z.looseObject({ at: Reach.optional(), from: Reach.optional() });
    const Depth = z.looseObject({ listings: z.object({ levels: z.array(z.unknown()) }) });
    /** What is answered, and how many days before now partners' listings are known. */
    const ask = async (path: string, now: bigint) => {
      stage.at(now);
      const { data, meta } = await about(`/v1/collections/${nft}${path}chainId=1`);
      const { at, from } = Meta.parse(meta);
      const known = (at ?? from)?.partnersFrom;
      const before = known && (Number(now) * 1_000 - Date.parse(known)) / 86_400_000;
      return { data, days: before && Math.round(before) };
    };
    const [soon, late] = [receivedAt + 12n * 20n, receivedAt + 40n * day];
    for (const path of ["?at=14&", "/traits?at=14&", "/tokens/2?at=14&", "/depth?at=14&"]) {
      expect([path, (await ask(path, soon)).days]).toEqual([path, undefined]);
      expect([path, (await ask(path, late)).days]).toEqual([path, 30]);
    }
    const levels = async (now: bigint) =>
      Depth.parse((await ask("/depth?at=14&", now)).data).listings.levels;
    expect(JSON.stringify(await levels(soon))).toContain("opensea");
    expect(JSON.stringify(await levels(late))).not.toContain("opensea");
    expect((await ask("?at=14&", late)).data).toMatchObject({
      stats: { supply: 4, holders: 1, floor: { tokenId: "1" } },
    });
    const changes = "/diff?from=12&to=15&listings=true&";
    const [first, second] = [await ask(changes, soon), await ask(changes, late)];
    expect([first.days, second.days]).toEqual([undefined, 30]);
    const listed = ({ data }: { data: unknown }) =>
      z
        .array(z.object({ listed: z.array(z.string()) }))
        .parse(data)
        .flatMap((row) => row.listed).length;
    expect(listed(first) - listed(second)).toBe(1);
  });
});

describe("our own listings that have left today's rows", () => {
  it("are answered of moments at which they stood", async () => {
    const now = receivedAt + 40n * day;
    stage.at(now);
    await stage.happens(ticked(now));
    const today = await api.get(`/v1/listings?chainId=1&maker=${alice}&status=expired`);
    expect(today.body).toMatchObject({ data: [], meta: { total: 0 } });
    const then = { 1: "active", 2: "not_owner", 4: "active" };
    for (const more of [ofAlice, `${ofAlice}&collection=${nft}`])
      expect(await states(12, more)).toEqual(then);
    expect(await states(14, ofAlice)).toMatchObject({ 4: "expired" });
  });
});
