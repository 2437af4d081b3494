import { gzipSync } from "node:zlib";
import { createWalletClient, custom, type Hex, parseAbi, parseEther, publicActions } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import { readWalletTrades } from "#projections/sales/read-wallet-trades.ts";
import { openTrader } from "#test/support/chain/trader.ts";
import { addressOf } from "#test/support/database/given.ts";
import { decode, tableOf } from "#test/support/http/page-tables.ts";
import { baseUrl, openServedMarket, type ServedMarket } from "#test/support/http/served-market.ts";
import { chainId } from "#test/support/http/served-market-data.ts";
import { sitePagesOf } from "#test/support/http/site-pages.ts";

let market: ServedMarket;

beforeAll(async () => {
  market = await openServedMarket({ hasPages: true });
});
afterAll(() => market?.close());

const maxHtmlBytes = 30 * 1_024;
const maxScriptBytes = 10 * 1_024;
const maxPageBytes = 100 * 1_024;
/** Of what is loaded when the search box gets the focus. */
const maxSuggestBytes = 2 * 1_024;

type Page = { status: number; html: string; headers: Headers };

async function open(path: string): Promise<Page> {
  const response = await fetch(market.v1.url + path, { headers: { accept: "text/html" } });
  return { status: response.status, html: await response.text(), headers: response.headers };
}

/** A script of the pages with all that it imports at its start: what is imported later is loaded when it is needed. */
async function scriptsOf(name: string): Promise<string[]> {
  const paths = new Set([`/assets/site/${name}`]);
  for (const path of paths) {
    const { html: text } = await open(path);
    for (const [, one] of text.matchAll(/^(?:import|\}) .*?from "\.\/([\w-]+\.js)";$/gm))
      paths.add(`/assets/site/${one}`);
  }
  return [...paths];
}

const Answer = z.object({
  data: z.unknown(),
  meta: z.looseObject({ next_cursor: z.string().nullable().optional() }).optional(),
});

async function ask(path: string): Promise<z.output<typeof Answer>> {
  return Answer.parse((await market.v1.get(path)).body);
}

/** Every row of a list, page by page. */
async function rowsOf(path: string): Promise<unknown[]> {
  const rows: unknown[] = [];
  let cursor: string | null | undefined = "";
  while (typeof cursor === "string") {
    const more: string = cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const { data, meta } = await ask(`${path}${more}`);
    rows.push(...z.array(z.unknown()).parse(data));
    cursor = meta?.next_cursor;
  }
  return rows;
}

/** All of `urls`, anywhere in an answer. */
function urlsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(urlsIn);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) =>
    name === "urls" ? Object.values(part as Record<string, string>) : urlsIn(part),
  );
}

/** What names the row in its address. */
const rowNameIn = (url: string) =>
  decodeURIComponent(new URL(url).pathname.split("/").at(-1) ?? "");

