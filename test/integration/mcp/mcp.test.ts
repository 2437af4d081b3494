import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Address, erc721Abi, formatEther } from "viem";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { unlimitedTerms } from "#api/keys/key-terms.ts";
import { createPermanentKey } from "#api/keys/stored-keys.ts";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import { openServedMarket, type ServedMarket } from "#test/support/http/served-market.ts";
import { installPackedClient } from "../sdk/consumers/packed-client.ts";
import { conformanceOf } from "./conformance.ts";
import { connectMcp, type McpConnection, ways } from "./mcp-connection.ts";

let market: ServedMarket;
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "order-book-mcp-"));
  [market] = await Promise.all([openServedMarket(), installPackedClient(directory)]);
});
afterAll(async () => {
  await market?.close();
  await rm(directory, { recursive: true, force: true });
});

const { punks, editions } = contracts;
const [alice, bob, carol] = [accounts.alice, accounts.bob, accounts.carol].map(
  ({ address }) => address.toLowerCase() as Address,
) as [Address, Address, Address];

/** What the contract says, token by token; undefined: there is no such token. */
async function ownerOf(tokenId: number): Promise<Address | undefined> {
  const asked = { address: punks, abi: erc721Abi, functionName: "ownerOf" } as const;
  const owner = await market.book.client
    .readContract({ ...asked, args: [BigInt(tokenId)] })
    .catch(() => undefined);
  return owner?.toLowerCase() as Address | undefined;
}

async function punksByOwner(): Promise<Map<Address, string[]>> {
  const held = new Map<Address, string[]>();
  for (let tokenId = 0; tokenId < 60; tokenId += 1) {
    const owner = await ownerOf(tokenId);
    if (owner !== undefined) held.set(owner, [...(held.get(owner) ?? []), `${tokenId}`]);
  }
  return held;
}

const at = (key?: string) => ({ url: market.v1.url, directory, ...(key !== undefined && { key }) });
const http = { transport: "HTTP", revision: "2026-07-28" } as const;

