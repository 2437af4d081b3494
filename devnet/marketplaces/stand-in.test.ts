import { recoverAddress } from "viem";
import { afterEach, describe, expect, it } from "vitest";
import {
  bulkOrderHash,
  exchangeDomain,
  hashPair,
  orderHash,
  signingDigest,
} from "#projections/domain/seaport/order-hash.ts";
import { accounts } from "../accounts.ts";
import { contracts } from "../contracts/addresses.ts";
import { openPartnerB } from "./magiceden/magiceden.ts";
import { openPartnerA } from "./opensea/opensea.ts";
import { proposeFill } from "./propose-fill.fixture.ts";
import type { StandIn } from "./stand-in.ts";

const open: StandIn[] = [];
afterEach(async () => {
  for (const standIn of open.splice(0)) await standIn.close();
});

async function openWithListings(count = 4): Promise<StandIn> {
  const partner = await openPartnerA();
  open.push(partner);
  await partner.showMany({ chainId: 1, contract: contracts.punks, count });
  return partner;
}

const list = "/api/v2/listings/collection/punks/all?limit=200";

type Told = {
  listings: { order_hash: string; orderHash: `0x${string}` }[];
  next?: string;
};

async function send(url: string, method: string, body?: unknown) {
  const response = await fetch(url, { method, ...(body ? { body: JSON.stringify(body) } : {}) });
  return { status: response.status, body: (await response.json()) as Told };
}

describe("a stand-in with faults", () => {
  it("answers late", async () => {
    const partner = await openWithListings();
    partner.fail({ slowMs: 150 });
    const before = performance.now();

    await send(partner.url + list, "GET");

    expect(performance.now() - before).toBeGreaterThanOrEqual(149);
  });

  it("refuses so many requests with a time to wait, then answers again", async () => {
    const partner = await openWithListings();
    partner.fail({ limited: { retryAfterSeconds: 7, requests: 2 } });

    const answers = [];
    for (let count = 0; count < 3; count++) answers.push(await fetch(partner.url + list));

    expect(answers.map((answer) => [answer.status, answer.headers.get("retry-after")])).toEqual([
      [429, "7"],
      [429, "7"],
      [200, null],
    ]);
    expect(partner.requests().map(({ status }) => status)).toEqual([429, 429, 200]);
  });

  it("breaks connections or is unavailable, and comes back", async () => {
    const partner = await openWithListings();
    partner.fail({ down: "reset" });
    await expect(fetch(partner.url + list)).rejects.toThrow();
    partner.fail({ down: "refusing" });
    expect((await fetch(partner.url + list)).status).toBe(503);
    partner.heal();

    expect((await fetch(partner.url + list)).status).toBe(200);
    expect(partner.requests().map(({ status }) => status)).toEqual([0, 503, 200]);
  });

  it("sends what cannot be believed", async () => {
    const partner = await openWithListings(8);
    const { body: right } = await send(partner.url + list, "GET");

    partner.fail({ wrong: ["hash", "price"] });
    const { body: other } = await send(partner.url + list, "GET");
    partner.fail({ wrong: ["malformed"] });
    const { body: malformed } = await send(partner.url + list, "GET");
    partner.fail({ wrong: ["truncated"] });
    const truncated = await (await fetch(partner.url + list)).text();

    const hashes = (body: Told) => body.listings.map((entry) => entry?.order_hash);
    expect(hashes(other).some((hash) => hashes(right).includes(hash))).toBe(false);
    expect(malformed.listings.filter((_, index) => index % 2 === 1)).toEqual(
      right.listings.filter((_, index) => index % 2 === 1),
    );
    expect(malformed.listings[0]).toBeNull();
    expect(() => JSON.parse(truncated)).toThrow();
  });

  it("hands out the data of a dearer order in the listed one's place", async () => {
    const partner = await openWithListings(1);
    const [shown] = partner.book.all();
    if (shown === undefined) throw new Error("There is no listing");
    const asked = { url: partner.url, chain: "ethereum", orderHash: shown.orderHash };
    const valueTold = async () => {
      const { body } = await proposeFill({ ...asked, buyer: accounts.bob.address });
      return BigInt(body.fulfillment_data.transaction.value);
    };
    const right = await valueTold();

    partner.fail({ wrong: ["substituted"] });

    expect(right).toBe(shown.unitPriceWei);
    expect(await valueTold()).toBeGreaterThan(right);
  });
});

describe("a stand-in in another process", () => {
  it("accepts by HTTP what its handle accepts in the process, without errors", async () => {
    const partner = await openWithListings(1);
    const at = (path: string) => `${partner.url}/_control${path}`;

    await send(at("/faults"), "PATCH", { down: "reset", clockOffsetSeconds: 60 });
    await send(at("/listings/bulk"), "POST", {
      ...{ chainId: 33139, contract: contracts.punks, count: 2, firstTokenId: "50" },
    });
    const { body: shown } = await send(at("/listings"), "GET");
    const hash = shown.listings.at(-1)?.orderHash;
    const withdrawn = await send(at("/listings/withdraw"), "POST", {
      ...{ chainId: 33139, orderHash: hash },
    });
    await expect(fetch(partner.url + list)).rejects.toThrow();

    expect(withdrawn.body).toEqual({ withdrawn: true });
    expect((await send(at(""), "GET")).body).toMatchObject({
      faults: { down: "reset", slowMs: 0, clockOffsetSeconds: 60 },
      requests: 1,
      listings: { active: 2, withdrawn: 1 },
    });
    await send(at("/faults"), "DELETE");
    expect((await fetch(partner.url + list)).status).toBe(200);
    expect((await send(at("/faults"), "PATCH", { down: "sometimes" })).status).toBe(400);
    expect((await send(at("/nothing"), "GET")).status).toBe(404);
  });
});

describe("many listings at once", () => {
  it("are orders with the hashes and signatures of orders made one by one", async () => {
    const partner = await openPartnerB();
    open.push(partner);
    await partner.showMany({ chainId: 1, contract: contracts.punks, count: 300 });

    const shown = [...partner.book.all()];
    expect(new Set(shown.map(({ tokenId }) => tokenId)).size).toBe(300);
    for (const { order, orderHash: hash } of [shown[0], shown[3], shown[299]].filter(
      (one) => one !== undefined,
    )) {
      expect(hash).toBe(orderHash(order.components));
      const { base, height, root } = takeApart(order.signature, hash);
      const digest = signingDigest(bulkOrderHash(root, height), exchangeDomain(1));
      expect(await recoverAddress({ hash: digest, signature: base })).toBe(accounts.grace.address);
    }
  });

  it("come by the thousand, page by page", async () => {
    const partner = await openWithListings(5_000);
    let pages = 0;
    for (let next: string | undefined = ""; next !== undefined; pages++) {
      const { body }: { body: Told } = await send(`${partner.url}${list}&next=${next}`, "GET");
      next = body.next;
    }

    expect(pages).toBe(25);
  });
});

/** Signature, height and root of a bulk signature. */
function takeApart(signature: `0x${string}`, leaf: `0x${string}`) {
  const base = signature.slice(0, 132) as `0x${string}`;
  const index = Number.parseInt(signature.slice(132, 138), 16);
  const proof = signature.slice(138).match(/.{64}/g) ?? [];
  const root = proof.reduce<`0x${string}`>(
    (node, sibling, level) =>
      (index >> level) % 2 === 0 ? hashPair(node, `0x${sibling}`) : hashPair(`0x${sibling}`, node),
    leaf,
  );
  return { base, height: proof.length, root };
}