describe("the addresses in answers", () => {
  it("open pages that show their rows", async () => {
    const chain = `chainId=${chainId}&per_page=100`;
    const lists = [
      `/v1/collections?${chain}`,
      ...["punks", "editions", contracts.familyOne].map(
        (one) => `/v1/collections/${one}/tokens?${chain}`,
      ),
      ...["created_at", "price_asc"].map((sort) => `/v1/listings?${chain}&sort=${sort}`),
      ...["inactive", "active"].map((status) => `/v1/bids?${chain}&status=${status}`),
      `/v1/sales?${chain}`,
      `/v1/activity?${chain}`,
      ...["sale", "transfer", "mint", "listing", "offer"].map(
        (type) => `/v1/activity?${chain}&type=${type}`,
      ),
    ];
    const rows = (await Promise.all(lists.map(rowsOf))).flat();
    const search = await ask(`/v1/search?q=punks&chainId=${chainId}`);
    const urls = new Set([...rows.flatMap(urlsIn), ...urlsIn(search.data)]);
    expect(rows.length).toBeGreaterThan(200);

    const wrong: string[] = [];
    for (const url of urls) {
      const { status, html } = await open(url.replace(baseUrl, ""));
      if (status !== 200 || !html.includes(rowNameIn(url))) wrong.push(`${status} ${url}`);
    }
    expect(wrong).toEqual([]);
  });

  it.each([
    "/nothing",
    "/collections",
    "/collections/no-such-collection",
    `/collections/0x${"1".repeat(40)}`,
    `/collections/${contracts.punks}/tokens/999999`,
    `/sales/0x${"2".repeat(64)}`,
    `/transactions/0x${"2".repeat(64)}`,
    `/listings/mkt-0x${"2".repeat(64)}`,
    "/listings/nonsense",
    `/bids/mkt-0x${"2".repeat(64)}`,
    "/?chainId=5",
    "/collections/punks?chainId=33139",
    "/%zz",
  ])("of nothing are pages with a way on: %s", async (path) => {
    const { status, html, headers } = await open(path);
    expect(status).toBe(404);
    expect(headers.get("content-type")).toContain("text/html");
    expect(html).toContain(`href="/?chainId=${chainId}"`);
  });

  it.each([
    "/wallets/nobody",
    "/collections/punks/tokens/one",
    "/sales/short",
    `/activity?cursor=forged`,
    "/collections/punks?view=holders&cursor=forged",
  ])("that make no sense are refused with a page: %s", async (path) => {
    const { status, html } = await open(path);
    expect(status).toBe(422);
    expect(html).toContain(`href="/?chainId=${chainId}"`);
  });

  it("are answered in JSON where no page is asked for", async () => {
    const response = await fetch(`${market.v1.url}/nothing`);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ code: "not_found" });
  });
});

describe("a page", () => {
  const titleOf = async (path: string) =>
    decode(/<title>([^<]*)<\/title>/.exec((await open(path)).html)?.[1] ?? "");

  it.each([
    ["/collections/punks", ["items", "prices", "traits", "holders", "activity"]],
    [
      `/wallets/${accounts.alice.address}`,
      ["tokens", "listings", "offers", "activity", "exposure"],
    ],
  ])("has a title of its own for each view: %s", async (path, views) => {
    const titles = await Promise.all(
      views.map((view) => titleOf(`${path}?chainId=${chainId}&view=${view}`)),
    );
    expect(new Set(titles).size).toBe(views.length);
  });

  it("tells search engines and previews what it is", async () => {
    for (const [name, path] of Object.entries(sitePagesOf(market))) {
      const { html } = await open(path);
      const [, title] = /<title>([^<]+)<\/title>/.exec(html) ?? [];
      expect(html, name).toContain(`<meta property="og:title" content="${title}">`);
      expect(html, name).toMatch(/<meta name="description" content="[^"]+">/);
    }
    const { html } = await open(`/collections/punks?chainId=${chainId}`);
    expect(html).toMatch(/<meta name="description" content="Floor [^"]*Ten thousand faces">/);
  });

  it.each(["volume", "floor", "sales"])("marks the column that it is sorted by: %s", async (by) => {
    const { html } = await open(`/?chainId=${chainId}&sort=${by}`);
    const [sorted, ...others] = [
      ...html.matchAll(/<th[^>]* aria-sort="([^"]+)"[^>]*>(.*?)<\/th>/gs),
    ];
    expect(others).toEqual([]);
    expect(sorted?.[1]).toBe("descending");
    expect(sorted?.[2]).toContain(`sort=${by}`);
  });

  it("says of a chain that is not served that it is not, with those that are", async () => {
    const { html } = await open("/?chainId=5");
    expect(html).toContain("This chain is not served here. Choose one above.");
  });

  it("is led to from the reference", async () => {
    expect((await open("/docs")).html).toContain('<a href="/">Market</a>');
  });

  it("has no empty part in its title, whatever has no name", async () => {
    const token = `/collections/${contracts.familyOne}/tokens/1?chainId=${chainId}`;
    for (const path of [token, ...Object.values(sitePagesOf(market))]) {
      expect(await titleOf(path), path).not.toMatch(/^·|·\s*·/);
    }
  });

  it("is small, of our own parts only, and lets nothing else in", async () => {
    const parts = new Map<string, number>();
    const sizeOf = async (path: string) => {
      const known = parts.get(path);
      if (known !== undefined) return known;
      const size = gzipSync((await open(path)).html).length;
      parts.set(path, size);
      return size;
    };
    for (const [name, path] of Object.entries(sitePagesOf(market))) {
      const { html, headers } = await open(path);
      const size = gzipSync(html).length;
      expect(size, name).toBeLessThanOrEqual(maxHtmlBytes);
      const loaded = [
        ...html.matchAll(/<(?:link rel="stylesheet" href|script type="module" src)="([^"]+)"/g),
      ];
      const scripts = await scriptsOf("site.js");
      const sizes = await Promise.all(scripts.map(sizeOf));
      expect(sizes.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(maxScriptBytes);
      const others = await Promise.all(loaded.map(([, one = ""]) => sizeOf(one)));
      const whole = [size, ...sizes, ...others].reduce((sum, one) => sum + one, 0);
      expect(whole, name).toBeLessThanOrEqual(maxPageBytes);
      expect(headers.get("content-security-policy")?.split(";").toSorted()).toEqual([
        "base-uri 'none'",
        "connect-src 'self'",
        "default-src 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "img-src 'self'",
        "media-src 'self' https:",
        "script-src 'self'",
        "style-src 'self'",
      ]);
      expect(headers.get("referrer-policy")).toBe("no-referrer");
      expect(html).not.toMatch(/<[^>]+ (?:style|on\w+)=/);
    }
  });

  it("loads what suggests when somebody is about to search, and little of it", async () => {
    const always = await scriptsOf("site.js");
    const later = (await scriptsOf("suggest.js")).filter((one) => !always.includes(one));
    expect(later).toContain("/assets/site/suggest.js");
    const sizes = await Promise.all(
      later.map(async (one) => gzipSync((await open(one)).html).length),
    );
    expect(sizes.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(maxSuggestBytes);
  });

  it("names the requests that give its figures, and each is answered", async () => {
    for (const [name, path] of Object.entries(sitePagesOf(market))) {
      const { html } = await open(path);
      const sources = [...html.matchAll(/<li><a href="([^"]+)"><code>GET/g)];
      expect(sources.length, name).toBeGreaterThan(0);
      for (const [, source = ""] of sources) {
        expect((await market.v1.get(decode(source))).status, source).toBe(200);
      }
    }
  });
});

