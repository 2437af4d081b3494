import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import { decode } from "#test/support/http/page-tables.ts";
import { baseUrl, openServedMarket, type ServedMarket } from "#test/support/http/served-market.ts";
import { chainId } from "#test/support/http/served-market-data.ts";

let market: ServedMarket;
beforeAll(async () => {
  market = await openServedMarket({ hasPages: true });
});
afterAll(() => market?.close());

async function open(path: string) {
  const init = { headers: { accept: "text/html" }, redirect: "manual" } as const;
  const answer = await fetch(market.v1.url + path, init);
  const { status, headers } = answer;
  const [location, kept] = [headers.get("location"), headers.get("cache-control")];
  return { status, location, kept, html: await answer.text() };
}

const search = (text: string) => open(`/search?chainId=${chainId}&q=${encodeURIComponent(text)}`);

const suggest = (text: string) =>
  open(`/search/suggestions?chainId=${chainId}&q=${encodeURIComponent(text)}`);
const addressesIn = ({ html }: { html: string }) =>
  [...html.matchAll(/ href="([^"]+)"/g)].map(([, one = ""]) => decode(one));

const { punks } = contracts;
const chain = `?chainId=${chainId}`;
const alice = accounts.alice.address;
const ofPunks = `/collections/punks${chain}`;
const ofPunk = `/collections/${punks}/tokens/2${chain}`;
const ofAlice = `/wallets/${alice.toLowerCase()}${chain}`;

describe("what is searched for and is one thing", () => {
  it.each([
    ["a contract", punks, ofPunks],
    ["a token", `${punks}/2`, ofPunk],
    ["an account", alice, ofAlice],
    ["an ENS name", "alice.eth", ofAlice],
    ["a slug", "PUNKS", ofPunks],
    ["OpenSea's page of a token", `https://opensea.io/item/ethereum/${punks}/2`, ofPunk],
    ["its older one", `https://opensea.io/assets/ethereum/${punks}/2?ref=x`, ofPunk],
    ["Rarible's", `https://rarible.com/ethereum/items/${punks}:2`, ofPunk],
    ["a marketplace's page of a collection", "https://opensea.io/collection/punks", ofPunks],
    ["an explorer's of an account", `https://etherscan.io/address/${alice}#tokentxns`, ofAlice],
  ])("%s leads to its page, and is suggested", async (_, text, path) => {
    expect(await search(text)).toMatchObject({ status: 302, location: path, kept: "no-store" });
    expect((await open(path)).status).toBe(200);
    expect(addressesIn(await suggest(text))).toContain(path);
  });

  it("a hash leads to its transaction or its order, also in a link to an explorer", async () => {
    const { txHash, ask } = market.ids;
    const transaction = `/transactions/${txHash}${chain}`;
    for (const text of [
      txHash,
      txHash.toUpperCase().replace("0X", "0x"),
      `https://etherscan.io/tx/${txHash}`,
    ])
      expect((await search(text)).location).toBe(transaction);
    expect((await search(ask)).location).toBe(`/listings/${ask}${chain}`);
    expect(addressesIn(await suggest(txHash))).toContain(transaction);
    expect(addressesIn(await suggest(ask))).toContain(`/listings/${ask}${chain}`);
  });

  it("a wallet's page is found by the name that it has", async () => {
    const { status, location } = await open(`/wallets/alice.eth${chain}`);
    expect(status).toBe(302);
    expect((await open(location ?? "")).location).toBe(ofAlice);
  });
});

describe("what is not", () => {
  it.each(["pun", "nobody-at-all.eth", "https://example.com/", `0x${"ab".repeat(32)}`])(
    "%s is shown as what was found",
    async (text) => {
      expect(await search(text)).toMatchObject({ status: 200, location: null });
    },
  );
});

describe("what is suggested", () => {
  const Found = z.object({
    data: z.object({
      collections: z.array(
        z.looseObject({
          address: z.string(),
          floor: z.looseObject({ priceWei: z.string(), askId: z.string() }).nullable(),
          urls: z.object({ collection: z.string() }),
        }),
      ),
      tokens: z.array(z.looseObject({ urls: z.object({ token: z.string() }) })),
    }),
  });
  const find = async (text: string) =>
    Found.parse((await market.v1.get(`/v1/search?q=${encodeURIComponent(text)}&limit=4`)).body)
      .data;
  const ownPath = (url: string) => url.replace(baseUrl, "");

  it.each(["pun", "edit", "punk"])("is what a search finds, in its order: %s", async (text) => {
    const { collections, tokens } = await find(text);
    const expected = [
      ...collections.map(({ urls }) => urls.collection),
      ...tokens.map(({ urls }) => urls.token),
    ].map(ownPath);
    expect(expected.length).toBeGreaterThan(0);
    const { html } = await suggest(text);
    expect(addressesIn({ html })).toEqual(expected);
    for (const { floor } of collections)
      if (floor !== null) expect(html).toContain(`value="${floor.priceWei}"`);
  });

  it("has the floor that the collection has", async () => {
    const { collections } = await find("pun");
    const [one] = collections;
    const { body } = await market.v1.get(`/v1/collections/${one?.address}?chainId=${chainId}`);
    const Floored = z.object({ data: z.object({ stats: z.object({ floor: z.unknown() }) }) });
    expect(one?.floor).not.toBeNull();
    expect(one?.floor).toEqual(Floored.parse(body).data.stats.floor);
  });

  it("is options alone, under the policy of the pages", async () => {
    const { html } = await suggest("pun");
    expect(html).toMatch(/^<a role="option" id="suggestion-0" /);
    expect(html).not.toMatch(/<(html|head|body|header|main|script|form|button|input)\b/);
    const path = `/search/suggestions?chainId=${chainId}&q=pun`;
    const { headers } = await fetch(market.v1.url + path);
    expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(headers.get("content-security-policy")).toContain("script-src 'self'");
    const again = await fetch(market.v1.url + path, {
      headers: { "if-none-match": headers.get("etag") ?? "" },
    });
    expect(again.status).toBe(304);
  });

  it.each(["", "p", " p ", "nothing-of-this-name"])("is nothing for %j", async (text) => {
    expect(await suggest(text)).toMatchObject({ status: 200, html: "" });
  });
});
