import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { chainIds, chainNames, defaultChain } from "#chains/index.ts";
import { addressOf } from "#test/support/database/given.ts";
import { decode, tableOf } from "#test/support/http/page-tables.ts";
import { openTwoChains, type TwoChains } from "#test/support/http/two-chains.ts";

const baseUrl = "https://market.example.test";
let served: TwoChains;
beforeAll(async () => {
  served = await openTwoChains(baseUrl);
});
afterAll(() => served?.close());

async function open(path: string, cookie?: string) {
  const headers = { accept: "text/html", ...(cookie !== undefined && { cookie }) };
  const answer = await fetch(served.url + path, { headers, redirect: "manual" });
  return { status: answer.status, headers: answer.headers, html: await answer.text() };
}

/** Every page of a list, by the links to the next. */
async function pagesOf(path: string): Promise<string[]> {
  const pages: string[] = [];
  for (let next: string | undefined = path; next !== undefined; ) {
    const { status, html } = await open(next);
    expect(status, next).toBe(200);
    pages.push(html);
    const link: string | undefined = /<a class="button" href="([^"]+)" rel="next">/.exec(html)?.[1];
    next = link === undefined ? undefined : decode(link);
  }
  return pages;
}

const Collections = z.object({
  data: z.array(
    z.looseObject({
      chainId: z.number(),
      address: z.string(),
      name: z.string(),
      stats: z.looseObject({
        volumeUsd: z.record(z.string(), z.number().nullable()),
        volumeWei: z.record(z.string(), z.string()),
        sales: z.record(z.string(), z.number()),
        holders: z.number(),
        floor: z.looseObject({ usd: z.number().nullable() }).nullable(),
      }),
    }),
  ),
});

const collectionsOf = async (chainId: number, sort: string) => {
  const query = `chainId=${chainId}&sort=${sort}&period=7d&per_page=100`;
  const answer = await fetch(`${served.url}/v1/collections?${query}`);
  return Collections.parse(await answer.json()).data;
};

const current = (html: string) =>
  /<nav class="chains"[^>]*>.*?<a href="[^"]*" aria-current="true">([^<]*)<\/a>/.exec(html)?.[1];
const other = chainIds.find((one) => one !== defaultChain.id);

describe("the market of all chains", () => {
  const figures = {
    volume: (one: Awaited<ReturnType<typeof collectionsOf>>[number]) => one.stats.volumeUsd["7d"],
    floor: (one: Awaited<ReturnType<typeof collectionsOf>>[number]) => one.stats.floor?.usd ?? 0,
    sales: (one: Awaited<ReturnType<typeof collectionsOf>>[number]) => one.stats.sales["7d"],
    holders: (one: Awaited<ReturnType<typeof collectionsOf>>[number]) => one.stats.holders,
  };

  it.each(Object.entries(figures))(
    "has each collection once, page by page, by %s, money by its value in USD",
    async (sort, figureOf) => {
      const pages = await pagesOf(`/?chainId=all&sort=${sort}&period=7d`);
      expect(pages.length).toBeGreaterThan(1);
      const rows = pages.flatMap((html) => tableOf(html, `Collections by ${sort}`));
      const named = rows.map(({ cells }) => ({ name: cells[0] ?? "", chain: cells[1] ?? "" }));
      const all = await Promise.all(chainIds.map((one) => collectionsOf(one, sort)));
      for (const [place, chainId] of chainIds.entries()) {
        const own = named.filter(({ chain }) => chain === chainNames[chainId]);
        expect(own.map(({ name }) => name)).toEqual(all[place]?.map(({ name }) => name));
      }
      const byName = new Map(all.flat().map((one) => [one.name, figureOf(one)]));
      const shown = named.map(({ name }) => byName.get(name) ?? 0);
      expect(shown).toEqual(shown.toSorted((one, other) => other - one));
      expect(new Set(shown).size).toBeGreaterThan(1);
    },
  );

  it("mixes chains on one page, each amount in its own currency", async () => {
    const { html } = await open("/?chainId=all&period=7d");
    const rows = tableOf(html, "Collections by volume");
    const first = rows.slice(0, 6).map(({ cells }) => cells[1]);
    expect(new Set(first)).toEqual(new Set(chainIds.map((one) => chainNames[one])));
    const units = [...html.matchAll(/<span class="unit">(\w+)<\/span>/g)].map(([, one]) => one);
    expect(new Set(units).size).toBeGreaterThanOrEqual(chainIds.length);
  });

  it("has the newest activity of all, each row with its chain, page by page", async () => {
    const pages = await pagesOf("/activity?chainId=all&type=sale");
    const rows = pages.flatMap((html) => tableOf(html, "Activity"));
    const times = pages.flatMap((html) =>
      [...html.matchAll(/<time datetime="([^"]+)" title="[^"]+" data-relative>/g)].map(([, one]) =>
        Date.parse(one ?? ""),
      ),
    );
    expect(times).toEqual(times.toSorted((one, other) => other - one));
    const Sales = z.object({ meta: z.object({ total: z.number() }) });
    for (const chainId of chainIds) {
      const answer = await fetch(`${served.url}/v1/sales?chainId=${chainId}&per_page=1`);
      const { meta } = Sales.parse(await answer.json());
      const own = rows.filter(({ cells }) => cells.includes(chainNames[chainId]));
      expect(own).toHaveLength(meta.total);
    }
  });

  it.each([
    "/?chainId=all&cursor=forged",
    "/activity?chainId=all&cursor=a~b",
    "/?chainId=all&cursor=~~~",
  ])("refuses a cursor that is none: %s", async (path) => {
    expect((await open(path)).status).toBe(422);
  });
});