describe("the table beneath a chart", () => {
  const prices = `/collections/punks?chainId=${chainId}&view=prices`;
  const endpoint = async (path: string) => (await ask(`/v1/collections/punks/${path}`)).data;

  it("holds the candles of the endpoint", async () => {
    const { html } = await open(prices);
    const candle = z.object({
      t: z.string(),
      o: z.number(),
      h: z.number(),
      l: z.number(),
      c: z.number(),
    });
    const { candles } = z
      .object({ candles: z.array(candle) })
      .parse(await endpoint(`floor-history?chainId=${chainId}&days=7`));
    expect(candles.length).toBeGreaterThan(0);
    expect(tableOf(html, "Floor price in ETH")).toEqual(
      candles.map(({ t, o, h, l, c }) => ({
        key: t,
        cells: [t.slice(0, 16).replace("T", " "), ...[o, h, l, c].map(String)],
      })),
    );
  });

  it("and the lines of rankings close as the candles do", async () => {
    const path = `/v1/floor-lines?chainId=${chainId}&collections=${contracts.punks},${contracts.familyOne}`;
    const point = z.object({ t: z.string(), c: z.number() });
    const lines = z
      .array(z.object({ address: z.string(), points: z.array(point) }))
      .parse((await ask(path)).data);
    const { candles } = z
      .object({ candles: z.array(point) })
      .parse(await endpoint(`floor-history?chainId=${chainId}&days=7`));
    const pointsOf = (address: string) => lines.find((one) => one.address === address)?.points;
    expect(pointsOf(contracts.punks)).toEqual(candles);
    expect(pointsOf(contracts.familyOne)).toEqual([]);
  });

  it("holds the sales of the endpoint", async () => {
    const { html } = await open(prices);
    const row = z.object({ saleId: z.string(), tokenId: z.string(), price: z.number() });
    const sales = z
      .array(row)
      .parse((await ask(`/v1/sales?chainId=${chainId}&collection=punks&per_page=100`)).data);
    expect(
      tableOf(html, "Sales in ETH").map(({ key, cells }) => [key, cells[1], cells[3]]),
    ).toEqual(sales.map(({ saleId, tokenId, price }) => [saleId, `#${tokenId}`, String(price)]));
  });

  it("holds the prices of the book", async () => {
    const { html } = await open(prices);
    const level = z.looseObject({ priceWei: z.string() });
    const ask = level.extend({
      units: z.string(),
      unitsCumulated: z.string(),
      weiCumulated: z.string(),
    });
    const bid = level.extend({ bestSellerNetWei: z.string() });
    const { listings, bids } = z
      .object({
        listings: z.object({ levels: z.array(ask) }),
        bids: z.object({ levels: z.array(bid) }),
      })
      .parse(await endpoint(`depth?chainId=${chainId}`));
    expect(Math.min(listings.levels.length, bids.levels.length)).toBeGreaterThan(0);
    expect(
      tableOf(html, "Listings, lowest price first").map(({ cells }) => [
        cells[0],
        ...cells.slice(2, 5),
      ]),
    ).toEqual(
      listings.levels.map((one) => [one.priceWei, one.units, one.unitsCumulated, one.weiCumulated]),
    );
    expect(
      tableOf(html, "Offers, highest price first; figures are units").map(({ cells }) => [
        cells[0],
        cells[5],
      ]),
    ).toEqual(bids.levels.map((one) => [one.priceWei, one.bestSellerNetWei]));
  });

  it("holds the distribution of the holders", async () => {
    const { html } = await open(`/collections/punks?chainId=${chainId}&view=holders`);
    const group = z.object({
      ...{ from: z.number(), to: z.number().nullable() },
      ...{ holders: z.number(), tokens: z.string() },
    });
    const { groups } = z
      .object({ groups: z.array(group) })
      .parse(await endpoint(`holders/distribution?chainId=${chainId}`));
    const ranges = groups.map(({ from, to }) => {
      if (to === null) return `${from} and more`;
      return from === to ? `${from}` : `${from} to ${to}`;
    });
    expect(
      tableOf(html, "Holders by token ids held").map(({ cells }) => [cells[0], cells[1], cells[3]]),
    ).toEqual(groups.map((one, index) => [ranges[index], `${one.holders}`, one.tokens]));
    expect(groups.some(({ holders }) => holders > 0)).toBe(true);
  });

  it("holds a token's sales", async () => {
    const { html } = await open(`/collections/${contracts.punks}/tokens/1?chainId=${chainId}`);
    const row = z.object({ saleId: z.string(), price: z.number() });
    const path = `/v1/sales?chainId=${chainId}&collection=${contracts.punks}&token_id=1`;
    const sales = z.array(row).parse((await ask(path)).data);
    expect(tableOf(html, "Sales").map(({ key, cells }) => [key, cells[1]])).toEqual(
      sales.toReversed().map(({ saleId, price }) => [saleId, String(price)]),
    );
  });
});

