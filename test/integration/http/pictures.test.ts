import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import type { RequestListener } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import sharp from "sharp";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openPictureDecoder, type PictureDecoder } from "#api/pictures/decoder.ts";
import { openPictures, type Pictures } from "#api/pictures/open-pictures.ts";
import { type DocumentHost, openDocumentHost } from "#test/support/http/document-host.ts";

let gateway: DocumentHost;
let directory: string;
let decoder: PictureDecoder;
let pictures: Pictures;
let nowMs = Date.parse("2026-01-01");

beforeAll(async () => {
  gateway = await openDocumentHost();
});
afterAll(() => gateway.close());

const open = (more: { maxBytes?: number; waitMs?: number } = {}) =>
  openPictures({
    directory,
    maxBytes: 100_000_000,
    ipfsGateways: [gateway.origin],
    arweaveGateway: gateway.origin,
    logger: pino({ level: "silent" }),
    decoder,
    now: () => nowMs,
    waitMs: 120_000,
    ...more,
  });

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "pictures-"));
  gateway.asked.length = 0;
  decoder = openPictureDecoder();
  pictures = open();
});
afterEach(async () => {
  await pictures.close();
  await rm(directory, { recursive: true });
});

const cid = `Qm${"a".repeat(44)}`;
const uriOf = (name: string) => `ipfs://${cid}/${name}`;
const asked = { width: 384, format: "webp", caller: "192.0.2.1", contract: "1 0xaa" } as const;

const sends =
  (bytes: Uint8Array | string, type = "image/png"): RequestListener =>
  (_request, response) =>
    response.writeHead(200, { "content-type": type }).end(bytes);

const inline = (svg: string) => `data:image/svg+xml;base64,${Buffer.from(svg).toString("base64")}`;
const svgOf = (content: string, more = 'viewBox="0 0 24 24"') =>
  `<svg xmlns="http://www.w3.org/2000/svg" ${more}>${content}</svg>`;

/** A picture with grain, as photographs and generative art have it. */
const grainy = (width: number, height = width) =>
  sharp({
    create: {
      ...{ width, height, channels: 3, background: "#705030" },
      noise: { type: "gaussian", mean: 128, sigma: 30 },
    },
  });

async function shown(uri: string, more: Partial<Parameters<Pictures["get"]>[0]> = {}) {
  const found = await pictures.get({ ...asked, uri, ...more });
  if (typeof found === "string") return found;
  const { format, width, height } = await sharp(found.bytes).metadata();
  return { type: found.type, format, width, height, bytes: found.bytes };
}

describe("a picture", () => {
  it.each([96, 384, 960] as const)(
    "is as wide as it is asked for, and keeps its form: %i",
    async (width) => {
      gateway.answers(sends(await grainy(1_600, 800).png().toBuffer()));
      for (const format of ["webp", "avif"] as const) {
        const found = await shown(uriOf("1.png"), { width, format });
        expect(found).toMatchObject({ type: `image/${format}`, width, height: width / 2 });
      }
      expect(gateway.asked).toEqual([`/ipfs/${cid}/1.png`]);
    },
  );

  it("is fetched and decoded once for all who ask at the same time, and read from the disk later", async () => {
    gateway.answers(sends(await grainy(800).png().toBuffer()));
    const [first, second] = await Promise.all([shown(uriOf("1.png")), shown(uriOf("1.png"))]);
    expect(second).toEqual(first);
    expect(gateway.asked).toHaveLength(1);
    gateway.answers((_request, response) => response.writeHead(404).end());
    await pictures.close();
    pictures = open();
    expect(await shown(uriOf("1.png"))).toEqual(first);
    expect(gateway.asked).toHaveLength(1);
  });

  it.each(["jpeg", "png", "webp", "avif", "gif"] as const)(
    "may be %s, whatever its host calls it",
    async (format) => {
      gateway.answers(
        sends(await grainy(500).toFormat(format).toBuffer(), "application/octet-stream"),
      );
      expect(await shown(uriOf(`a.${format}`))).toMatchObject({ width: 384, height: 384 });
    },
  );

  it("that moves stands still", async () => {
    const frames = await Promise.all([1, 2, 3].map(() => grainy(400).png().toBuffer()));
    const animated = await sharp(frames, { join: { animated: true } })
      .gif()
      .toBuffer();
    expect((await sharp(animated, { pages: -1 }).metadata()).pages).toBe(3);
    gateway.answers(sends(animated, "image/gif"));
    expect(await shown(uriOf("a.gif"))).toMatchObject({ width: 384, height: 384 });
  });

  it("of few pixels keeps their edges", async () => {
    const pixels = Buffer.from([255, 0, 0, 0, 0, 255, 0, 0, 255, 255, 0, 0]);
    gateway.answers(
      sends(
        await sharp(pixels, { raw: { width: 2, height: 2, channels: 3 } })
          .png()
          .toBuffer(),
      ),
    );
    const found = await shown(uriOf("punk.png"));
    expect(found).toMatchObject({ width: 384, height: 384 });
    const { data } = await sharp(typeof found === "string" ? "" : found.bytes)
      .raw()
      .toBuffer({ resolveWithObject: true });
    const red = (x: number) => data[(100 * 384 + x) * 3] ?? 0;
    expect(red(180)).toBeGreaterThan(200);
    expect(red(204)).toBeLessThan(60);
  });

  it("may be in the URI", async () => {
    expect(await shown(inline(svgOf('<rect width="24" height="24" fill="red"/>')))).toMatchObject({
      type: "image/webp",
      width: 384,
    });
  });

  it("with text is drawn by the browser, which has its fonts", async () => {
    const svg = svgOf('<text y="20">Sword</text>');
    const found = await pictures.get({ ...asked, uri: inline(svg) });
    expect(found).toEqual({ type: "image/svg+xml", bytes: Buffer.from(svg) });
  });

  it("runs no script of an SVG, and loads nothing that it names", async () => {
    const svg = svgOf(
      `<script>fetch("${gateway.origin}/script")</script><image href="${gateway.origin}/x.png" width="24" height="24"/><image href="file:///etc/hostname" width="24" height="24"/>`,
    );
    expect(await shown(inline(svg))).toMatchObject({ type: "image/webp" });
    expect(gateway.asked).toEqual([]);
  });
});

