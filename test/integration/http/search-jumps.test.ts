import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import { openServedMarket, type ServedMarket } from "#test/support/http/served-market.ts";
import { chainId } from "#test/support/http/served-market-data.ts";

let market: ServedMarket;
beforeAll(async () => {
  market = await openServedMarket({ hasPages: true });
});
afterAll(() => market?.close());

async function open(path: string) {
  const init = { headers: { accept: "text/html" }, redirect: "manual" } as const;
  const { status, headers } = await fetch(market.v1.url + path, init);
  return { status, location: headers.get("location"), kept: headers.get("cache-control") };
}

const search = (text: string) => open(`/search?chainId=${chainId}&q=${encodeURIComponent(text)}`);

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
  ])("%s leads to its page", async (_, text, path) => {
    expect(await search(text)).toEqual({ status: 302, location: path, kept: "no-store" });
    expect((await open(path)).status).toBe(200);
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