describe("wash trades", () => {
  it("are named beside what was traded, and may be left out of the order", async () => {
    const { actors, catchUp } = market.book;
    const { alice, bob } = actors;
    const nft = { standard: "erc721", contract: contracts.punks, tokenId: 3n } as const;
    await bob.buys(await alice.lists(nft, { priceWei: parseEther("5") }));
    await alice.buys(await bob.lists(nft, { priceWei: parseEther("6") }));
    await catchUp();
    const stats = z.looseObject({
      washVolumeWei: z.record(z.string(), z.string()),
      washSales: z.record(z.string(), z.number()),
    });
    const row = z.looseObject({ stats });
    const { stats: ofPunks } = row.parse(
      (await ask(`/v1/collections/punks?chainId=${chainId}`)).data,
    );
    expect(ofPunks.washSales.all).toBe(2);

    const { html } = await open(`/collections/punks?chainId=${chainId}`);
    const rows = new Map(
      tableOf(html, "Trading by period").map(({ cells }) => [cells[0], cells.slice(1)]),
    );
    const periods = ["24h", "7d", "30d", "all"];
    expect(rows.get("Wash volume")).toEqual(periods.map((one) => ofPunks.washVolumeWei[one]));
    expect(rows.get("Wash sales")).toEqual(periods.map((one) => `${ofPunks.washSales[one]}`));

    const ranking = await open(`/?chainId=${chainId}`);
    expect(tableOf(ranking.html, "Collections by volume")[0]?.cells[2]).toBe(
      ofPunks.washVolumeWei["24h"],
    );
    const [, without = ""] = /<a href="([^"]*)"[^>]*>Without wash trades/.exec(ranking.html) ?? [];
    const other = await open(decode(without));
    expect(other.html).toContain("exclude_wash=true");
    const asked = await ask(`/v1/collections?chainId=${chainId}&exclude_wash=true&sort=volume`);
    const addresses = z.array(z.looseObject({ address: z.string() })).parse(asked.data);
    expect(tableOf(other.html, "Collections by volume").map(({ key }) => key)).toEqual(
      addresses.map(({ address }) => address),
    );
  });
});

