import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { pino } from "pino";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { drawCardTexts } from "#api/pages/sharing/drawn-card.ts";
import { drawPicture } from "#api/pictures/drawn-picture.ts";
import { openPictures, type Pictures } from "#api/pictures/open-pictures.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import { decode } from "#test/support/http/page-tables.ts";
import { baseUrl, openServedMarket, type ServedMarket } from "#test/support/http/served-market.ts";
import { chainId } from "#test/support/http/served-market-data.ts";
import { runsOf } from "#test/support/thoroughness.ts";

let directory: string;
let pictures: Pictures;
let market: ServedMarket;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "cards-"));
  pictures = openPictures({
    directory,
    maxBytes: 100_000_000,
    ipfsGateways: ["http://127.0.0.1:9"],
    arweaveGateway: "http://127.0.0.1:9",
    logger: pino({ level: "silent" }),
    waitMs: 120_000,
  });
  market = await openServedMarket({ hasPages: true, pictures });
});
afterAll(async () => {
  await market?.close();
  await pictures?.close();
  await rm(directory, { recursive: true, force: true });
});

describe("the card that is drawn of a name", () => {
  let caller = 0;
  /** Its pixels, four bytes each. */
  async function draw(name: string): Promise<Buffer> {
    const texts = { name, about: name, figures: [name, name, name, name, name], place: "" };
    const { bytes: picture } = drawPicture(contracts.punks, "1");
    caller += 1;
    const card = await pictures.card({
      ...{ svg: drawCardTexts(texts), picture, contract: "1 0xaa", caller: `${caller}` },
    });
    if (typeof card === "string") throw new Error(`${card}: ${JSON.stringify(name)}`);
    expect(card.type).toBe("image/png");
    const about = await sharp(card.bytes).metadata();
    expect([about.format, about.width, about.height]).toEqual(["png", 1200, 630]);
    return await sharp(card.bytes).ensureAlpha().raw().toBuffer();
  }

  /** Columns of pixels in which two cards differ. */
  function columnsOf(one: Buffer, other: Buffer): { left: number; right: number } | null {
    let [left, right] = [1200, -1];
    for (let index = 0; index < one.length; index += 4) {
      if (one.readInt32LE(index) === other.readInt32LE(index)) continue;
      const column = (index / 4) % 1200;
      left = Math.min(left, column);
      right = Math.max(right, column);
    }
    return right < 0 ? null : { left, right };
  }

  const hostile = [
    '</text></svg><rect width="1200" height="630" fill="red"/>',
    '"><image href="file:///etc/passwd" width="1200" height="630"/>',
    "&lt;!ENTITY x SYSTEM 'file:///etc/passwd'> &#0; ]]> <!-- ",
    "\ud800 lone \udfff",
    "\ufffe\uffff\u0000\u0007\u001b[31m",
    "\u202egnp.exe\u2066 \u200f",
    `H${"\u0301".repeat(4_000)}`,
    "👩‍👩‍👧‍👦🏴‍☠️".repeat(400),
    "a".repeat(10_000),
    "שלום עולם ארוך מאוד ".repeat(40),
    "مرحبا بالعالم ".repeat(60),
    "漢字".repeat(300),
    " \t\n ",
    "",
  ];
  const anyName = fc.oneof(
    fc.constantFrom(...hostile),
    fc.string({ unit: "binary", maxLength: 300 }),
    fc.string({ unit: "grapheme", maxLength: 200 }),
    fc.tuple(fc.constantFrom(...hostile), fc.constantFrom(...hostile)).map((two) => two.join("")),
  );

  it("is a PNG of 1200 by 630, and the name stays in its column, whatever it is", async () => {
    const empty = await draw("");
    for (const name of hostile) await check(name);
    await fc.assert(fc.asyncProperty(anyName, check), { numRuns: runsOf(400, 25) });

    async function check(name: string) {
      const columns = columnsOf(empty, await draw(name));
      if (columns === null) return;
      expect(columns.left, JSON.stringify(name)).toBeGreaterThanOrEqual(628);
      expect(columns.right, JSON.stringify(name)).toBeLessThan(1122);
    }
  });

  it("shows the name: two names make two cards, one name the same one", async () => {
    const [one, other, again] = [await draw("Punk 1"), await draw("Punk 2"), await draw("Punk 1")];
    expect(columnsOf(one, other)).not.toBeNull();
    expect(columnsOf(one, again)).toBeNull();
  });
});

