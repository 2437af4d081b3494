import { type Address, type Hex, parseEther } from "viem";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import type { ChainId } from "#chains/index.ts";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import type { Nft } from "#projections/domain/seaport/draft-components.ts";
import { openTrader, type Trader } from "#test/support/chain/trader.ts";
import { until } from "#test/support/database/pipeline.ts";
import {
  mintEdition,
  mintPunk,
  mintPunks,
  orderRequest,
  type TestChain,
  type TestChains,
  takeIds,
  untilStatus,
  weiOf,
} from "#test/support/orders/test-chains.ts";

/** Alice's listings, of which the 11th, the 21st and the 31st are wrong. */
async function signWithFaults(alice: Trader, bob: Trader, nfts: readonly Nft[]) {
  const listings = [];
  for (const [index, nft] of nfts.entries()) {
    const order = await alice.compose(orderRequest(nft, "2"));
    if (index === 10) order.components.zone = nft.contract;
    if (index === 20) order.components.endTime = order.components.startTime;
    const seaport = await alice.sign(order);
    if (index === 30) seaport.signature = (await bob.sign(order)).signature;
    listings.push({ seaport });
  }
  return listings;
}

/** Defines the tests of own orders, each from its signature to its end. */
export function describeTrades(testChains: () => TestChains, chainIds: readonly ChainId[]): void {
  describe.each(chainIds)("on chain %i, through HTTP alone,", (chainId) => {
    let testChain: TestChain;
    let alice: Trader;
    let bob: Trader;
    let carol: Trader;
    beforeAll(() => {
      testChain = testChains().chain(chainId);
      [alice, bob, carol] = [
        testChain.trader("alice"),
        testChain.trader("bob"),
        testChain.trader("carol"),
      ];
    });

    it("a listing is active when its POST is answered, and filled after a purchase", async () => {
      const nft = await mintPunk(testChain, "alice");
      const askId = await alice.lists(orderRequest(nft, "1"));
      expect(await alice.statusOf("listings", askId)).toBe("active");

      const receipt = await bob.buys(askId);
      expect(receipt.status).toBe("success");
      await untilStatus(bob, "listings", askId, "filled");
      expect((await bob.buyData(askId)).body.code).toBe("unavailable");
    });

    it("units of an ERC-1155 listing are bought in two parts, and then it is filled", async () => {
      const nft = await mintEdition(testChain, "alice", 10n);
      const askId = await alice.lists(orderRequest(nft, "0.5", 10n));
      expect((await bob.buys(askId, { amount: 4 })).status).toBe("success");
      await until("six units to be left", async () => {
        const { body } = await bob.get(`/v1/listings/${askId}?chainId=${chainId}`);
        const row = z.looseObject({ quantityRemaining: z.number(), status: z.string() });
        const { quantityRemaining, status } = row.parse(body.data);
        return status === "active" && quantityRemaining === 6;
      });
      expect((await carol.buys(askId)).status).toBe("success");
      await untilStatus(bob, "listings", askId, "filled");
    });

    it("of a bulk of a hundred listings with three invalid ones, ninety-seven are stored and three rejected by index", async () => {
      const listings = await signWithFaults(alice, bob, await mintPunks(testChain, "alice", 100n));
      const { status, body } = await alice.post("/v1/orders/asks/bulk", { chainId, listings });
      const { results, created, failed } = z
        .object({
          results: z.array(z.looseObject({ success: z.boolean(), code: z.string().optional() })),
          created: z.number(),
          failed: z.number(),
        })
        .parse(body.data);
      expect([status, created, failed]).toEqual([200, 97, 3]);
      expect([results[10]?.code, results[20]?.code, results[30]?.code]).toEqual([
        "zone_not_allowed",
        "end_before_start",
        "bad_signature",
      ]);
    });

    it("a bid for a token is accepted, and its seller receives exactly the quoted net amount", async () => {
      const nft = await mintPunk(testChain, "carol");
      await testChain.actors.bob.wraps(parseEther("3"));
      await testChain.actors.bob.allows(parseEther("3"));
      const bidId = await bob.bids(orderRequest(nft, "3"));
      const before = await weiOf(testChain, carol.maker);
      const { receipt, sellerNetWei } = await carol.accepts(bidId, nft.tokenId);
      expect(receipt.status).toBe("success");
      expect((await weiOf(testChain, carol.maker)) - before).toBe(sellerNetWei);
      await untilStatus(bob, "bids", bidId, "filled");
    });

    it("an offer for any of a collection is accepted with one token of it", async () => {
      const nft = await mintPunk(testChain, "carol");
      await testChain.actors.bob.wraps(parseEther("2"));
      await testChain.actors.bob.allows(parseEther("2"));
      const { contract, unitPriceWei } = orderRequest(nft, "2");
      const bidId = await bob.bids({ contract, unitPriceWei });
      const before = await weiOf(testChain, carol.maker);
      const { receipt, sellerNetWei } = await carol.accepts(bidId, nft.tokenId);
      expect(receipt.status).toBe("success");
      expect((await weiOf(testChain, carol.maker)) - before).toBe(sellerNetWei);
      await untilStatus(bob, "bids", bidId, "filled");
    });

    it("a listing cancelled on chain is cancelled here, at once with the receipt's hash", async () => {
      const nft = await mintPunk(testChain, "alice");
      const askId = await alice.lists(orderRequest(nft, "1"));
      expect((await alice.post(`/v1/orders/asks/${askId}/cancel`)).body.code).toBe(
        "cancel_on_chain",
      );
      const { transactionHash: txHash } = await alice.cancels("asks", askId);
      const { status, body } = await alice.post(`/v1/orders/asks/${askId}/sync`, {
        chainId,
        txHash,
      });
      expect([status, z.looseObject({ status: z.string() }).parse(body.data).status]).toEqual([
        200,
        "cancelled",
      ]);
    });

    it("incrementing the counter cancels every order of the maker, and only his", async () => {
      const frank = testChain.trader("frank");
      const [one, two] = [await mintPunk(testChain, "frank"), await mintPunk(testChain, "frank")];
      const other = await alice.lists(orderRequest(await mintPunk(testChain, "alice"), "1"));
      const ids = [
        await frank.lists(orderRequest(one, "1")),
        await frank.lists(orderRequest(two, "1")),
      ];
      await testChain.actors.frank.incrementsCounter();
      for (const id of ids) await untilStatus(frank, "listings", id, "cancelled");
      expect(await alice.statusOf("listings", other)).toBe("active");
    });

    it("a listing is hidden while its maker does not own the token", async () => {
      const { actors } = testChain;
      const nft = await mintPunk(testChain, "alice");
      const askId = await alice.lists(orderRequest(nft, "1"));
      await actors.alice.transfers(nft, actors.dave);
      await untilStatus(alice, "listings", askId, "inactive not_owner");
      expect((await bob.buyData(askId)).body.code).toBe("inactive");
      await actors.dave.transfers(nft, actors.alice);
      await untilStatus(alice, "listings", askId, "active");
    });

    it("a listing is hidden while its maker's approval is withdrawn", async () => {
      const { actors } = testChain;
      const grace = testChain.trader("grace");
      const askId = await grace.lists(orderRequest(await mintPunk(testChain, "grace"), "1"));
      await actors.grace.revokes(contracts.punks);
      await untilStatus(grace, "listings", askId, "inactive not_approved");
      await actors.grace.approves(contracts.punks);
      await untilStatus(grace, "listings", askId, "active");
    });

    it("a cheaper listing supersedes, raising the price is refused, and the older one returns after a cancel", async () => {
      const nft = await mintPunk(testChain, "alice");
      const older = await alice.lists(orderRequest(nft, "2"));
      const cheaper = await alice.lists(orderRequest(nft, "1"));
      expect(await alice.statusOf("listings", older)).toBe("inactive superseded");
      const raised = await alice.submitListing(orderRequest(nft, "3"));
      expect([raised.status, raised.body.code]).toEqual([409, "raise_requires_cancel"]);
      await alice.cancels("asks", cheaper);
      await untilStatus(alice, "listings", older, "active");
    });

    it("an offer is hidden while the bidder's money is away", async () => {
      const { actors } = testChain;
      const erin = testChain.trader("erin");
      const nft = await mintPunk(testChain, "carol");
      await actors.erin.wraps(parseEther("1"));
      await actors.erin.allows(parseEther("1"));
      const bidId = await erin.bids(orderRequest(nft, "1"));
      const wrapped = await weiOf(testChain, erin.maker);
      await actors.erin.unwraps(wrapped);
      await untilStatus(erin, "bids", bidId, "inactive insufficient_balance");
      await actors.erin.wraps(wrapped);
      await untilStatus(erin, "bids", bidId, "active");
    });

    it("of three bids on one allowance, the remaining two are evaluated again after one is filled", async () => {
      const { actors } = testChain;
      const dave = testChain.trader("dave");
      const nfts = [];
      for (let count = 0; count < 3; count += 1) nfts.push(await mintPunk(testChain, "carol"));
      await actors.dave.wraps(parseEther("6"));
      await actors.dave.allows(parseEther("6"));
      const ids: string[] = [];
      for (const [index, nft] of nfts.entries())
        ids.push(await dave.bids(orderRequest(nft, `${index + 1}`)));
      const [one = "", two = "", three = ""] = ids;
      const sold = nfts[2];
      if (sold === undefined) throw new Error("no token");
      await carol.accepts(three, sold.tokenId);
      await untilStatus(dave, "bids", three, "filled");
      expect([await dave.statusOf("bids", one), await dave.statusOf("bids", two)]).toEqual([
        "active",
        "active",
      ]);
      await actors.dave.allows(parseEther("1"));
      await untilStatus(dave, "bids", two, "inactive insufficient_allowance");
      expect(await dave.statusOf("bids", one)).toBe("active");
    });

    it("a listing of a smart wallet (EIP-1271) is taken in and bought", async () => {
      const { actors } = testChain;
      const { wallet } = actors;
      const nft: Nft = { standard: "erc721", contract: contracts.punks, tokenId: takeIds(1n) };
      await wallet.mints(nft);
      await wallet.approves(nft.contract);
      const { signTypedData } = accounts.alice;
      const walletTrader = openTrader({
        baseUrl: testChain.baseUrl,
        chainId,
        client: testChain.client,
        account: { address: wallet.address, signTypedData },
      });
      const askId = await walletTrader.lists(orderRequest(nft, "1"));
      expect((await bob.buys(askId)).status).toBe("success");
      await untilStatus(bob, "listings", askId, "filled");
    });

    it("a listing bought and carried away in the same block is filled, not lost by its maker", async () => {
      const { actors, client } = testChain;
      const nft = await mintPunk(testChain, "alice");
      const askId = await alice.lists(orderRequest(nft, "1"));
      await client.setAutomine(false);
      const { body } = await bob.buyData(askId);
      const { to, data, value } = z
        .object({ to: z.string(), data: z.string(), value: z.string() })
        .parse(body.data);
      await client.sendTransaction({
        account: bob.maker,
        to: to as Address,
        data: data as Hex,
        value: BigInt(value),
        chain: null,
        gas: 500_000n,
      });
      const moved = actors.bob.transfers(nft, actors.dave);
      await client.setAutomine(true);
      await client.mine({ blocks: 1 });
      expect((await moved).status).toBe("success");
      await untilStatus(alice, "listings", askId, "filled");
    });

    it("the best offer is the one that nets its seller most and can pay", async () => {
      const nft = await mintPunk(testChain, "carol");
      await testChain.actors.frank.wraps(parseEther("9"));
      await testChain.actors.frank.allows(parseEther("9"));
      const frank = testChain.trader("frank");
      const { contract, unitPriceWei } = orderRequest(nft, "5");
      const collectionBid = await frank.bids({ contract, unitPriceWei });
      await frank.bids(orderRequest(nft, "4"));
      const best = await carol.get(
        `/v1/bids/best?chainId=${chainId}&collection=${nft.contract}&tokenId=${nft.tokenId}`,
      );
      expect(
        z.looseObject({ best: z.looseObject({ bidId: z.string() }) }).parse(best.body.data),
      ).toMatchObject({ best: { bidId: collectionBid } });
      const accepted = await carol.post("/v1/bids/best-accept-data", {
        chainId,
        contract: nft.contract,
        tokenId: `${nft.tokenId}`,
        fulfiller: carol.maker,
      });
      expect(accepted.body.data).toMatchObject({ bidId: collectionBid });
    });
  });
}

/** Defines a test that moves the clock of this process: the last over its chains. */
export function testExpiry(testChains: () => TestChains): void {
  afterAll(() => void vi.useRealTimers());
  it("a listing expires by time alone, and the listing it superseded becomes active", async () => {
    const testChain = testChains().chain(33139);
    const alice = testChain.trader("alice");
    const nft = await mintPunk(testChain, "alice");
    const older = await alice.lists({ ...orderRequest(nft, "2"), seconds: 100_000 });
    const brief = await alice.lists({ ...orderRequest(nft, "1"), seconds: 700 });
    expect(await alice.statusOf("listings", older)).toBe("inactive superseded");

    vi.useFakeTimers({ toFake: ["Date"] });
    vi.setSystemTime(Date.now() + 701_000);
    // The clock is looked at when something happens, not by a timer that was set before the jump.
    await mintPunk(testChain, "dave");
    await untilStatus(alice, "listings", brief, "expired");
    await untilStatus(alice, "listings", older, "active");
  });
}