describe("a page of an earlier moment", () => {
  const nft = { contract: contracts.punks, tokenId: 5n } as const;
  const token = `/collections/${contracts.punks}/tokens/${nft.tokenId}?chainId=${chainId}`;
  const book = `/collections/punks?chainId=${chainId}&view=prices`;
  const price = `${parseEther("7")}`;
  /** Between the listing of a token and its sale. */
  let at: string;

  beforeAll(async () => {
    const { catchUp, client } = market.book;
    const [alice, bob] = [accounts.alice, accounts.bob].map((account) =>
      openTrader({ baseUrl: market.v1.url, chainId, client, account }),
    );
    const askId = await alice?.lists({ ...nft, unitPriceWei: parseEther("7") });
    const { timestamp } = await client.getBlock();
    const latest = Math.max(Date.now(), Number(timestamp) * 1_000);
    at = new Date(latest + 60_000).toISOString();
    await client.increaseTime({ seconds: 300 });
    await bob?.buys(askId ?? "");
    await catchUp();
  });

  const pricesIn = (html: string) =>
    tableOf(html, "Listings, lowest price first").map(({ cells }) => cells[0]);

  it("shows the book that the API tells of it", async () => {
    const { html } = await open(`${book}&at=${at}`);
    const level = z.object({ priceWei: z.string() });
    const { listings } = z
      .object({ listings: z.object({ levels: z.array(level) }) })
      .parse((await ask(`/v1/collections/punks/depth?chainId=${chainId}&at=${at}`)).data);
    expect(pricesIn(html)).toEqual(listings.levels.map(({ priceWei }) => priceWei));
    expect(pricesIn(html)).toContain(price);
    expect(pricesIn((await open(book)).html)).not.toContain(price);
  });

  it("shows the figures and the floors of traits that the API tells of it, and not today's", async () => {
    const path = `/v1/collections/punks`;
    const Then = z.object({
      stats: z.object({
        floor: z.object({ priceWei: z.string() }),
        listed: z.number(),
        supplyExact: z.string(),
        volumeWei: z.object({ all: z.string() }),
      }),
    });
    const Traits = z.object({
      traitTypes: z.array(
        z.object({
          type: z.string(),
          values: z.array(z.object({ value: z.string(), floorWei: z.string().nullable() })),
        }),
      ),
    });
    const told = async (query: string) => {
      const { stats } = Then.parse((await ask(`${path}?chainId=${chainId}${query}`)).data);
      return { floor: stats.floor.priceWei, sold: stats.volumeWei.all, supply: stats.supplyExact };
    };
    const shown = async (query: string) => {
      const { html } = await open(`${book}${query}`);
      const figure = (label: string) =>
        new RegExp(`<dt>${label}</dt><dd>(?:<a[^>]*>)?<data[^>]* value="(\\d+)"`).exec(html)?.[1];
      const volumes = /<th scope="row">Volume<\/th>(.*?)<\/tr>/.exec(html)?.[1] ?? "";
      const sold = [...volumes.matchAll(/value="(\d+)"/g)].at(-1)?.[1];
      return { floor: figure("Floor"), sold, supply: figure("Supply") };
    };
    const [then, now] = [await told(`&at=${at}`), await told("")];
    expect(then).not.toEqual(now);
    expect(await shown(`&at=${at}`)).toEqual(then);
    expect(await shown("")).toEqual(now);
    const { traitTypes } = Traits.parse(
      (await ask(`${path}/traits?chainId=${chainId}&at=${at}`)).data,
    );
    const { html } = await open(`/collections/punks?chainId=${chainId}&view=traits&at=${at}`);
    expect(traitTypes.length).toBeGreaterThan(0);
    for (const { type, values } of traitTypes.slice(0, 12))
      expect(tableOf(html, `Values of ${type}`).map(({ cells }) => cells[4])).toEqual(
        values.slice(0, 20).map(({ floorWei }) => floorWei ?? expect.stringMatching(/^\D*$/)),
      );
  });

  it("says of which block it is, is not live, sells nothing, and is not for search engines", async () => {
    const pages = Object.entries(sitePagesOf(market)).filter(([name]) => name.endsWith("-past"));
    expect(pages.length).toBeGreaterThan(5);
    for (const [name, path] of pages) {
      const { html, status } = await open(path);
      expect(status, name).toBe(200);
      expect(html, name).toContain(`As of the end of block ${market.ids.blockNumber},`);
      expect(html, name).not.toMatch(/data-live=|data-trade|data-pick/);
      expect(html, name).toContain('<meta name="robots" content="noindex">');
      expect(html, name).toContain("Back to now");
    }
  });

  it("shows who had a token, and what a wallet held", async () => {
    const [alice, bob] = [accounts.alice, accounts.bob].map(({ address }) => address.toLowerCase());
    const ownerIn = (html: string) =>
      /<dt>Owner<\/dt><dd><a[^>]* title="(0x[0-9a-f]{40})"/.exec(html)?.[1];
    expect(ownerIn((await open(`${token}&at=${at}`)).html)).toBe(alice);
    expect(ownerIn((await open(token)).html)).toBe(bob);
    const held = async (wallet = "") =>
      tableOf(
        (await open(`/wallets/${wallet}?chainId=${chainId}&at=${at}`)).html,
        "Tokens then",
      ).map(({ cells }) => cells.slice(0, 2).join(" of "));
    expect(await held(alice)).toContain("#5 of Punks");
    expect(await held(bob)).not.toContain("#5 of Punks");
  });

  it("is asked for by a time without a zone, which is of UTC, or by a block", async () => {
    const local = at.replace(/\.\d+Z$/, "");
    expect(pricesIn((await open(`${book}&at=${local}&block=`)).html)).toContain(price);
    const { html } = await open(`${book}&at=&block=${market.ids.blockNumber}`);
    expect(html).toContain(`As of the end of block ${market.ids.blockNumber},`);
  });

  it("leads through the hours of its day, and to that before and after", async () => {
    const { html } = await open(`${book}&at=${at}`);
    const links = [...html.matchAll(/<a href="([^"]*)"[^>]*>(?:\d\d|(?:Hour|Day) \w+)<\/a>/g)].map(
      ([, link = ""]) => new URL(decode(link), baseUrl).searchParams.get("at") ?? "",
    );
    const hour = 3_600_000;
    const apart = links.map((one) => Date.parse(one) - Date.parse(at));
    expect(apart).toEqual(expect.arrayContaining([-24 * hour, -hour]));
    const day = links.filter((one) => one.endsWith(":00:00Z"));
    expect(day.length).toBe(new Date().getUTCHours() + 1);
  });

  it.each([
    ["at=0", "point_not_covered"],
    [`at=0x${"3".repeat(64)}`, "block_unknown"],
    ["block=999999999", "point_not_reached"],
    ["at=yesterday", "invalid_parameters"],
  ])("says why it cannot be shown, with a way to another one: %s", async (moment, code) => {
    const api = await market.v1.get(
      `/v1/collections/punks/depth?chainId=${chainId}&${moment.replace("block", "at")}`,
    );
    expect(api.body).toMatchObject({ code });
    const { html, status } = await open(`${book}&${moment}`);
    expect(status).toBe(api.status);
    expect(html).toContain('role="alert"');
    expect(html).toContain('name="block"');
  });

  it("says of a token that it did not exist before it was minted", async () => {
    const { html, status } = await open(
      `/collections/${contracts.editions}/tokens/1?chainId=${chainId}&at=${await firstBlock()}`,
    );
    expect([status, html.includes("It did not exist then.")]).toEqual([404, true]);
  });

  /** Of what is indexed: the contracts are minted one after the other. */
  async function firstBlock(): Promise<number> {
    const rows = z.array(z.object({ blockNumber: z.int().nullable() }));
    const minted = await rowsOf(`/v1/activity?chainId=${chainId}&type=mint&per_page=100`);
    return Math.min(...rows.parse(minted).map(({ blockNumber }) => blockNumber ?? Infinity));
  }
});