describe.each(ways)("questions asked over $transport in revision $revision", (way) => {
  let mcp: McpConnection;
  beforeAll(async () => {
    mcp = await connectMcp(way, at(market.key));
  });
  afterAll(() => mcp?.client.close());
  beforeEach(() => void mcp.takeCalls());
  afterEach(() => expect(mcp.takeCalls()).toBeLessThanOrEqual(3));

  it("speaks the revision that was asked for", async () => {
    expect(mcp.client.getNegotiatedProtocolVersion()).toBe(way.revision);
  });

  it("What is the floor of Punks, and what do the two cheapest ones cost together?", async () => {
    const { collections } = Found.parse(await mcp.call("find_collection", { text: "punks" }));
    const collection = collections[0]?.slug;
    expect(await mcp.call("floor_and_depth", { collection })).toMatchObject({
      floor: { price: "1 ETH", tokenId: "2", askId: market.ids.ask },
      listings: [{ price: "1 ETH" }, { price: "2 ETH", unitsSoFar: "2", costSoFar: "3 ETH" }],
      offers: [
        { price: "0.5 ETH", unitsForOneToken: "1" },
        { price: "0.25 ETH", unitsForAnyToken: "1" },
      ],
    });
  });

  it("Which is the cheapest punk with golden fur, and where?", async () => {
    const traits = { Fur: "Gold" };
    const answer = await mcp.call("cheapest_listings", { collection: "punks", traits });
    expect(answer).toMatchObject({
      listedTokens: 1,
      tokens: [
        { tokenId: "3", listing: { price: "2 ETH", marketplace: "opensea", seller: alice } },
      ],
    });
  });

  it("How many punks have brown fur, and from what price?", async () => {
    const existing = [...(await punksByOwner()).values()].flat().map(Number);
    const brown = existing.filter((tokenId) => tokenId < 40 && tokenId % 3 !== 0);
    const { traits } = Traits.parse(await mcp.call("collection_traits", { collection: "punks" }));
    const fur = traits.find(({ type }) => type === "Fur");
    expect(fur?.values).toContainEqual({
      ...{ value: "Brown", tokens: brown.length, listed: 1, floor: "1 ETH" },
    });
  });

  it("Who owns punk 1, and what was last paid for it?", async () => {
    expect(await mcp.call("token", { collection: punks, tokenId: "1" })).toMatchObject({
      owner: await ownerOf(1),
      lastSale: { price: "2 WETH", seller: bob, buyer: carol },
    });
  });

  it("What does the holder of punk 2 get for it at once?", async () => {
    const { bestOffer } = Token.parse(
      await mcp.call("token", { collection: "punks", tokenId: "2" }),
    );
    const { body } = await market.v1.get(`/v1/bids/${market.ids.bid}?chainId=1`);
    const { data } = z.object({ data: z.looseObject({ sellerNetWei: z.string() }) }).parse(body);
    expect(bestOffer).toMatchObject({ price: "0.5 WETH", bidId: market.ids.bid, bidder: carol });
    expect(bestOffer?.sellerGets).toBe(`${formatEther(BigInt(data.sellerNetWei))} WETH`);
  });

  it("How many wallets hold punks, and who holds the most?", async () => {
    const held = await punksByOwner();
    const most = Math.max(...[...held.values()].map(({ length }) => length));
    const answer = Holders.parse(await mcp.call("top_holders", { collection: "punks" }));
    expect(answer.wallets).toBe(held.size);
    expect(answer.holders[0]?.tokens).toBe(most);
    expect(held.get(answer.holders[0]?.address as Address)).toHaveLength(most);
  });

  it("Which punks does Carol hold?", async () => {
    const { tokens } = Held.parse(
      await mcp.call("wallet_tokens", { wallet: carol, collection: "punks" }),
    );
    expect(tokens.map(({ tokenId }) => tokenId)).toEqual((await punksByOwner()).get(carol));
  });

  it("What did Bob buy and sell?", async () => {
    const answer = await mcp.call("sales", { wallet: bob });
    expect(answer).toMatchObject({
      count: 2,
      sales: [
        { tokenId: "1", price: "2 WETH", seller: bob, buyer: carol },
        { tokenId: "1", price: "1 ETH", seller: alice, buyer: bob },
      ],
    });
    expect(await mcp.call("sales", { wallet: bob, as: "seller" })).toMatchObject({ count: 1 });
  });

  it("What happened in this transaction?", async () => {
    const { txHash } = market.ids;
    const receipt = await market.book.client.getTransactionReceipt({ hash: txHash as Address });
    expect(await mcp.call("transaction", { hash: txHash })).toMatchObject({
      ...{ chainId: 1, blockNumber: Number(receipt.blockNumber) },
      sales: [{ tokenId: "1", price: "2 WETH", seller: bob, buyer: carol, txHash }],
      others: [{ type: "transfer", from: bob, to: carol, tokenId: "1" }],
    });
  });

  it("What could others take of Alice's?", async () => {
    const answer = Exposed.parse(await mcp.call("wallet_exposure", { wallet: alice }));
    const listed = answer.activeListings.shown.map(({ contract, tokenId, price }) =>
      [contract, tokenId, price].join(" "),
    );
    expect(listed.toSorted()).toEqual(
      [`${punks} 2 1 ETH`, `${punks} 3 2 ETH`, `${editions} 1 0.1 ETH`].toSorted(),
    );
    expect(answer.activeOffers.count).toBe(0);
    const approvals = answer.forgotten.map(
      ({ approvalOf, contract }) => `${approvalOf} ${contract}`,
    );
    expect(approvals).toContain(`tokens ${punks}`);
  });

  it("Who owned punk 1 before its last sale, and what was for sale then?", async () => {
    const { client } = market.book;
    const receipt = await client.getTransactionReceipt({ hash: market.ids.txHash as Address });
    const before = receipt.blockNumber - 1n;
    const then = await mcp.call("state_at_block", {
      ...{ collection: "punks", tokenId: "1", at: `${before}`, chainId: 1 },
    });
    const asked = { address: punks, abi: erc721Abi, functionName: "ownerOf" } as const;
    const owner = await client.readContract({ ...asked, args: [1n], blockNumber: before });
    expect(then).toMatchObject({ owner: owner.toLowerCase(), block: { block: Number(before) } });
    const whole = await mcp.call("state_at_block", {
      ...{ collection: "punks", at: `${receipt.blockNumber}`, chainId: 1 },
    });
    expect(whole).toMatchObject({ block: { block: Number(receipt.blockNumber) } });
    await expect(mcp.call("state_at_block", { at: "1" })).rejects.toThrow("collection or wallet");
  });

  it("says in words why it cannot answer", async () => {
    await expect(mcp.call("token", { collection: "no-such", tokenId: "1" })).rejects.toThrow(
      "not_found: No collection no-such on chain 1",
    );
    await expect(mcp.call("token", { collection: "punks", tokenId: "x" })).rejects.toThrow(
      "tokenId",
    );
  });
});

