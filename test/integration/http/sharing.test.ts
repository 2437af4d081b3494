import { parseEther } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { contracts } from "#devnet/contracts/addresses.ts";
import { decode } from "#test/support/http/page-tables.ts";
import { baseUrl, openServedMarket, type ServedMarket } from "#test/support/http/served-market.ts";
import { chainId } from "#test/support/http/served-market-data.ts";
import { sitePagesOf } from "#test/support/http/site-pages.ts";

let market: ServedMarket;
beforeAll(async () => {
  market = await openServedMarket({ hasPages: true });
});
afterAll(() => market?.close());

async function open(path: string) {
  const response = await fetch(market.v1.url + path, { headers: { accept: "text/html" } });
  const { status, headers } = response;
  return { status, type: headers.get("content-type"), text: await response.text() };
}

const all = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, found]) => decode(found ?? ""));
const canonicalsIn = (text: string) => all(text, /<link rel="canonical" href="([^"]*)">/g);
const metaIn = (text: string, name: string) =>
  all(text, new RegExp(`<meta (?:property|name)="${name}" content="([^"]*)">`, "g"));

const Answer = z.object({ data: z.unknown() });
const ask = async (path: string) => Answer.parse((await market.v1.get(path)).body).data;

const token = (tokenId: number) => `/collections/${contracts.punks}/tokens/${tokenId}`;

const Listed = z.object({
  tokenId: z.string(),
  name: z.string().nullable(),
  listing: z.object({ priceWei: z.string(), expiresAt: z.string() }).nullable(),
});
const Price = z.object({ priceWei: z.string(), symbol: z.string() });

describe("a page that is shared", () => {
  it("has one canonical address of ours, which leads to itself, and says the same to previews", async () => {
    for (const [name, path] of Object.entries(sitePagesOf(market))) {
      const { text } = await open(path);
      const [canonical = "", ...more] = canonicalsIn(text);
      expect(more, name).toEqual([]);
      expect(canonical.startsWith(`${baseUrl}/`), `${name}: ${canonical}`).toBe(true);
      expect(metaIn(text, "og:url"), name).toEqual([canonical]);
      for (const once of ["description", "og:title", "og:description", "twitter:card"])
        expect(metaIn(text, once), `${name}: ${once}`).toHaveLength(1);
      const there = await open(canonical.slice(baseUrl.length));
      expect([there.status, canonicalsIn(there.text)], name).toEqual([200, [canonical]]);
    }
  });

  it("is one whatever its order, filter, page and name are", async () => {
    const chain = `chainId=${chainId}`;
    const slug = `${baseUrl}/collections/punks?${chain}`;
    const paths = ["punks", contracts.punks, contracts.punks.toUpperCase().replace("0X", "0x")];
    for (const path of paths) {
      const { text } = await open(`/collections/${path}?${chain}&sort=rarity&traits[Fur]=Gold`);
      expect(canonicalsIn(text), path).toEqual([slug]);
    }
    const { text } = await open(`/collections/punks?${chain}&view=prices&days=7`);
    expect(canonicalsIn(text)).toEqual([`${slug}&view=prices`]);
  });

  it("is none where nothing is shown, and is kept from search engines", async () => {
    for (const path of ["/collections/nobody", "/nothing", `/search?q=pun&chainId=${chainId}`]) {
      const { status, text } = await open(path);
      expect(canonicalsIn(text), path).toHaveLength(status === 200 ? 1 : 0);
      expect(metaIn(text, "robots"), path).toEqual(["noindex"]);
    }
  });

  it("tells the price that the API has, exactly, in words and for programs", async () => {
    const rows = z
      .array(Listed)
      .parse(await ask(`/v1/collections/punks/tokens?chainId=${chainId}&listed=true`));
    expect(rows.length).toBeGreaterThan(0);
    for (const { tokenId, listing } of rows) {
      const { text } = await open(`${token(Number(tokenId))}?chainId=${chainId}`);
      const [data = ""] =
        /<script type="application\/ld\+json">([^<]*)<\/script>/.exec(text)?.slice(1) ?? [];
      const product = z
        .object({
          "@type": z.literal("Product"),
          url: z.string(),
          image: z.string(),
          offers: z.object({
            price: z.string(),
            priceCurrency: z.string(),
            priceValidUntil: z.string(),
          }),
        })
        .parse(JSON.parse(data));
      const { price, priceCurrency, priceValidUntil } = product.offers;
      expect(parseEther(price)).toBe(BigInt(listing?.priceWei ?? 0));
      expect(priceValidUntil).toBe(listing?.expiresAt);
      const picture = await open(product.image.slice(baseUrl.length));
      expect([picture.status, picture.type?.split("/")[0]]).toEqual([200, "image"]);
      expect(product.url).toBe(canonicalsIn(text)[0]);
      const [shown = ""] = metaIn(text, "og:description");
      const said = /^Price ([\d.,]+) (\w+)/.exec(shown)?.slice(1) ?? [];
      expect(said[1]).toBe(priceCurrency);
      expect(Number(said[0]?.replaceAll(",", ""))).toBeCloseTo(Number(price), 2);
    }
  });

  it("sells nothing that is not listed", async () => {
    const rows = z
      .array(Listed)
      .parse(await ask(`/v1/collections/punks/tokens?chainId=${chainId}&listed=false`));
    const { text } = await open(`${token(Number(rows[0]?.tokenId))}?chainId=${chainId}`);
    expect(text).not.toContain("ld+json");
    expect(metaIn(text, "og:description")[0]).not.toMatch(/^Price/);
  });

  it("tells a collection's floor and how many are listed", async () => {
    const Stats = z.object({
      stats: z.object({
        floor: Price.omit({ symbol: true }).extend({ price: z.number() }),
        listed: z.number(),
      }),
    });
    const { stats } = Stats.parse(await ask(`/v1/collections/punks?chainId=${chainId}`));
    const { text } = await open(`/collections/punks?chainId=${chainId}`);
    const [shown = ""] = metaIn(text, "description");
    const [floor, listed] = /^Floor ([\d.,]+) \w+ · (\d+) listed/.exec(shown)?.slice(1) ?? [];
    expect(Number(floor?.replaceAll(",", ""))).toBeCloseTo(stats.floor.price, 2);
    expect(Number(listed)).toBe(stats.listed);
  });
});

