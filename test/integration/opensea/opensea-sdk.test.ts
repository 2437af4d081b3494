import { createRequire } from "node:module";
import { type AssetEvent, Chain, OpenSeaSDK } from "@opensea/sdk";
import type * as Ethers from "ethers";
import { type Address, erc721Abi, parseEther } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seaportAddresses } from "#abis/deployments.ts";
import { accounts } from "#devnet/accounts.ts";
import type { Nft } from "#projections/domain/seaport/draft-components.ts";
import { openCaller, postedId } from "#test/integration/sdk/callers.ts";
import {
  mintPunk,
  openTestChains,
  orderRequest,
  type Person,
  type TestChain,
  type TestChains,
  untilDerived,
  untilStatus,
} from "#test/support/orders/test-chains.ts";

/** As CommonJS, which the client is too: its types are not those of the module. */
const { JsonRpcProvider, Wallet }: typeof Ethers = createRequire(import.meta.url)("ethers");

let testChains: TestChains;
let testChain: TestChain;
let provider: Ethers.JsonRpcProvider;
beforeAll(async () => {
  testChains = await openTestChains([33139]);
  testChain = testChains.chain(33139);
  provider = new JsonRpcProvider(testChain.rpcUrl, undefined, { cacheTimeout: -1 });
});
afterAll(async () => {
  provider?.destroy();
  await testChains?.close();
});

/** The client as it is published; the address alone is ours. */
const sdkOf = (person: Person) =>
  new OpenSeaSDK(new Wallet(accounts[person].privateKey, provider) as never, {
    chain: Chain.ApeChain,
    apiBaseUrl: `${testChain.baseUrl}/opensea/ape_chain`,
  });
const addressOf = (person: Person) => accounts[person].address;
const assetOf = ({ contract, tokenId }: Nft) => ({
  tokenAddress: contract,
  tokenId: `${tokenId}`,
});
const ownerOf = ({ contract, tokenId }: Nft): Promise<Address> =>
  testChain.client.readContract({
    ...{ address: contract, abi: erc721Abi, functionName: "ownerOf" },
    args: [tokenId],
  });

async function mintKnown(person: Person): Promise<Nft> {
  const nft = await mintPunk(testChain, person);
  await untilDerived(testChain);
  return nft;
}

const list = async (nft: Nft, ether: string) => {
  const listing = await sdkOf("alice").createListing({
    ...{ asset: assetOf(nft), accountAddress: addressOf("alice"), amount: ether },
  });
  await untilStatus(testChain.trader("bob"), "listings", `mkt-${listing.orderHash}`, "active");
  return listing;
};