const Found = z.object({ collections: z.array(z.looseObject({ slug: z.string() })) });
const Traits = z.object({
  traits: z.array(z.object({ type: z.string(), values: z.array(z.unknown()) })),
});
const Token = z.object({ bestOffer: z.looseObject({ sellerGets: z.string() }).nullable() });
const Holders = z.object({
  wallets: z.number(),
  holders: z.array(z.object({ address: z.string(), tokens: z.number(), units: z.string() })),
});
const Held = z.object({ tokens: z.array(z.looseObject({ tokenId: z.string() })) });
const Own = z.looseObject({ contract: z.string(), tokenId: z.string(), price: z.string() });
const Exposed = z.object({
  activeListings: z.object({ count: z.number(), shown: z.array(Own) }),
  activeOffers: z.object({ count: z.number(), shown: z.array(z.unknown()) }),
  forgotten: z.array(z.looseObject({ approvalOf: z.string().optional(), contract: z.string() })),
});

describe("the list of tools", () => {
  it("is at most fifteen tools in fewer than 6,000 tokens, none of which acts", async () => {
    const { client } = await connectMcp(http, at());
    const { tools } = await client.listTools();
    await client.close();
    expect(tools.length).toBeLessThanOrEqual(15);
    expect(JSON.stringify(tools).length / 4).toBeLessThan(6_000);
    expect(tools.filter(({ annotations }) => annotations?.readOnlyHint !== true)).toEqual([]);
  });
});

describe("a key", () => {
  const keyWith = async (perMinute: number | null, scopes: "read"[] | null = null) => {
    const terms = { ...unlimitedTerms, scopes };
    return (await createPermanentKey(market.book.db, { name: "mcp", perMinute, terms })).key;
  };

  it("that is unknown is refused, as by /v1", async () => {
    await expect(connectMcp(http, at("nobody"))).rejects.toThrow(/invalid_key|401/);
  });

  it("for reading prepares nothing", async () => {
    const mcp = await connectMcp(http, at(await keyWith(null, ["read"])));
    const cancel = { orders: [market.ids.ask], wallet: alice };
    await expect(mcp.call("prepare_cancel", cancel)).rejects.toThrow("insufficient_scope");
    await mcp.call("token", { collection: "punks", tokenId: "1" });
    await mcp.client.close();
  });

  it("has its limit here and at /v1 together, a message each", async () => {
    const key = await keyWith(3);
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
    const headers = {
      ...{ "content-type": "application/json", accept: "application/json, text/event-stream" },
      "X-API-Key": key,
    };
    const ping = () => fetch(`${market.v1.url}/mcp`, { method: "POST", headers, body });
    const left = async () => (await ping()).headers.get("x-ratelimit-remaining");
    expect([await left(), await left()]).toEqual(["2", "1"]);
    const read = await market.v1.get("/v1/status", { "X-API-Key": key });
    expect(read.headers.get("x-ratelimit-remaining")).toBe("0");
    const refused = await ping();
    expect([refused.status, await refused.json()]).toMatchObject([429, { code: "rate_limited" }]);
  });
});

describe("the endpoint", () => {
  const post = (body: string, headers: Record<string, string> = {}) =>
    fetch(`${market.v1.url}/mcp`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body,
    });

  it("takes one message at a time, in JSON, by POST", async () => {
    const batch = await post('[{"jsonrpc":"2.0","id":1,"method":"ping"}]');
    expect([batch.status, await batch.json()]).toMatchObject([400, { error: { code: -32_600 } }]);
    const broken = await post("{");
    expect([broken.status, await broken.json()]).toMatchObject([400, { error: { code: -32_700 } }]);
    const got = await fetch(`${market.v1.url}/mcp`);
    expect([got.status, got.headers.get("allow")]).toEqual([405, "POST, OPTIONS"]);
  });

  it.each(["2026-07-28", "2025-11-25"] as const)(
    "conforms to revision %s in all that it has",
    async (revision) => {
      expect(await conformanceOf(`${market.v1.url}/mcp`, revision)).toEqual([]);
    },
  );
});
