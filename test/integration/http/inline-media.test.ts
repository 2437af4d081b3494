import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import type { TokenMetadata } from "#projections/domain/metadata/token-metadata.ts";
import { contractMetadataFetched, tokenMetadataFetched } from "#projections/metadata/facts.ts";
import { block } from "#test/support/database/given.ts";
import { openLimitedApi } from "#test/support/http/limited-api.ts";
import {
  type NftDataFixture,
  openNftDataApp,
  openNftDataFixture,
} from "#test/support/http/nft-data-fixture.ts";
import { serve } from "#test/support/http/openapi.ts";
import { nfts } from "#test/support/market-data/token-market.ts";
import { receivedAt, transferred } from "#test/support/orders/order-facts.ts";

const svg = '<svg xmlns="http://www.w3.org/2000/svg"><style>a{fill:red}</style></svg>';
const svgUri = `data:image/svg+xml;base64,${Buffer.from(svg).toString("base64")}`;
const cid = `Qm${"a".repeat(44)}`;
const audio = Buffer.from([0, 1, 2, 255]);
const [inline, remote, hostile] = [701n, 702n, 703n];
const site = "https://api.example.test";
const { address } = nfts.punks;

let stage: NftDataFixture;
beforeAll(async () => {
  stage = await openNftDataFixture();
  await stage.playMarket(7, 10);
  const subject = { chainId: 1, contract: address, recordedAt: new Date(Number(receivedAt) * 1e3) };
  const nothing = { name: "x", description: null, contentType: null, attributes: [] };
  const described = (tokenId: bigint, uri: string, found: Partial<TokenMetadata>) =>
    tokenMetadataFetched({ ...subject, tokenId }, uri, {
      ...nothing,
      image: null,
      animation: null,
      ...found,
    });
  const html = "data:text/html,<script>alert(1)</script>";
  await stage.happens(
    ...[inline, remote, hostile].map((id, place) => minted(id, place)),
    described(inline, "data:application/json,%7B%7D", {
      image: svgUri,
      animation: `data:audio/wav;base64,${audio.toString("base64")}`,
    }),
    described(remote, `ipfs://${cid}/1`, {
      image: `ipfs://${cid}/1 a.png`,
      animation: `ar://${"b".repeat(43)}/x`,
    }),
    described(hostile, html, { image: "data:image/svg+xml\r\nx: y,<svg/>", animation: null }),
    contractMetadataFetched(subject, null, {
      ...{ name: "Punks", description: null, website: null, twitter: null, discord: null },
      image: svgUri,
      banner: `ipfs://${cid}`,
    }),
  );
});
afterAll(() => stage?.close());

const minted = (tokenId: bigint, place: number) =>
  transferred({ contract: address, tokenId, to: owner }, { at: block(1, 5_000), log: place });
const owner = "0x00000000000000000000000000000000000000aa";

const Row = z.looseObject({ media: z.record(z.string(), z.string().nullable()) });
const Rows = z.object({ data: z.array(z.unknown()) });
const ids = [inline, remote, hostile].join();

async function v1Token(tokenId: bigint) {
  const { data } = Rows.parse(
    await stage.v1(`/collections/${address}/tokens?token_ids=${tokenId}`),
  );
  return z.looseObject({ ...Row.shape, tokenUri: z.string() }).parse(data[0]);
}

describe("rows of lists", () => {
  const wallet = `wallets/${owner}/tokens`;
  const lists = [
    `/collections/${address}/tokens?token_ids=${ids}`,
    `/${wallet}`,
    "/collections",
    "/activity",
    "/sales",
    "/listings",
    "/bids",
  ];
  const accountLists = [
    `/api/collections/${address}/tokens?limit=100`,
    `/api/${wallet}`,
    "/api/collections",
  ];

  it("never hold a document", async () => {
    for (const path of lists) {
      const answer = await stage.v1(path);
      expect(Rows.safeParse(answer).success, path).toBe(true);
      expect(JSON.stringify(answer), path).not.toContain('"data:');
    }
    for (const path of accountLists) {
      expect(JSON.stringify(await stage.list(path)), path).not.toContain('"data:');
    }
    const batches = [
      await stage.post("/api/batch/wallets", { addresses: [owner] }),
      await stage.post("/api/batch/collections", { addresses: [address] }),
    ];
    for (const { status, body } of batches) {
      expect(status).toBe(200);
      expect(JSON.stringify(body)).not.toContain('"data:');
    }
  });

  it("link to what is stored inline, and to gateways", async () => {
    const at = `${site}/v1/collections/${address}/tokens/${inline}`;
    expect(await v1Token(inline)).toMatchObject({
      media: { image: `${at}/image?chainId=1`, imageUrl: `${at}/image?chainId=1` },
      tokenUri: `${at}/metadata?chainId=1`,
    });
    expect((await v1Token(remote)).media).toMatchObject({
      image: `ipfs://${cid}/1 a.png`,
      imageUrl: `https://ipfs.io/ipfs/${cid}/1%20a.png`,
      animation: `ar://${"b".repeat(43)}/x`,
      animationUrl: `https://arweave.net/${"b".repeat(43)}/x`,
    });
    const { data } = Rows.parse(await stage.v1("/collections?search=punks"));
    expect(Row.parse(data[0]).media).toEqual({
      image: `${site}/v1/collections/${address}/image?chainId=1`,
      imageUrl: `${site}/v1/collections/${address}/image?chainId=1`,
      banner: `ipfs://${cid}`,
      bannerUrl: `https://ipfs.io/ipfs/${cid}`,
    });
  });
});

