import { type Hex, parseEther, size } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import type { ChainId } from "#chains/index.ts";
import { openSeaportJs, type SeaportJs } from "#test/support/chain/seaport-js-trader.ts";
import type { Answer } from "#test/support/chain/trader.ts";
import { until } from "#test/support/database/pipeline.ts";
import {
  mintEdition,
  mintPunk,
  mintPunks,
  orderRequest,
  type TestChain,
  type TestChains,
  untilStatus,
  weiOf,
} from "#test/support/orders/test-chains.ts";

const marketPrefix = "mkt";
const traders: SeaportJs[] = [];

function openTraders(testChain: TestChain) {
  const [alice, bob, carol] = (["alice", "bob", "carol"] as const).map((name) =>
    openSeaportJs(testChain, name, marketPrefix),
  ) as [SeaportJs, SeaportJs, SeaportJs];
  traders.push(alice, bob, carol);
  return { alice, bob, carol };
}

/** The id of an order that was taken in. */
function idOf({ status, body }: Answer): string {
  expect([status, body.code]).toEqual([201, undefined]);
  const { askId, bidId } = z
    .looseObject({ askId: z.string().optional(), bidId: z.string().optional() })
    .parse(body.data);
  return askId ?? bidId ?? "";
}

async function netOf(trader: SeaportJs, bidId: string, chainId: number): Promise<bigint> {
  const { body } = await trader.get(`/v1/bids/${bidId}?chainId=${chainId}`);
  return BigInt(z.looseObject({ sellerNetWei: z.string() }).parse(body.data).sellerNetWei);
}

