import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import type { BrowserContextOptions, Page } from "playwright-core";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { openPictures, type Pictures } from "#api/pictures/open-pictures.ts";
import { accounts } from "#devnet/accounts.ts";
import { collectionAbi } from "#devnet/contracts/abis.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import { appendObservations } from "#projections/log/append.ts";
import { tokenMetadataFetched } from "#projections/metadata/facts.ts";
import { keepPicture, openPage, startBrowser, type TestBrowser } from "../support/http/browser.ts";
import { type DocumentHost, openDocumentHost } from "../support/http/document-host.ts";
import { openServedMarket, type ServedMarket } from "../support/http/served-market.ts";
import { chainId } from "../support/http/served-market-data.ts";

let gateway: DocumentHost;
let directory: string;
let pictures: Pictures;
let market: ServedMarket;
let testBrowser: TestBrowser;

const [firstId, count] = [1_000n, 60n];
const withoutImage = firstId + count - 1n;

beforeAll(async () => {
  gateway = await openDocumentHost();
  directory = await mkdtemp(join(tmpdir(), "pictures-"));
  const originals = await Promise.all([0, 1, 2, 3].map(drawOriginal));
  for (const { byteLength } of originals) expect(byteLength).toBeGreaterThan(3_000_000);
  gateway.answers(({ url = "" }, response) => {
    const [, number = "0"] = /(\d+)\.png$/.exec(url) ?? [];
    const original = originals[Number(number) % originals.length];
    response.writeHead(200, { "content-type": "image/png" }).end(original);
  });
  pictures = openPictures({
    directory,
    maxBytes: 100_000_000,
    ipfsGateways: [gateway.origin],
    arweaveGateway: gateway.origin,
    logger: pino({ level: "silent" }),
    waitMs: 300_000,
  });
  market = await openServedMarket({ hasPages: true, pictures });
  await mintTokens();
  testBrowser = await startBrowser();
});
afterAll(async () => {
  await testBrowser?.close();
  await market?.close();
  await pictures?.close();
  await gateway?.close();
  await rm(directory, { recursive: true, force: true });
});

/** Shapes in many colours under a grain, as generative art has them: 3 MB that do not pack. */
async function drawOriginal(seed: number): Promise<Buffer> {
  const side = 1_300;
  const shapes = Array.from({ length: 90 }, (_, index) => {
    const part = (step: number) => (index * step + seed * 331) % side;
    return `<circle cx="${part(397)}" cy="${part(211)}" r="${20 + (part(97) % 160)}" fill="hsl(${part(61) % 360} 70% 55%)" fill-opacity="0.7"/>`;
  });
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${side}" height="${side}"><rect width="100%" height="100%" fill="#203050"/>${shapes.join("")}</svg>`;
  const noise = { type: "gaussian", mean: 128, sigma: 12 } as const;
  const grain = sharp({
    create: { width: side, height: side, channels: 3, background: "#000", noise },
  });
  return await sharp(Buffer.from(svg))
    .composite([{ input: await grain.png().toBuffer(), blend: "soft-light" }])
    .removeAlpha()
    .png()
    .toBuffer();
}

async function mintTokens(): Promise<void> {
  const { client, catchUp, db } = market.book;
  await client.writeContract({
    ...{ address: contracts.punks, abi: collectionAbi, account: accounts.alice, chain: null },
    functionName: "mintBatch",
    args: [accounts.alice.address, firstId, count],
  });
  await catchUp();
  const described = Array.from({ length: Number(count) }, (_, index) => firstId + BigInt(index));
  await appendObservations(
    db,
    described.map((tokenId) =>
      tokenMetadataFetched(
        { chainId, contract: contracts.punks, tokenId, recordedAt: new Date() },
        `ipfs://punks/${tokenId}`,
        {
          name: `Punk ${tokenId}`,
          description: null,
          image: tokenId === withoutImage ? null : `ipfs://punks/${tokenId}.png`,
          animation: tokenId === withoutImage - 1n ? "https://images.example.test/song.mp3" : null,
          contentType: null,
          attributes: [],
        },
      ),
    ),
  );
  await catchUp();
}