it("a single row keeps the document, beside the link", async () => {
  const answer = z
    .object({ data: Row })
    .parse(await stage.v1(`/collections/${address}/tokens/${inline}`));
  expect(answer.data.media).toMatchObject({
    image: svgUri,
    imageUrl: `${site}/v1/collections/${address}/tokens/${inline}/image?chainId=1`,
  });
  const own = z
    .object({ media: z.record(z.string(), z.unknown()) })
    .parse(await stage.data(`/api/collections/${address}/tokens/${inline}`));
  expect(own.media).toMatchObject({ image: svgUri });
});

describe("the document behind a link", () => {
  const ask = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${stage.api.url}/v1/collections/${path}`, { headers });

  it("is sent as it is, and may run nothing", async () => {
    const answer = await ask(`${address}/tokens/${inline}/image`);
    expect(await answer.text()).toBe(svg);
    expect(answer.headers.get("content-type")).toBe("image/svg+xml");
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    const policy = answer.headers.get("content-security-policy");
    expect(policy).toMatch(/^default-src 'none';/);
    expect(policy).toMatch(/; sandbox$/);
    expect(policy).not.toContain("script");
    expect(answer.headers.get("cache-control")).toBe("public, max-age=3600");
    const etag = answer.headers.get("etag") ?? "";
    const again = await ask(`${address}/tokens/${inline}/image`, { "if-none-match": etag });
    expect(again.status).toBe(304);
  });

  it("is kept by caches apart for who takes it compressed", async () => {
    for (const part of ["image", "animation"]) {
      const answer = await ask(`${address}/tokens/${inline}/${part}`);
      expect(answer.headers.get("vary")?.toLowerCase()).toContain("accept-encoding");
    }
  });

  it("has the bytes and the type that the chain holds", async () => {
    const sound = await ask(`${address}/tokens/${inline}/animation`);
    expect(Buffer.from(await sound.arrayBuffer())).toEqual(audio);
    expect(sound.headers.get("content-type")).toBe("audio/wav");
    const json = await ask(`${address}/tokens/${inline}/metadata`);
    expect(await json.text()).toBe("{}");
    expect(await (await ask(`${address}/image`)).text()).toBe(svg);
    expect(await (await ask("punks/image")).text()).toBe(svg);
    expect((await ask(`punks/tokens/${inline}/image`)).status).toBe(200);
  });

  it("is sent as bytes where its type is not one that a page shows", async () => {
    for (const part of ["metadata", "image"]) {
      const answer = await ask(`${address}/tokens/${hostile}/${part}`);
      expect([part, answer.headers.get("content-type")]).toEqual([
        part,
        "application/octet-stream",
      ]);
    }
  });

  it("is 404 where there is none", async () => {
    const none = [
      `${address}/tokens/${remote}/image`,
      `${address}/tokens/99999/image`,
      `${address}/banner`,
      "nobody/image",
    ];
    for (const path of none) expect([path, (await ask(path)).status]).toEqual([path, 404]);
  });

  it("is as documented, whatever is asked", async () => {
    const part = fc.constantFrom("image", "animation", "metadata");
    const id = fc.constantFrom(inline, remote, hostile, 1n);
    const api = await serve(openNftDataApp(stage.db, {}));
    await fc.assert(
      fc.asyncProperty(part, id, async (asked, tokenId) => {
        const { status } = await api.get(`/v1/collections/${address}/tokens/${tokenId}/${asked}`);
        expect([200, 404]).toContain(status);
      }),
      { numRuns: 20 },
    );
    await api.close();
  });
});

it("documents are limited apart from requests", async () => {
  const api = await openLimitedApi({ url: stage.url, limits: { keyless: 1 } });
  const ask = async (path: string) =>
    (await fetch(`${api.url}/v1/collections${path}?chainId=33139`)).status;
  expect([await ask(""), await ask("")]).toEqual([200, 429]);
  const statuses: number[] = [];
  for (let image = 0; image < 21; image += 1) statuses.push(await ask("/nobody/image"));
  expect(statuses).toEqual([...Array.from({ length: 20 }, () => 404), 429]);
  await api.close();
});
