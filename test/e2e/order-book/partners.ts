import { type Address, type Hex, parseEther } from "viem";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import type { ChainId } from "#chains/index.ts";
import { accounts } from "#devnet/accounts.ts";
import type { StandIn } from "#devnet/marketplaces/stand-in.ts";
import type { Nft } from "#projections/domain/seaport/draft-components.ts";
import type { Trader } from "#test/support/chain/trader.ts";
import { until } from "#test/support/database/pipeline.ts";
import {
  mintPunk,
  orderRequest,
  type TestChain,
  type TestChains,
  untilStatus,
} from "#test/support/orders/test-chains.ts";

export type StandIns = { opensea: StandIn; magiceden: StandIn };

const Fill = z.object({ askId: z.string(), to: z.string(), data: z.string(), value: z.string() });
const Bulk = z.object({
  listings: z.array(Fill),
  errors: z.array(z.object({ askId: z.string(), code: z.string() })),
});

/** Defines the tests of partners' listings beside our own. */
export function describePartners(
  testChains: () => TestChains,
  standIns: () => StandIns,
  chainIds: readonly ChainId[],
): void {
  describe.each(chainIds)("on chain %i, through HTTP alone,", (chainId) => {
    let testChain: TestChain;
    let alice: Trader;
    let bob: Trader;
    let opensea: StandIn;
    let magiceden: StandIn;
    beforeAll(() => {
      testChain = testChains().chain(chainId);
      ({ opensea, magiceden } = standIns());
      [alice, bob] = [testChain.trader("alice"), testChain.trader("bob")];
    });

    /** Alice lists a token at a partner. Returns its id as soon as the API shows it. */
    async function shownAt(partner: StandIn, nft: Nft): Promise<string> {
      const priceWei = parseEther("1");
      const { orderHash } = await partner.sell({ chainId, maker: accounts.alice, nft, priceWei });
      const askId = partner.partner === "opensea" ? orderHash : `magiceden-${orderHash}`;
      await until(`${askId} to be shown`, async () => {
        const { status } = await bob.get(`/v1/listings/${askId}?chainId=${chainId}`);
        return status === 200;
      });
      // The partner may be faster than the chain's own events.
      await untilStatus(bob, "listings", askId, "active");
      return askId;
    }

    const fillsOf = async (askIds: readonly string[], buyer: Address) => {
      const answer = await bob.post("/v1/listings/buy-data-bulk", { chainId, askIds, buyer });
      return Bulk.parse(answer.body.data);
    };

    const send = async (from: "bob" | "carol", { to, data, value }: z.output<typeof Fill>) => {
      const hash = await testChain.client.sendTransaction({
        account: accounts[from],
        chain: testChain.client.chain,
        to: to as Address,
        data: data as Hex,
        value: BigInt(value),
        gas: 1_500_000n,
      });
      return (await testChain.client.waitForTransactionReceipt({ hash })).status;
    };

    it("a listing of each marketplace is bought in one call, and our own facts show all of them as sold", async () => {
      const own = await alice.lists(orderRequest(await mintPunk(testChain, "alice"), "1"));
      const askIds = [
        own,
        await shownAt(opensea, await mintPunk(testChain, "alice")),
        await shownAt(magiceden, await mintPunk(testChain, "alice")),
      ];
      const { listings, errors } = await fillsOf(askIds, accounts.bob.address);
      expect(errors).toEqual([]);
      expect(listings.map(({ askId }) => askId)).toEqual(askIds);
      for (const fill of listings) expect(await send("bob", fill)).toBe("success");
      for (const askId of askIds) await untilStatus(bob, "listings", askId, "filled");
    });

    it("the partner's data fails from the wrong wallet, and its listing stays", async () => {
      const askId = await shownAt(opensea, await mintPunk(testChain, "alice"));
      const { listings } = await fillsOf([askId], accounts.bob.address);
      for (const fill of listings) expect(await send("carol", fill)).toBe("reverted");
      expect(await bob.statusOf("listings", askId)).toBe("active");
      for (const fill of listings) expect(await send("bob", fill)).toBe("success");
    });

    it("a partner's outage leaves the rest serving and recovers without intervention", async () => {
      const [first, second] = [
        await shownAt(opensea, await mintPunk(testChain, "alice")),
        await shownAt(magiceden, await mintPunk(testChain, "alice")),
      ];
      opensea.fail({ down: "reset" });
      const during = await fillsOf([first, second], accounts.bob.address);
      expect(during.errors).toMatchObject([{ askId: first, code: "upstream_error" }]);
      expect(during.listings.map(({ askId }) => askId)).toEqual([second]);
      opensea.heal();
      await until("the partner to be requested again", async () => {
        const { errors } = await fillsOf([first], accounts.bob.address);
        return errors.length === 0;
      });
    });

    it("a listing sold at its partner is filled here before the partner reports it", async () => {
      const askId = await shownAt(opensea, await mintPunk(testChain, "alice"));
      const [fill] = (await fillsOf([askId], accounts.carol.address)).listings;
      expect(fill && (await send("carol", fill))).toBe("success");
      await untilStatus(bob, "listings", askId, "filled");
      const shown = opensea.book.find(chainId, askId);
      expect(shown?.status).toBe("active");
    });
  });
}