describe("a wallet on all chains", () => {
  const wallet = addressOf(0x51);
  const figuresOf = (html: string) =>
    [...html.matchAll(/<dt>([^<]+)<\/dt><dd>(.*?)<\/dd>/g)].map(([, name, value = ""]) => [
      name,
      /value="(-?\d+)"/.exec(value)?.[1],
    ]);

  it("has the figures that it has on each, and what it did on any", async () => {
    const { status, html } = await open(`/wallets/${wallet}?chainId=all`);
    expect([status, current(html)]).toEqual([200, "All chains"]);
    const own = await Promise.all(
      chainIds.map(async (one) => (await open(`/wallets/${wallet}?chainId=${one}`)).html),
    );
    expect(figuresOf(html)).toEqual(own.flatMap(figuresOf));
    const chains = tableOf(html, "What it did").map(({ cells }) => cells[4]);
    expect(new Set(chains)).toEqual(new Set(chainIds.map((one) => chainNames[one])));
    for (const one of [...chainIds, "all"])
      expect(html).toContain(`href="/wallets/${wallet}?chainId=${one}"`);
  });

  it("is asked for, and changes no choice", async () => {
    const { headers, html } = await open(`/wallets/${wallet}`, `chain=${other}`);
    expect([current(html), headers.get("set-cookie")]).toEqual([chainNames[defaultChain.id], null]);
    expect((await open(`/wallets/${wallet}?chainId=all`)).headers.get("set-cookie")).toBeNull();
    expect((await open("/wallets/nobody?chainId=all")).status).toBe(422);
  });
});

describe("the choice of a chain", () => {
  it("is all of them for who made none, which caches learn", async () => {
    for (const path of ["/", "/activity"]) {
      const { status, html, headers } = await open(path);
      expect([status, current(html)]).toEqual([200, "All chains"]);
      expect(headers.get("vary")).toMatch(/\bCookie\b/);
      expect(headers.get("set-cookie")).toBeNull();
      expect(html).toContain(`<link rel="canonical" href="${baseUrl}${path}?chainId=all">`);
    }
  });

  it("is kept by a link, and goes on without its chain", async () => {
    for (const choice of [...chainIds, "all"]) {
      const { headers, html } = await open(`/activity?chainId=${choice}&type=sale`);
      expect(headers.get("set-cookie")).toBe(
        `chain=${choice}; Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax; Secure`,
      );
      expect(headers.get("vary")).not.toMatch(/\bCookie\b/);
      expect(current(html)).toBe(
        choice === "all" ? "All chains" : chainNames[Number(choice) as never],
      );
    }
    const chosen = `other=1; chain=${other}`;
    const { status, headers } = await open("/?period=7d&sort=floor", chosen);
    expect([status, headers.get("location"), headers.get("cache-control")]).toEqual([
      302,
      `/?period=7d&sort=floor&chainId=${other}`,
      "no-store",
    ]);
    expect(headers.get("vary")).toMatch(/\bCookie\b/);
    expect((await open("/", "chain=all")).status).toBe(200);
  });

  it.each(["chain=5", "chain=", `chain=${other}x`, `xchain=${other}`, "chain=<script>"])(
    "is none where the browser keeps another's: %s",
    async (cookie) => {
      const { status, html } = await open("/", cookie);
      expect([status, current(html)]).toEqual([200, "All chains"]);
    },
  );

  it("changes no page of one thing", async () => {
    const path = `/collections/ethereum-1?chainId=${defaultChain.id}`;
    const { headers, html } = await open(path, `chain=${other}`);
    expect(headers.get("set-cookie")).toBeNull();
    expect(headers.get("vary")).not.toMatch(/\bCookie\b/);
    expect(current(html)).toBe(chainNames[defaultChain.id]);
    expect((await open("/collections/ethereum-1", `chain=${other}`)).html).toBe(html);
    expect((await open("/collections/ethereum-1?chainId=all")).status).toBe(404);
  });
});
