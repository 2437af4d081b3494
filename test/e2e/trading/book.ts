import { parseEther } from "viem";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import { until } from "#test/support/database/pipeline.ts";
import { findBarriers, keepPicture } from "#test/support/http/browser.ts";
import {
  mintEdition,
  orderRequest,
  type TestChain,
  untilDerived,
  untilStatus,
} from "#test/support/orders/test-chains.ts";
import {
  carryOut,
  type Look,
  lookAtPlan,
  newListing,
  newToken,
  openToken,
  openVisitorOf,
  own,
  postedIn,
  press,
  reloadAtAnswers,
  type Site,
} from "./visitor.ts";

const Bid = z.object({
  data: z.object({
    status: z.string(),
    quantityRemaining: z.number(),
    criteria: z.object({ traits: z.array(z.looseObject({ type: z.string() })) }).nullable(),
  }),
});

const bidOf = async ({ baseUrl, chainId }: TestChain, bidId: string) => {
  const response = await fetch(`${baseUrl}/v1/bids/${bidId}?chainId=${chainId}`);
  return Bid.parse(await response.json()).data;
};

/** The trait of each token of the local collections. */
const trait = "Background";

const Described = z.object({
  data: z.object({
    attributes: z.array(z.object({ trait_type: z.string(), value: z.unknown() })).nullable(),
  }),
});

/** What a new token's document says, once it is fetched. */
async function traitOf({ baseUrl, chainId }: TestChain, tokenId: bigint): Promise<string> {
  let found: string | undefined;
  await until(`token ${tokenId} to be described`, async () => {
    const path = `/v1/collections/${contracts.punks}/tokens/${tokenId}?chainId=${chainId}`;
    const { data } = Described.parse(await (await fetch(baseUrl + path)).json());
    const value = data.attributes?.find(({ trait_type }) => trait_type === trait)?.value;
    found = value === undefined ? undefined : String(value);
    return found !== undefined;
  });
  return found ?? "";
}

/** Offers on traits and on units, and the end of orders, each with a reload wherever the wallet answers. */
export function describeBook(site: () => Site, looks: () => readonly Look[]): void {
  const open = (chainId: Look[0], width: number, person: "alice" | "carol" | "erin") =>
    openVisitorOf(site(), { chainId, width, person });

  describe("with a wallet, the book on each chain:", () => {
    it.each(looks())(
      "on chain %i at %i px an offer on a trait is accepted",
      async (chainId, width) => {
        const testChain = site().opened.chain(chainId);
        const nft = await newToken(testChain, "carol");
        const value = await traitOf(testChain, nft.tokenId);
        await testChain.actors.erin.wraps(parseEther("3"));
        const bidder = await open(chainId, width, "erin");
        const chosen = new URLSearchParams({
          chainId: `${chainId}`,
          [`traits[${trait}]`]: value,
        });
        await bidder.page.goto(`${testChain.baseUrl}/collections/${contracts.punks}?${chosen}`);
        await press(bidder.page, "Make an offer");
        await bidder.page.getByLabel("Price of a unit").fill("0.8");
        await press(bidder.page, "Make the plan");
        await lookAtPlan(bidder.page, `trading-trait-${width}`, [value]);
        reloadAtAnswers(bidder);
        await carryOut(bidder.page);
        const bidId = await postedIn(bidder.page);
        expect((await bidOf(testChain, bidId)).criteria?.traits).toMatchObject([
          { type: trait, value },
        ]);
        await bidder.close();

        const seller = await open(chainId, width, "carol");
        await seller.page.goto(`${testChain.baseUrl}/bids/${bidId}?chainId=${chainId}`);
        await press(seller.page, "Accept it");
        await seller.page.getByLabel("Id of your token").fill(`${nft.tokenId}`);
        await press(seller.page, "Make the plan");
        await lookAtPlan(seller.page, `trading-accept-trait-${width}`, [`token ${nft.tokenId}`]);
        reloadAtAnswers(seller);
        await carryOut(seller.page);
        expect((await bidOf(testChain, bidId)).status).toBe("filled");
        expect(own([...bidder.complaints, ...seller.complaints])).toEqual([]);
        await seller.close();
      },
    );

    it.each(looks())(
      "on chain %i at %i px an offer for units is accepted as a whole",
      async (chainId, width) => {
        const testChain = site().opened.chain(chainId);
        const nft = await mintEdition(testChain, "carol", 5n);
        await untilDerived(testChain);
        await testChain.actors.erin.wraps(parseEther("3"));
        const bidder = await open(chainId, width, "erin");
        await openToken(bidder.page, testChain, nft.tokenId, contracts.editions);
        await press(bidder.page, "Make an offer");
        await bidder.page.getByLabel("Price of a unit").fill("0.3");
        await bidder.page.getByLabel("How many").fill("4");
        await press(bidder.page, "Make the plan");
        const wanted = [`4 × token ${nft.tokenId}`];
        await lookAtPlan(bidder.page, `trading-offer-units-${width}`, wanted);
        reloadAtAnswers(bidder);
        await carryOut(bidder.page);
        const bidId = await postedIn(bidder.page);
        await bidder.close();

        await untilDerived(testChain);
        const seller = await open(chainId, width, "carol");
        reloadAtAnswers(seller);
        await openToken(seller.page, testChain, nft.tokenId, contracts.editions);
        await press(seller.page, "Accept the best offer");
        await lookAtPlan(seller.page, `trading-accept-units-${width}`, [
          `4 of token ${nft.tokenId}`,
        ]);
        await carryOut(seller.page);
        expect((await bidOf(testChain, bidId)).status).toBe("filled");
        expect(own([...bidder.complaints, ...seller.complaints])).toEqual([]);
        await seller.close();
      },
    );

    it.each(looks())(
      "on chain %i at %i px a listing is ended, two of three that are picked, and then all orders",
      async (chainId, width) => {
        const testChain = site().opened.chain(chainId);
        const { nft, askId } = await newListing(testChain, "1");
        const visitor = await open(chainId, width, "alice");
        const { page, wallet } = visitor;
        reloadAtAnswers(visitor);
        await page.goto(`${testChain.baseUrl}/listings/${askId}?chainId=${chainId}`);
        await press(page, "End it");
        await lookAtPlan(page, `trading-end-${width}`, []);
        await carryOut(page);
        const alice = testChain.trader("alice");
        expect(await alice.statusOf("listings", askId)).toBe("cancelled");

        const others = [];
        for (const price of ["4", "3", "2"])
          others.push(await alice.lists(orderRequest(nft, price)));
        const [kept = "", ...picked] = others;
        const { address } = accounts.alice;
        await page.goto(`${testChain.baseUrl}/wallets/${address}?chainId=${chainId}&view=listings`);
        for (const id of picked)
          await page.locator(`tr[data-key="${id}"]`).getByRole("checkbox").check();
        expect(await findBarriers(page)).toEqual([]);
        await keepPicture(page, `trading-end-picked-${width}`);
        await press(page, "End selected");
        await lookAtPlan(page, `trading-end-selected-${width}`, []);
        await carryOut(page);
        for (const id of picked) await untilStatus(alice, "listings", id, "cancelled");
        expect(await alice.statusOf("listings", kept)).toBe("active");
        await press(page, "Close");
        await press(page, "End all orders");
        await carryOut(page);
        await untilStatus(alice, "listings", kept, "cancelled");
        expect(wallet.asked).toEqual({ signatures: 0, transactions: 3 });
        expect(own(visitor.complaints)).toEqual([]);
        await visitor.close();
      },
    );
  });
}