describe("OpenSea's client with our address", () => {
  it("lists a token with our fees, and another account finds and buys it", async () => {
    const nft = await mintKnown("alice");
    const listed = await list(nft, "1.5");
    const { api } = openCaller(testChain, "bob");
    const { data } = await api.get("/v1/listings/{askId}", { askId: `mkt-${listed.orderHash}` });
    expect(data).toMatchObject({ status: "active", priceWei: `${parseEther("1.5")}` });

    const buyer = sdkOf("bob");
    const { nft: shown } = await buyer.api.getNFT(nft.contract, `${nft.tokenId}`);
    expect(shown.owners).toMatchObject([{ address: addressOf("alice").toLowerCase() }]);
    const best = await buyer.api.getBestListing(shown.collection, `${nft.tokenId}`);
    expect(best.orderHash).toBe(listed.orderHash);
    expect(best.price.current.value).toBe(`${parseEther("1.5")}`);
    await buyer.fulfillOrder({ order: best, accountAddress: addressOf("bob") });
    expect(await ownerOf(nft)).toBe(addressOf("bob"));
    const order = await buyer.api.getOrderByHash(listed.orderHash ?? "", seaportAddresses["1.6"]);
    expect(order.orderHash).toBe(listed.orderHash);
  });

  it("accepts the best offer for a token", async () => {
    const nft = await mintKnown("alice");
    await testChain.actors.erin.wraps(parseEther("1"));
    const bidder = openCaller(testChain, "erin").trader;
    const bidId = postedId(await bidder.offer([orderRequest(nft, "0.5")]));
    await untilStatus(testChain.trader("bob"), "bids", bidId, "active");
    await testChain.actors.alice.approves(nft.contract);

    const seller = sdkOf("alice");
    const { nft: shown } = await seller.api.getNFT(nft.contract, `${nft.tokenId}`);
    const best = await seller.api.getBestOffer(shown.collection, `${nft.tokenId}`);
    expect(`mkt-${best.orderHash}`).toBe(bidId);
    await seller.fulfillOrder({
      ...{ order: best, accountAddress: addressOf("alice") },
      ...{ assetContractAddress: nft.contract, tokenId: `${nft.tokenId}` },
    });
    expect(await ownerOf(nft)).toBe(addressOf("erin"));
  });

  it("lists in pages what /v1 lists, cheapest first", async () => {
    for (const ether of ["3", "2"]) await list(await mintKnown("alice"), ether);
    const { api } = openCaller(testChain, "bob");
    const nft = await mintKnown("alice");
    const seller = sdkOf("alice");
    const { nft: shown } = await seller.api.getNFT(nft.contract, `${nft.tokenId}`);
    const query = { collection: shown.collection, sort: "price_asc", marketplace: "all" } as const;
    const { data } = await api.get("/v1/listings", { ...query, per_page: 100 });
    const hashes: (string | undefined)[] = [];
    let next: string | undefined;
    do {
      const page = await seller.api.getBestListings(shown.collection, 1, next);
      hashes.push(...page.listings.map(({ orderHash }) => orderHash));
      next = page.next ?? undefined;
    } while (next !== undefined);
    expect(hashes).toEqual(data.map(({ orderHash }) => orderHash));
    expect(hashes.length).toBeGreaterThan(1);
  });

  it("cancels an order on the chain", async () => {
    const { orderHash = "" } = await list(await mintKnown("alice"), "4");
    await sdkOf("alice").cancelOrder({
      ...{ orderHash, accountAddress: addressOf("alice") },
      protocolAddress: seaportAddresses["1.6"],
    });
    await untilStatus(testChain.trader("bob"), "listings", `mkt-${orderHash}`, "cancelled");
  });

  it("is refused in plain words what cannot be: its offers, a key of OpenSea's, another chain, an unknown token", async () => {
    const nft = await mintKnown("alice");
    await testChain.actors.bob.wraps(parseEther("1"));
    const offering = sdkOf("bob").createOffer({
      ...{ asset: assetOf(nft), accountAddress: addressOf("bob"), amount: "0.2" },
    });
    await expect(offering).rejects.toThrow(/conduitKey|orderType/);
    const options = { chain: Chain.ApeChain, apiKey: "a-key-of-opensea" };
    const apiBaseUrl = `${testChain.baseUrl}/opensea/ape_chain`;
    const withKey = new OpenSeaSDK(provider as never, { ...options, apiBaseUrl });
    await expect(withKey.api.getNFT(nft.contract, "1")).rejects.toThrow(/key/i);
    const other = new OpenSeaSDK(provider as never, { chain: Chain.Mainnet, apiBaseUrl });
    await expect(other.api.getNFT(nft.contract, "1")).rejects.toThrow(
      "this address is of ape_chain, not of ethereum",
    );
    await expect(sdkOf("bob").api.getNFT(nft.contract, "999999999")).rejects.toThrow("999999999");
  });

  it("tells in pages what /v1/activity tells", async () => {
    const nft = await mintKnown("alice");
    const listed = await list(nft, "1.5");
    const buyer = sdkOf("bob");
    const { nft: shown } = await buyer.api.getNFT(nft.contract, `${nft.tokenId}`);
    const best = await buyer.api.getBestListing(shown.collection, `${nft.tokenId}`);
    await buyer.fulfillOrder({ order: best, accountAddress: addressOf("bob") });
    await testChain.actors.erin.wraps(parseEther("1"));
    const { trader } = openCaller(testChain, "erin");
    const anyOf = {
      contract: nft.contract,
      quantity: 1n,
      unitPriceWei: parseEther("0.4"),
      days: 1,
    };
    const bidId = postedId(await trader.offer([anyOf]));
    await untilStatus(testChain.trader("bob"), "bids", bidId, "active");
    await untilDerived(testChain);

    const { api } = openCaller(testChain, "bob");
    const types = "sale,transfer,mint,burn,listing,offer";
    const collection = shown.collection;
    const activity = await api.get("/v1/activity", { collection, type: types, per_page: 100 });
    const told: AssetEvent[] = [];
    let next: string | undefined;
    do {
      const page = await buyer.api.getEventsByCollection(collection, {
        limit: 3,
        ...(next !== undefined && { next }),
      });
      told.push(...page.assetEvents);
      next = page.next ?? undefined;
    } while (next !== undefined);
    expect(told.map(placeOf)).toEqual(
      activity.data.map(({ txHash, orderHash, tokenId }) => [txHash ?? orderHash, tokenId]),
    );

    const ofToken = await buyer.api.getEventsByNFT(Chain.ApeChain, nft.contract, `${nft.tokenId}`);
    const common = { chain: "ape_chain", quantity: 1 };
    const [alice, bob] = [addressOf("alice").toLowerCase(), addressOf("bob").toLowerCase()];
    const price = { quantity: `${parseEther("1.5")}`, decimals: 18, symbol: "APE" };
    // The order was received by a clock that is not the chain's.
    expect(ofToken.assetEvents.toSorted(byType)).toMatchObject([
      { ...common, eventType: "mint", toAddress: alice },
      { ...common, eventType: "order", orderType: "listing", maker: alice, payment: price },
      { ...common, eventType: "sale", seller: alice, buyer: bob, payment: price },
      { ...common, eventType: "transfer", fromAddress: alice, toAddress: bob },
    ]);
    const pages = ofToken.assetEvents.map(
      (event) => (Object(event).nft ?? Object(event).asset).openseaUrl,
    );
    expect(shown.openseaUrl).toMatch(/^http/);
    expect(new Set(pages)).toEqual(new Set([shown.openseaUrl]));
    const offers = await buyer.api.getEventsByAccount(addressOf("erin"), {
      ...{ eventType: "collection_offer", chain: Chain.ApeChain },
    });
    expect(offers.assetEvents).toMatchObject([
      { orderType: "collection_offer", criteria: { collection: { slug: collection } } },
    ]);
    const traitOffers = await buyer.api.getEvents({ eventType: ["trait_offer", "listing"] });
    expect(traitOffers.assetEvents).toContainEqual(
      expect.objectContaining({ orderHash: listed.orderHash }),
    );
    await expect(buyer.api.getEvents({ before: 1 })).rejects.toThrow("before");
  });

  it("gives figures, traits and tokens of a collection, and a wallet's tokens", async () => {
    const nft = await mintKnown("carol");
    const { api } = openCaller(testChain, "bob");
    const buyer = sdkOf("bob");
    const { nft: shown } = await buyer.api.getNFT(nft.contract, `${nft.tokenId}`);
    const { collection } = shown;
    const { data } = await api.get("/v1/collections/{collection}", { collection });
    const stats = await buyer.api.getCollectionStats(collection);
    expect(stats.total).toMatchObject({
      ...{ sales: data.stats.sales.all, volume: data.stats.volume.all },
      ...{ numOwners: data.stats.holders, floorPrice: data.stats.floor?.price ?? 0 },
    });
    const { data: traits } = await api.get("/v1/collections/{collection}/traits", { collection });
    const { counts } = await buyer.api.getTraits(collection);
    expect(Object.keys(counts)).toEqual(traits.traitTypes.map(({ type }) => type));

    const all = { collection, per_page: 100 };
    const { data: tokens } = await api.get("/v1/collections/{collection}/tokens", all);
    const ids = ({ nfts }: { nfts: { identifier: string }[] }) =>
      nfts.map(({ identifier }) => identifier);
    const known = tokens.map(({ tokenId }) => tokenId);
    const first = await buyer.api.getNFTsByCollection(collection, 1);
    const rest = await buyer.api.getNFTsByCollection(collection, 99, first.next);
    expect([...ids(first), ...ids(rest)]).toEqual(known);
    expect(ids(await buyer.api.getNFTsByContract(nft.contract, 100))).toEqual(known);
    const held = await buyer.api.getNFTsByAccount(addressOf("carol"), 100);
    expect(ids(held)).toContain(`${nft.tokenId}`);
  });
});

const byType = (one: AssetEvent, other: AssetEvent) => (one.eventType < other.eventType ? -1 : 1);

/** The transaction or the order of an event, and its token. */
function placeOf(event: AssetEvent): unknown[] {
  const { transaction, orderHash, nft, asset } = event as {
    readonly transaction?: string;
    readonly orderHash?: string;
    readonly nft?: { readonly identifier: string };
    readonly asset?: { readonly identifier: string };
  };
  return [transaction ?? orderHash, (nft ?? asset)?.identifier ?? null];
}