describe("what is no picture", () => {
  const uses = '<use href="#a9"/>';
  const doubled = Array.from(
    { length: 9 },
    (_, index) => `<g id="a${index + 1}">${`<use href="#a${index}"/>`.repeat(10)}</g>`,
  );
  const references = svgOf(
    `<defs><g id="a0"><rect width="1" height="1"/></g>${doubled.join("")}</defs>${uses}`,
  );

  it.each([
    ["a text", Buffer.from("hello")],
    ["nothing", Buffer.alloc(0)],
    ["a page", Buffer.from("<!doctype html><title>gone</title>")],
    ["the beginning of one", Buffer.from("\x89PNG\r\n\x1a\n", "latin1")],
    ["a document of another kind", Buffer.from("%PDF-1.4\n")],
    ["an SVG of 300,000 pixels a side", Buffer.from(svgOf("", 'width="300000" height="300000"'))],
    ["a billion elements", Buffer.from(references)],
  ])("is not shown, nor tried again for a while: %s", async (_what, bytes) => {
    gateway.answers(sends(bytes));
    expect(await shown(uriOf("x"))).toBe("none");
    expect(await shown(uriOf("x"))).toBe("none");
    expect(gateway.asked).toHaveLength(1);
    gateway.answers(sends(await grainy(400).png().toBuffer()));
    nowMs += 11 * 60_000;
    expect(await shown(uriOf("x"))).toMatchObject({ width: 384 });
  });

  it("is a bomb of 256 million pixels: it is refused while the process lives on", async () => {
    const side = 16_000;
    const bomb = await sharp({
      create: { width: side, height: side, channels: 3, background: "#fff" },
    })
      .png()
      .toBuffer();
    expect(bomb.byteLength).toBeLessThan(1_500_000);
    gateway.answers(sends(await grainy(400).png().toBuffer()));
    await shown(uriOf("before"));
    const { processId } = decoder;
    const before = processId();
    gateway.answers(sends(bomb));
    expect(await shown(uriOf("bomb.png"))).toBe("none");
    expect(processId()).toBe(before);
  });

  it.each([
    ["404", (_request, response) => response.writeHead(404).end()],
    ["an empty host", (request) => request.socket.destroy()],
    ["more than 12 MB", sends(Buffer.alloc(13 * 1_048_576))],
    [
      "a redirect to a private address",
      (_request, response) => response.writeHead(302, { location: "https://10.0.0.1/x.png" }).end(),
    ],
    [
      "a redirect to ourselves",
      (_request, response) =>
        response.writeHead(302, { location: `${gateway.origin}/other` }).end(),
    ],
  ] satisfies [string, RequestListener][])("has no picture: %s", async (_what, answer) => {
    gateway.answers(answer);
    expect(await shown(uriOf("x"))).toBe("none");
    expect(gateway.asked).toHaveLength(1);
  });

  it.each([
    "https://127.0.0.1/x.png",
    "https://169.254.169.254/latest",
    "http://example.com/x.png",
    "file:///etc/passwd",
    "javascript:1",
  ])("is never asked for: %s", async (uri) => {
    expect(await shown(uri)).toBe("none");
  });
});

