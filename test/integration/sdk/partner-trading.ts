import { parseEther } from "viem";
import { beforeAll, describe, expect, it } from "vitest";
import { accounts } from "#devnet/accounts.ts";
import type { StandIn } from "#devnet/marketplaces/stand-in.ts";
import type { Nft } from "#projections/domain/seaport/draft-components.ts";
import type { Plan } from "#sdk/src/viem/index.ts";
import { until } from "#test/support/database/pipeline.ts";
import {
  mintEdition,
  mintPunk,
  orderRequest,
  type TestChain,
  untilStatus,
  weiOf,
} from "#test/support/orders/test-chains.ts";
import { openCaller, postedId } from "./callers.ts";

export type Partners = { opensea: StandIn; magiceden: StandIn };

/** Every step of that many purchases, to the sync of the order book. */
function expectDone({ steps }: Plan, purchases: number): void {
  expect(steps.filter(({ state }) => state !== "done" && state !== "skipped")).toEqual([]);
  expect(steps.filter(({ kind }) => kind === "sync")).toHaveLength(purchases);
}

type Sale = { currency?: "wrapped"; quantity?: bigint };

/** Listings of partner marketplaces, bought by the client. */
export function describePartnerTrading(
  openChain: () => TestChain,
  openPartners: () => Partners,
): void {
  describe("listings of partners, through the client,", () => {
    let testChain: TestChain;
    let partners: Partners;
    beforeAll(() => {
      testChain = openChain();
      partners = openPartners();
    });

    const becomes = (id: string, status: string) =>
      untilStatus(testChain.trader("bob"), "listings", id, status);

    /** Alice lists at a partner; the listing's id as soon as the API shows it as active. */
    async function shownAt(partner: StandIn, nft: Nft, sale: Sale = {}): Promise<string> {
      const { chainId } = testChain;
      const terms = { chainId, maker: accounts.alice, nft, priceWei: parseEther("1"), ...sale };
      const { orderHash } = await partner.sell(terms);
      const id = partner.partner === "opensea" ? orderHash : `magiceden-${orderHash}`;
      await until(`${id} to be shown`, async () => {
        const { status } = await testChain
          .trader("bob")
          .get(`/v1/listings/${id}?chainId=${chainId}`);
        return status === 200;
      });
      await becomes(id, "active");
      return id;
    }
    const punk = () => mintPunk(testChain, "alice");

    it("one of each marketplace is bought in one plan, found by its token or by its id", async () => {
      const own = await openCaller(testChain, "alice").trader.list([
        orderRequest(await punk(), "1"),
      ]);
      const found = await punk();
      const sought = await shownAt(partners.magiceden, found);
      const { trader } = openCaller(testChain, "bob");
      const [askId, other] = [postedId(own), await shownAt(partners.opensea, await punk())];
      const items = [{ askId }, { askId: other }];
      const third = { contract: found.contract, tokenId: found.tokenId };
      const limit = { maxPriceWei: parseEther("3") };
      expectDone(await trader.buy([...items, third], limit), 3);
      for (const id of [askId, other, sought]) await becomes(id, "filled");
    });

    it("one that is priced in the wrapped currency is approved exactly and paid in it", async () => {
      const askId = await shownAt(partners.magiceden, await punk(), { currency: "wrapped" });
      const { actors, currency } = testChain;
      await actors.frank.wraps(parseEther("2"));
      await actors.frank.allows(0n);
      const { trader } = openCaller(testChain, "frank");
      const plan = await trader.plan.buy([{ askId }], { maxPriceWei: parseEther("1") });
      const [approve, , send] = plan.steps;
      expect(approve).toMatchObject({ amountWei: `${parseEther("1")}`, isApproved: false });
      expect(send).toMatchObject({ costs: { wei: `${parseEther("1")}`, currency } });
      const before = await weiOf(testChain, accounts.frank.address);
      expectDone(await trader.run(plan), 1);
      await becomes(askId, "filled");
      expect(before - (await weiOf(testChain, accounts.frank.address))).toBe(parseEther("1"));
    });

    it("three of four units are bought, and one is left", async () => {
      const nft = await mintEdition(testChain, "alice", 4n);
      const askId = await shownAt(partners.opensea, nft, { quantity: 4n });
      const { trader, api } = openCaller(testChain, "bob");
      await trader.buy([{ askId, quantity: 3n }]);
      await until("one unit to be left", async () => {
        const { data } = await api.get("/v1/listings/{askId}", { askId });
        return data.quantityRemainingExact === "1";
      });
    });

    it("while a partner is away, its listing fails alone and the plan goes on later", async () => {
      const [away, own] = [
        await shownAt(partners.opensea, await punk()),
        await openCaller(testChain, "alice").trader.list([orderRequest(await punk(), "1")]),
      ];
      const { trader } = openCaller(testChain, "bob");
      const plan = await trader.plan.buy([{ askId: away }]);
      partners.opensea.fail({ down: "refusing" });
      try {
        const both = await trader.buy([{ askId: away }, { askId: postedId(own) }]);
        expect(both.refused).toMatchObject([{ index: 0, code: "upstream_error" }]);
        expectDone(both, 1);
        await expect(trader.run(plan)).rejects.toMatchObject({ code: "upstream_error" });
      } finally {
        partners.opensea.heal();
      }
      expectDone(await trader.run(plan), 1);
      await becomes(away, "filled");
    });
  });
}