describe("the figures of a wallet", () => {
  const wei = z.string().transform(BigInt);
  const Sale = z.object({
    ...{ contract: z.string(), tokenId: z.string(), seller: z.string(), buyer: z.string() },
    ...{ totalWei: wei, fees: z.array(z.object({ wei })), washTrade: z.unknown() },
    currency: z.object({ symbol: z.string().nullable() }),
  });
  const Held = z.object({ collection: z.looseObject({ address: z.string() }), units: wei });
  const Priced = z.object({
    stats: z.looseObject({
      floor: z.looseObject({ priceWei: wei }).nullable(),
      bestOffer: z.looseObject({ sellerNetWei: wei }).nullable(),
    }),
  });

  /** What it bought, a queue for each token, and sold again: the sales of the test are of one unit. */
  async function tradesOf(wallet: string) {
    const path = `/v1/sales?chainId=${chainId}&wallet=${wallet}&per_page=100`;
    const sales = z
      .array(Sale)
      .parse(await rowsOf(path))
      .toReversed();
    const counted = sales.filter(({ washTrade, currency }) => !washTrade && currency.symbol);
    const sum = { spent: 0n, earned: 0n, profit: 0n, unbought: 0n };
    const bought = new Map<string, bigint[]>();
    for (const { contract, tokenId, buyer, totalWei, fees } of counted) {
      const queue = bought.get(`${contract}/${tokenId}`) ?? [];
      bought.set(`${contract}/${tokenId}`, queue);
      if (buyer === wallet) {
        sum.spent += totalWei;
        queue.push(totalWei);
        continue;
      }
      const net = fees.reduce((left, one) => left - one.wei, totalWei);
      const cost = queue.shift();
      sum.earned += net;
      if (cost === undefined) sum.unbought += net;
      else sum.profit += net - cost;
    }
    const purchases = counted.filter(({ buyer }) => buyer === wallet).length;
    return {
      ...{ purchases, sales: counted.length - purchases },
      ...{ spentWei: `${sum.spent}`, earnedWei: `${sum.earned}` },
      ...{ profitWei: `${sum.profit}`, unboughtWei: `${sum.unbought}` },
      wash: sales.filter(({ washTrade }) => washTrade).length,
    };
  }

  async function holdingsOf(wallet: string) {
    const held = z
      .array(Held)
      .parse(await rowsOf(`/v1/wallets/${wallet}/tokens?chainId=${chainId}&per_page=100`));
    let [floorWei, offersWei, units] = [0n, 0n, 0n];
    for (const one of held) {
      const path = `/v1/collections/${one.collection.address}?chainId=${chainId}`;
      const { floor, bestOffer } = Priced.parse((await ask(path)).data).stats;
      units += one.units;
      floorWei += one.units * (floor?.priceWei ?? 0n);
      offersWei += one.units * (bestOffer?.sellerNetWei ?? 0n);
    }
    return {
      ...{ tokens: `${held.length}`, units: `${units}`, truncated: false },
      ...{ floorWei: `${floorWei}`, offersWei: `${offersWei}` },
    };
  }

  it.each(["alice", "bob", "carol"] as const)(
    "add up what it holds and traded: %s",
    async (person) => {
      const wallet = accounts[person].address.toLowerCase();
      const { data } = await ask(`/v1/wallets/${wallet}/summary?chainId=${chainId}`);
      const trades = await tradesOf(wallet);
      expect(data).toMatchObject({ holdings: await holdingsOf(wallet), trades });
      expect(trades.purchases + trades.sales).toBeGreaterThan(0);
      const { html } = await open(`/wallets/${wallet}?chainId=${chainId}`);
      const figureOf = (label: string) =>
        new RegExp(`<dt>${label}</dt><dd>.*?value="(-?[0-9]+)"`).exec(html)?.[1];
      expect(figureOf("Spent")).toBe(trades.spentWei);
      expect(figureOf("Profit")).toBe(trades.profitWei);
      expect(html.includes("wash trade")).toBe(trades.wash > 0);
    },
  );

  it("are not told of trades where these are more than may be added up", async () => {
    const owner = { chainId, wallet: accounts.bob.address.toLowerCase() as Hex };
    const all = await readWalletTrades(market.book.db, owner, 1_000);
    expect(all?.length).toBeGreaterThan(1);
    expect(await readWalletTrades(market.book.db, owner, 0)).toBe(null);
    const nobody = { ...owner, wallet: addressOf(4_321) };
    expect(await readWalletTrades(market.book.db, nobody, 0)).toEqual([]);
  });
});