/** Opens a page and everything on it; what was loaded. */
async function load(path: string, options: BrowserContextOptions = {}) {
  const context = await testBrowser.browser.newContext({
    viewport: { width: 1280, height: 900 },
    ...options,
  });
  const { page, complaints } = await openPage(context);
  const loaded: { url: string; bytes: number; type: string }[] = [];
  page.on("requestfinished", async (request) => {
    const { responseBodySize, responseHeadersSize } = await request.sizes();
    const response = await request.response();
    const type = response?.headers()["content-type"] ?? "";
    loaded.push({ url: request.url(), bytes: responseBodySize + responseHeadersSize, type });
  });
  await page.goto(market.v1.url + path);
  await everyPicture(page);
  return { page, complaints, loaded, close: () => context.close() };
}

async function everyPicture(page: Page): Promise<void> {
  const images = page.locator("main img");
  for (let index = 0; index < (await images.count()); index += 6)
    await images.nth(index).scrollIntoViewIfNeeded();
  await page.evaluate("scrollTo(0, document.body.scrollHeight)");
  await expect
    .poll(async () => z.number().parse(await page.evaluate(countMissing)), { interval: 500 })
    .toBe(0);
}

const countMissing = `[...document.querySelectorAll("main img")].filter((one) => !one.complete || one.naturalWidth === 0).length`;

const collection = `/collections/punks?chainId=${chainId}`;

describe("a collection of 48 pictures of 3 MB each", () => {
  it("weighs less than 900 kB, and no other site learns who looks at it", async () => {
    const { page, complaints, loaded, close } = await load(collection);
    expect(await page.locator(".card img").count()).toBe(48);
    const known = await page.locator('.card img[src*="?v="]').count();
    expect(known).toBeGreaterThan(40);
    const shown = loaded.filter(({ url, type }) => /\/384/.test(url) && type === "image/avif");
    expect(shown).toHaveLength(known);
    const total = loaded.reduce((sum, { bytes }) => sum + bytes, 0);
    process.stdout.write(`48 pictures of 3 MB: ${Math.round(total / 1_000)} kB\n`);
    expect(total).toBeLessThan(900_000);
    expect(loaded.filter(({ url }) => !url.startsWith(market.v1.url))).toEqual([]);
    expect(complaints).toEqual([]);
    await keepPicture(page, "pictures-collection");
    await close();
  });

  it("is loaded as it is seen", async () => {
    const context = await testBrowser.browser.newContext({ viewport: { width: 390, height: 844 } });
    const { page } = await openPage(context);
    await page.goto(market.v1.url + collection, { waitUntil: "networkidle" });
    const begun = await page.evaluate(
      `[...document.querySelectorAll(".card img")].filter((one) => one.currentSrc !== "" && one.complete && one.naturalWidth > 0).length`,
    );
    expect(begun).toBeLessThan(40);
    await context.close();
  });
});