describe("a picture that takes too long", () => {
  const heavy = (index: number) =>
    inline(
      svgOf(
        `<filter id="f" x="-1000" y="-1000" width="20000" height="20000" filterUnits="userSpaceOnUse"><feGaussianBlur stdDeviation="${500 + index}"/><feTurbulence numOctaves="50"/></filter>${'<rect width="24" height="24" filter="url(#f)"/>'.repeat(200)}`,
      ),
    );

  it("ends its process, and no other picture; its contract rests after three", async () => {
    decoder.close();
    decoder = openPictureDecoder({ timeoutMs: 2_500 });
    await pictures.close();
    pictures = open({ waitMs: 60_000 });
    const good = inline(svgOf('<rect width="9" height="9"/>'));
    for (const index of [1, 2, 3]) {
      expect(await shown(heavy(index))).toBe("none");
      expect(decoder.processId()).toBeUndefined();
      expect(await shown(`${good}${" ".repeat(index)}`, { contract: "1 0xbb" })).toMatchObject({
        width: 384,
      });
    }
    const before = performance.now();
    expect(await shown(heavy(4))).toBe("none");
    expect(performance.now() - before).toBeLessThan(1_000);
  });

  it("is not waited for longer than a browser can, and is there later", async () => {
    await pictures.close();
    pictures = open({ waitMs: 50 });
    const bytes = await grainy(400).png().toBuffer();
    let answer = () => {};
    const isAsked = new Promise<void>((resolve) => {
      gateway.answers((_request, response) => {
        answer = () => response.writeHead(200, { "content-type": "image/png" }).end(bytes);
        resolve();
      });
    });
    expect(await shown(uriOf("slow"))).toBe("busy");
    await isAsked;
    answer();
    await expect.poll(() => shown(uriOf("slow"))).toMatchObject({ width: 384 });
    expect(gateway.asked).toHaveLength(1);
  });
});

describe("who asks for many", () => {
  it("waits, and others go on", async () => {
    await pictures.close();
    pictures = open({ waitMs: 20 });
    gateway.answers(() => {});
    const many = Array.from({ length: 300 }, (_, index) => shown(uriOf(`${index}`)));
    expect(new Set(await Promise.all(many))).toEqual(new Set(["busy"]));
    expect(gateway.asked.length).toBeLessThanOrEqual(6);
    expect(await shown(inline(svgOf("<rect/>")), { caller: "192.0.2.2" })).toBe("busy");
  });
});

describe("the disk", () => {
  const sizeOf = async () => {
    const entries = await readdir(directory, { recursive: true, withFileTypes: true });
    const files = entries.filter((one) => one.isFile());
    const sizes = await Promise.all(
      files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size),
    );
    return sizes.reduce((sum, size) => sum + size, 0);
  };

  it("holds no more than its budget, and keeps what was asked for last", async () => {
    await pictures.close();
    const maxBytes = 600_000;
    pictures = open({ maxBytes });
    let made = 0;
    for (let index = 0; index < 60; index += 1) {
      gateway.answers(sends(await grainy(200).png().toBuffer()));
      const found = await shown(uriOf(`${index}`));
      if (typeof found !== "string") made += found.bytes.byteLength;
      expect(await sizeOf()).toBeLessThanOrEqual(maxBytes);
    }
    expect(made).toBeGreaterThan(maxBytes / 2);
    expect(await sizeOf()).toBeGreaterThan(maxBytes / 2);
    gateway.answers((_request, response) => response.writeHead(404).end());
    expect(await shown(uriOf("59"))).toMatchObject({ width: 200 });
    expect(await shown(uriOf("0"))).toBe("none");
  });

  it("that cannot be written keeps no picture, and hides none", async () => {
    await pictures.close();
    const kept = directory;
    directory = join(kept, "file", "below");
    await writeFile(join(kept, "file"), "");
    pictures = open();
    gateway.answers(sends(await grainy(400).png().toBuffer()));
    expect(await shown(uriOf("1"))).toMatchObject({ width: 384 });
    directory = kept;
  });
});