describe("a list of activity", () => {
  const Event = z.object({
    ...{ id: z.string(), type: z.string(), txHash: z.string().nullable(), saleId: z.unknown() },
    ...{ contract: z.string().nullable(), tokenId: z.string().nullable() },
    ...{ from: z.string().nullable(), to: z.string().nullable() },
  });

  it("tells a sale with its transfers in one row, and the page of a transaction each event", async () => {
    const path = `/v1/activity?chainId=${chainId}&collection=punks&per_page=50`;
    const events = z.array(Event).parse((await ask(path)).data);
    const isSold = (one: z.output<typeof Event>) =>
      one.type === "transfer" &&
      events.some(
        (sale) =>
          sale.type === "sale" &&
          sale.txHash === one.txHash &&
          sale.tokenId === one.tokenId &&
          (sale.from === one.from || sale.to === one.to),
      );
    const sold = events.filter(isSold);
    expect(sold.length).toBeGreaterThan(2);
    const { html } = await open(`/collections/punks?chainId=${chainId}&view=activity`);
    const rows = tableOf(html, "Activity");
    expect(rows.length).toBe(events.length - sold.length);
    expect(rows.filter(({ key }) => sold.some(({ id }) => id === key))).toEqual([]);

    const whole = await open(`/transactions/${sold[0]?.txHash}?chainId=${chainId}`);
    const keys = tableOf(whole.html, "Events of the transaction").map(({ key }) => key);
    expect(keys).toContain(sold[0]?.id);
  });
});

