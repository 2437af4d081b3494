import { createRequire } from "node:module";
import { Chain, OpenSeaSDK } from "@opensea/sdk";
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
});