/** Defines the tests of orders that OpenSea's own client makes and fills. */
export function describeSeaportJs(
  testChains: () => TestChains,
  chainIds: readonly ChainId[],
): void {
  afterAll(() => {
    for (const trader of traders) trader.close();
  });

  describe.each(chainIds)("on chain %i, with OpenSea's client as maker and filler,", (chainId) => {
    let testChain: TestChain;
    let alice: SeaportJs;
    let bob: SeaportJs;
    let carol: SeaportJs;
    beforeAll(() => {
      testChain = testChains().chain(chainId);
      ({ alice, bob, carol } = openTraders(testChain));
    });

    it("a listing built from the API's parameters is accepted and bought", async () => {
      const nft = await mintPunk(testChain, "alice");
      const order = await alice.createListing(orderRequest(nft, "1"));
      // It signs in the compact form and writes its salt as hex, with the market's mark in front.
      expect(size(order.signature as Hex)).toBe(64);
      const { saltPrefix } = await alice.params(orderRequest(nft, "1"), "item");
      expect(order.parameters.salt.slice(0, 10)).toBe(saltPrefix);

      const askId = idOf(await alice.submit("asks", order));
      expect(askId).toBe(`${marketPrefix}-${alice.client.getOrderHash(order.parameters)}`);
      expect((await bob.fills("asks", askId)).status).toBe("success");
      await untilStatus(bob, "listings", askId, "filled");
    });

    it("a bid for a token is accepted and sold into, and its seller receives the quoted net amount", async () => {
      const nft = await mintPunk(testChain, "carol");
      await testChain.actors.bob.wraps(parseEther("3"));
      await testChain.actors.bob.allows(parseEther("3"));
      const bidId = idOf(await bob.submit("bids", await bob.createBid(orderRequest(nft, "3"))));
      const sellerNetWei = await netOf(bob, bidId, chainId);
      const before = await weiOf(testChain, carol.maker);
      expect((await carol.fills("bids", bidId)).status).toBe("success");
      expect((await weiOf(testChain, carol.maker)) - before).toBe(sellerNetWei);
      await untilStatus(bob, "bids", bidId, "filled");
    });
  });

  describe("with OpenSea's client as maker and filler", () => {
    const chainId = 33139;
    let testChain: TestChain;
    let alice: SeaportJs;
    let bob: SeaportJs;
    let carol: SeaportJs;
    beforeAll(() => {
      testChain = testChains().chain(chainId);
      ({ alice, bob, carol } = openTraders(testChain));
    });

    it("units of an ERC-1155 listing are bought in two parts, and then it is filled", async () => {
      const nft = await mintEdition(testChain, "alice", 10n);
      const order = await alice.createListing(orderRequest(nft, "0.5", 10n));
      const askId = idOf(await alice.submit("asks", order));
      await bob.fills("asks", askId, { unitsToFill: 4 });
      await until("six units to be left", async () => {
        const { body } = await bob.get(`/v1/listings/${askId}?chainId=${chainId}`);
        const row = z.looseObject({ quantityRemaining: z.number(), status: z.string() });
        const { quantityRemaining, status } = row.parse(body.data);
        return status === "active" && quantityRemaining === 6;
      });
      await carol.fills("asks", askId, { unitsToFill: 6 });
      await untilStatus(bob, "listings", askId, "filled");
    });

    it("listings under one signature of a tree are taken in together, and several are bought at once", async () => {
      const nfts = await mintPunks(testChain, "alice", 5n);
      const orders = await alice.createListings(nfts.map((nft) => orderRequest(nft, "1")));
      // 64 bytes of signature, three of the index in a tree of height three, and its siblings.
      expect(orders.map(({ signature }) => size(signature as Hex))).toEqual(
        nfts.map(() => 64 + 3 + 96),
      );
      const listings = orders.map((seaport) => ({ seaport }));
      const { status, body } = await alice.post("/v1/orders/asks/bulk", { chainId, listings });
      expect(status).toBe(201);
      const { results } = z
        .looseObject({ results: z.array(z.looseObject({ askId: z.string() })) })
        .parse(body.data);

      const ids = results.map(({ askId }) => askId).slice(0, 3);
      const fulfillOrderDetails = [];
      for (const id of ids) fulfillOrderDetails.push({ order: await bob.record("asks", id) });
      const { executeAllActions } = await bob.client.fulfillOrders({ fulfillOrderDetails });
      expect((await bob.mined(await executeAllActions())).status).toBe("success");
      for (const id of ids) await untilStatus(bob, "listings", id, "filled");
      expect(await bob.statusOf("listings", results[3]?.askId ?? "")).toBe("active");
    });

    it("the accept-data of a collection bid can be matched unchanged", async () => {
      const nft = await mintPunk(testChain, "carol");
      await testChain.actors.bob.wraps(parseEther("2"));
      await testChain.actors.bob.allows(parseEther("2"));
      const { contract, unitPriceWei } = orderRequest(nft, "2");
      const bidId = idOf(await bob.submit("bids", await bob.createBid({ contract, unitPriceWei })));
      const { body } = await carol.post(`/v1/bids/${bidId}/accept-data`, {
        chainId,
        fulfiller: carol.maker,
        tokenId: `${nft.tokenId}`,
      });
      const accept = z
        .looseObject({ method: z.literal("matchAdvancedOrders"), sellerNetWei: z.string() })
        .parse(body.data);
      const before = await weiOf(testChain, carol.maker);
      const sent = carol.client.matchAdvancedOrders(accept as never);
      expect((await carol.mined(await sent.transact())).status).toBe("success");
      expect((await weiOf(testChain, carol.maker)) - before).toBe(BigInt(accept.sellerNetWei));
      await untilStatus(bob, "bids", bidId, "filled");
    });

    it("an offer for a collection is sold into by the record of its components", async () => {
      const nft = await mintPunk(testChain, "carol");
      await testChain.actors.bob.wraps(parseEther("2"));
      await testChain.actors.bob.allows(parseEther("2"));
      const { contract, unitPriceWei } = orderRequest(nft, "2");
      const bidId = idOf(await bob.submit("bids", await bob.createBid({ contract, unitPriceWei })));
      const sellerNetWei = await netOf(bob, bidId, chainId);
      const before = await weiOf(testChain, carol.maker);
      const considerationCriteria = [{ identifier: `${nft.tokenId}`, proof: [] }];
      await carol.fills("bids", bidId, { considerationCriteria });
      expect((await weiOf(testChain, carol.maker)) - before).toBe(sellerNetWei);
      await untilStatus(bob, "bids", bidId, "filled");
    });

    it("an order it cancelled is cancelled here by the receipt, and one it validated stays as it is", async () => {
      const [cancelledNft, otherNft] = [
        await mintPunk(testChain, "alice"),
        await mintPunk(testChain, "alice"),
      ];
      const order = await alice.createListing(orderRequest(cancelledNft, "1"));
      const other = await alice.createListing(orderRequest(otherNft, "1"));
      const [askId, otherId] = [
        idOf(await alice.submit("asks", order)),
        idOf(await alice.submit("asks", other)),
      ];
      await alice.mined(await alice.client.validate([other]).transact());
      const { parameters } = await alice.record("asks", askId);
      const receipt = await alice.mined(await alice.client.cancelOrders([parameters]).transact());
      const txHash = receipt.transactionHash;
      const { status, body } = await alice.post(`/v1/orders/asks/${askId}/sync`, {
        chainId,
        txHash,
      });
      expect([status, z.looseObject({ status: z.string() }).parse(body.data).status]).toEqual([
        200,
        "cancelled",
      ]);
      expect(await alice.statusOf("listings", otherId)).toBe("active");
    });

    it("all it has signed ends with its counter", async () => {
      const nft = await mintPunk(testChain, "carol");
      const askId = idOf(
        await carol.submit("asks", await carol.createListing(orderRequest(nft, "1"))),
      );
      await carol.mined(await carol.client.bulkCancelOrders().transact());
      await untilStatus(carol, "listings", askId, "cancelled");
    });
  });
}