describe("what programs ask a site for", () => {
  const places = (text: string) => all(text, /<loc>([^<]*)<\/loc>/g);

  it("robots are led to the site map, and kept from filtered pages", async () => {
    const { type, text } = await open("/robots.txt");
    expect(type).toMatch(/^text\/plain/);
    expect(text).toContain(`\nSitemap: ${baseUrl}/sitemap.xml\n`);
    expect(text).toContain("\nDisallow: /*cursor=\n");
  });

  it("the site map names every collection, and tokens that were sold, by their own addresses", async () => {
    const index = await open("/sitemap.xml");
    expect([index.status, index.type]).toEqual([200, "application/xml; charset=utf-8"]);
    const parts = await Promise.all(
      places(index.text).map((url) => open(url.slice(baseUrl.length))),
    );
    const named = parts.flatMap(({ text }) => places(text));
    expect(new Set(named).size).toBe(named.length);
    const rows = z
      .array(z.object({ urls: z.object({ collection: z.string() }) }))
      .parse(await ask(`/v1/collections?chainId=${chainId}&per_page=100`));
    for (const { urls } of rows) expect(named).toContain(urls.collection);
    const sales = z
      .array(
        z.object({
          urls: z.object({ token: z.string() }),
          collection: z.object({ slug: z.string().nullable() }),
        }),
      )
      .parse(await ask(`/v1/sales?chainId=${chainId}&per_page=100`));
    for (const { urls, collection } of sales)
      if (collection.slug !== null) expect(named).toContain(urls.token);
    for (const url of named) {
      const { text } = await open(url.slice(baseUrl.length));
      expect(canonicalsIn(text)).toEqual([url]);
    }
  });

  it("has no part of another name, chain or beyond its pages", async () => {
    for (const part of ["5/collections/1", "1/wallets/1", "1/collections/0", "1/tokens/11"])
      expect((await open(`/sitemaps/${part}`)).status, part).toBe(404);
  });

  it("the manifest has a name and an icon that is there", async () => {
    const { text } = await open("/site.webmanifest");
    const { icons, name } = z
      .object({ name: z.string().min(1), icons: z.array(z.object({ src: z.string() })).min(1) })
      .parse(JSON.parse(text));
    expect(name).not.toBe("");
    for (const { src } of icons) expect((await open(src)).status).toBe(200);
  });

  it("says where weaknesses are reported to, where somebody said so", async () => {
    const { status, text } = await open("/.well-known/security.txt");
    expect(status).toBe(200);
    expect(text).toMatch(/^Contact: mailto:security@example\.test\n/);
    const [end = ""] = /^Expires: (.*)$/m.exec(text)?.slice(1) ?? [];
    const days = (new Date(end).getTime() - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(150);
    expect(days).toBeLessThan(365);
  });
});