describe("a page's card", () => {
  const open = async (path: string) => {
    const response = await fetch(market.v1.url + path, { redirect: "manual" });
    return { response, bytes: Buffer.from(await response.arrayBuffer()) };
  };
  const metaIn = (text: string, name: string) =>
    [...text.matchAll(new RegExp(`<meta (?:property|name)="${name}" content="([^"]*)">`, "g"))].map(
      ([, found]) => decode(found ?? ""),
    );
  async function tagsOf(path: string) {
    const { bytes } = await open(path);
    const text = `${bytes}`;
    const [image = ""] = metaIn(text, "og:image");
    expect(image.startsWith(`${baseUrl}/cards/`), image).toBe(true);
    expect(metaIn(text, "twitter:card")).toEqual(["summary_large_image"]);
    expect(metaIn(text, "og:image:type")).toEqual(["image/png"]);
    expect(metaIn(text, "og:image:width")).toEqual(["1200"]);
    expect(metaIn(text, "og:image:height")).toEqual(["630"]);
    return { image: image.slice(baseUrl.length), alt: metaIn(text, "og:image:alt") };
  }
  const token = (tokenId: number) =>
    `/collections/${contracts.punks}/tokens/${tokenId}?chainId=${chainId}`;

  it("is named by collections, tokens, listings and offers, and is a PNG of that size", async () => {
    const { ids } = market;
    const paths = [
      `/collections/punks?chainId=${chainId}`,
      `/collections/punks?chainId=${chainId}&view=prices`,
      token(1),
      `/listings/${ids.ask}?chainId=${chainId}`,
      `/bids/${ids.bid}?chainId=${chainId}`,
    ];
    for (const path of paths) {
      const { image, alt } = await tagsOf(path);
      expect(alt, path).toHaveLength(1);
      const { response, bytes } = await open(image);
      expect([response.status, response.headers.get("content-type")], image).toEqual([
        200,
        "image/png",
      ]);
      const { format, width, height } = await sharp(bytes).metadata();
      expect([format, width, height], path).toEqual(["png", 1200, 630]);
      expect(bytes.byteLength).toBeLessThan(1_000_000);
    }
  });

  it("has another address when the price changes, and other bytes", async () => {
    const Listed = z.object({
      data: z.array(z.object({ askId: z.string(), tokenId: z.string() })),
    });
    const { body } = await market.v1.get(
      `/v1/listings?chainId=${chainId}&collection=${contracts.punks}&marketplace=native`,
    );
    const [listed] = Listed.parse(body).data;
    const path = token(Number(listed?.tokenId));
    const before = await tagsOf(path);
    expect(await tagsOf(path)).toEqual(before);
    const old = await open(before.image);
    const { actors, catchUp } = market.book;
    await actors.alice.incrementsCounter();
    await catchUp();
    const after = await tagsOf(path);
    expect(after.image).not.toBe(before.image);
    const now = await open(after.image);
    expect(now.bytes.equals(old.bytes)).toBe(false);
    // The old address has what is true now, and is not kept for ever.
    const stale = await open(before.image);
    expect(stale.bytes.equals(now.bytes)).toBe(true);
    expect(stale.response.headers.get("cache-control")).not.toContain("immutable");
  });

  it.each([
    "/cards/collections/nobody",
    "/cards/collections/punks?chainId=5",
    `/cards/collections/${contracts.punks}/tokens/one`,
    `/cards/listings/nothing`,
    "/cards/wallets/0x00000000000000000000000000000000000000aa",
  ])("of what is not shown is refused: %s", async (path) => {
    const { response } = await open(path);
    expect([404, 422]).toContain(response.status);
  });
});