describe("pictures", () => {
  it.each([
    ["activity", `/activity?chainId=${chainId}`],
    ["listings", `/wallets/${accounts.alice.address}?chainId=${chainId}&view=listings`],
    ["offers", `/wallets/${accounts.carol.address}?chainId=${chainId}&view=offers`],
  ])("stand in rows: %s", async (_name, path) => {
    const { page, loaded, complaints, close } = await load(path);
    const rows = await page.locator("tbody tr").count();
    expect(rows).toBeGreaterThan(0);
    expect(await page.locator("tbody tr img").count()).toBe(rows);
    expect(loaded.some(({ url }) => url.endsWith("/96"))).toBe(true);
    expect(complaints).toEqual([]);
    await close();
  });

  it("stand on the pages of a sale and a listing", async () => {
    for (const path of [`/sales/${market.ids.saleId}`, `/listings/${market.ids.ask}`]) {
      const { page, close } = await load(`${path}?chainId=${chainId}`);
      expect(await page.locator(".subject img").count()).toBe(1);
      await close();
    }
  });

  it("of a token that has none are drawn, the same each time, and the page says so", async () => {
    const { page, loaded, close } = await load(
      `/collections/${contracts.punks}/tokens/${withoutImage}?chainId=${chainId}`,
    );
    await page.getByText("this one is drawn from its id").waitFor();
    const [drawn] = loaded.filter(({ url }) => url.includes("/pictures/"));
    expect(drawn?.type).toContain("image/svg+xml");
    const again = await Promise.all([1, 2].map(async () => (await fetch(drawn?.url ?? "")).text()));
    expect(again[0]).toBe(again[1]);
    await keepPicture(page, "pictures-drawn");
    await close();
  });

  it("nothing that sounds is loaded before somebody asks for it", async () => {
    const { page, loaded, close } = await load(
      `/collections/${contracts.punks}/tokens/${withoutImage - 1n}?chainId=${chainId}`,
    );
    expect(await page.locator("audio[preload=none]").count()).toBe(1);
    expect(loaded.filter(({ url }) => !url.startsWith(market.v1.url))).toEqual([]);
    await close();
  });
});

describe("the address of a picture", () => {
  const path = `/pictures/${chainId}/${contracts.punks}/1/384`;
  const ask = (rest: string, headers: Record<string, string> = {}) =>
    fetch(market.v1.url + rest, { headers });

  it("is the content's where the page knows it, and is then kept for ever", async () => {
    const html = await (await ask(collection, { accept: "text/html" })).text();
    const [, versioned = ""] = new RegExp(`"(${path}\\?v=[\\w-]+)`).exec(html) ?? [];
    const found = await ask(versioned);
    expect(found.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    for (const other of [path, `${path}?v=other`]) {
      const { headers } = await ask(other);
      expect(headers.get("cache-control")).toBe("public, max-age=3600");
      expect(headers.get("etag")).toBe(found.headers.get("etag"));
    }
    const etag = found.headers.get("etag") ?? "";
    expect((await ask(path, { "if-none-match": etag })).status).toBe(304);
  });

  it("answers in the form that the browser takes", async () => {
    const typeOf = async (accept: string) => {
      const { headers } = await ask(path, { accept });
      expect(headers.get("vary")).toMatch(/\baccept\b/i);
      return headers.get("content-type");
    };
    expect(await typeOf("image/avif,image/webp,image/*,*/*;q=0.8")).toBe("image/avif");
    expect(await typeOf("image/webp,image/*,*/*;q=0.8")).toBe("image/webp");
    expect(await typeOf("*/*")).toBe("image/webp");
    expect(await typeOf("image/avif;q=0,image/webp")).toBe("image/webp");
  });

  it("may run nothing where it is opened by itself", async () => {
    const { headers } = await ask(`/pictures/${chainId}/${contracts.punks}/${withoutImage}/96`);
    expect(headers.get("content-security-policy")).toContain("sandbox");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("cache-control")).toBe("public, max-age=300");
  });

  it.each([
    `/pictures/${chainId}/${contracts.punks}/1/100`,
    `/pictures/5/${contracts.punks}/1/96`,
    `/pictures/${chainId}/punks/1/96`,
    `/pictures/${chainId}/${contracts.punks}/one/96`,
    `/pictures/${chainId}/${contracts.punks}/1/96/x`,
  ])("of another kind is not found: %s", async (wrong) => {
    expect((await ask(wrong)).status).toBe(404);
  });

  it("fetches nothing but what the metadata of a token names", async () => {
    const asked = gateway.asked.length;
    const unknown = `/pictures/${chainId}/0x${"9".repeat(40)}/1/96?url=http://127.0.0.1/x`;
    const { status, headers } = await ask(unknown);
    expect([status, headers.get("content-type")]).toEqual([200, "image/svg+xml"]);
    expect(gateway.asked).toHaveLength(asked);
  });
});