describe("an offer's page", () => {
  /** The program of the page, without its imports, as a function of what it uses. */
  const programOf = (html: string) => {
    const codes = [...html.matchAll(/<pre[^>]*><code>(.*?)<\/code><\/pre>/gs)].map(
      ([, code = ""]) => decode(code),
    );
    const program = codes.find((code) => code.startsWith("import ")) ?? "";
    const AsyncFunction = (async () => undefined).constructor as FunctionConstructor;
    const names = ["parseAbi", "publicActions", "wallet", "API"];
    return new AsyncFunction(...names, program.replace(/^import .*\n/, ""));
  };

  it.each([
    ["bid", "alice"],
    ["collectionBid", "carol"],
  ] as const)(
    "has a program that accepts it, of a seller without an approval: %s",
    async (kind, seller) => {
      const { actors, client, catchUp } = market.book;
      await actors[seller].revokes(contracts.punks);
      const path = `/bids/${market.ids[kind]}?chainId=${chainId}`;
      const accept = programOf((await open(path)).html);
      const account = accounts[seller];
      const wallet = createWalletClient({
        account,
        chain: client.chain,
        transport: custom(client),
      });
      await accept(parseAbi, publicActions, wallet, market.v1.url);
      // The program ends with what it sent: its block is mined after that.
      await expect
        .poll(async () => {
          await catchUp();
          return (await ask(`/v1${path}`)).data;
        })
        .toMatchObject({ status: "filled" });
      expect((await open(path)).html).toContain("It cannot be accepted now.");
    },
  );
});
