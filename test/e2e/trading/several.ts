import type { Page } from "playwright-core";
import { parseEther } from "viem";
import { describe, expect, it } from "vitest";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import { mintEdition, mintPunks, untilDerived, weiOf } from "#test/support/orders/test-chains.ts";
import { findBarriers, keepPicture } from "../../support/http/browser.ts";
import {
  allPostedIn,
  carryOut,
  type Look,
  lookAtPlan,
  newListings,
  newToken,
  openToken,
  openVisitorOf,
  own,
  press,
  readApproval,
  reloadAtAnswers,
  type Site,
  sheetOf,
} from "./visitor.ts";

const pick = (page: Page, tokenId: bigint) =>
  page
    .locator(".card", { has: page.locator(`a[href*="/tokens/${tokenId}?"]`) })
    .getByRole("checkbox")
    .check();

/** Verbs for several tokens, units and approvals, each with a reload wherever the wallet answers. */
export function describeSeveral(site: () => Site, looks: () => readonly Look[]): void {
  const open = (chainId: Look[0], width: number, person: "bob" | "dave" | "erin" | "grace") =>
    openVisitorOf(site(), { chainId, width, person });
  const chainOf = (chainId: Look[0]) => site().opened.chain(chainId);

  describe("with a wallet, several at once:", () => {
    it.each(looks())(
      "on chain %i at %i px five picked cards are bought",
      async (chainId, width) => {
        const testChain = chainOf(chainId);
        const listed = await newListings(testChain, 5n, "0.0005");
        const visitor = await open(chainId, width, "bob");
        const { page, wallet } = visitor;
        const query = `chainId=${chainId}&max_price=0.0005&sort=price_asc`;
        await page.goto(`${testChain.baseUrl}/collections/${contracts.punks}?${query}`);
        for (const { nft } of listed) await pick(page, nft.tokenId);
        expect(await page.getByText("5 selected").isVisible()).toBe(true);
        expect(await findBarriers(page)).toEqual([]);
        await keepPicture(page, `trading-picked-${width}`);
        await press(page, "Buy selected");
        const tokens = listed.map(({ nft }) => `token ${nft.tokenId}`);
        await lookAtPlan(page, `trading-buy-picked-${width}`, [
          "You pay in all",
          "0.0025",
          ...tokens,
        ]);
        reloadAtAnswers(visitor);
        await carryOut(page);
        const bob = testChain.trader("bob");
        for (const { askId } of listed)
          expect(await bob.statusOf("listings", askId)).toBe("filled");
        expect(wallet.asked).toEqual({ signatures: 0, transactions: 1 });
        expect(own(visitor.complaints)).toEqual([]);
        await visitor.close();
      },
    );

    it.each(looks())("on chain %i at %i px three tokens are listed", async (chainId, width) => {
      const testChain = chainOf(chainId);
      await newListings(testChain, 1n, "0.75");
      const nfts = await mintPunks(testChain, "grace", 3n);
      await testChain.actors.grace.revokes(contracts.punks);
      await untilDerived(testChain);
      const visitor = await open(chainId, width, "grace");
      const { page, wallet } = visitor;
      await page.goto(`${testChain.baseUrl}/wallets/${accounts.grace.address}?chainId=${chainId}`);
      for (const { tokenId } of nfts) await pick(page, tokenId);
      await press(page, "List selected");
      await press(page, "Floor");
      const fields = sheetOf(page).getByRole("textbox");
      expect(await fields.count()).toBe(3);
      expect(Number(await fields.nth(2).inputValue())).toBeGreaterThan(0);
      await fields.first().fill("1.25");
      await press(page, "All as the first");
      await fields.nth(1).fill("2.5");
      await keepPicture(page, `trading-prices-${width}`);
      await press(page, "Make the plan");
      await lookAtPlan(page, `trading-list-picked-${width}`, [
        ...nfts.map(({ tokenId }) => `You offer token ${tokenId}`),
        "for 2.5",
        "You receive in all",
        "Fees or royalties to",
      ]);
      reloadAtAnswers(visitor);
      await carryOut(page);
      // One signature for the three; the one that the page did not hear of is asked for again.
      expect(wallet.asked).toEqual({ signatures: 2, transactions: 1 });
      const ids = await allPostedIn(page);
      expect(ids).toHaveLength(3);
      const grace = testChain.trader("grace");
      for (const id of ids) expect(await grace.statusOf("listings", id)).toBe("active");
      expect(own(visitor.complaints)).toEqual([]);
      await visitor.close();
    });

    it.each(looks())("on chain %i at %i px units are listed and bought", async (chainId, width) => {
      const testChain = chainOf(chainId);
      const nft = await mintEdition(testChain, "dave", 10n);
      await untilDerived(testChain);
      const seller = await open(chainId, width, "dave");
      await openToken(seller.page, testChain, nft.tokenId, contracts.editions);
      await press(seller.page, "List for sale");
      await seller.page.getByLabel("Price of a unit").fill("0.5");
      await seller.page.getByLabel("How many").fill("6");
      await press(seller.page, "Make the plan");
      await lookAtPlan(seller.page, `trading-units-${width}`, [`6 × token ${nft.tokenId}`]);
      reloadAtAnswers(seller);
      await carryOut(seller.page);
      const [askId = ""] = await allPostedIn(seller.page);
      await seller.close();

      await testChain.client.mine({ blocks: 1 });
      const buyer = await open(chainId, width, "bob");
      await openToken(buyer.page, testChain, nft.tokenId, contracts.editions);
      await press(buyer.page, "Buy");
      await buyer.page.getByLabel("How many").fill("4");
      await press(buyer.page, "Make the plan");
      await lookAtPlan(buyer.page, `trading-buy-units-${width}`, [`4 of token ${nft.tokenId}`]);
      reloadAtAnswers(buyer);
      await carryOut(buyer.page);
      const { body } = await testChain
        .trader("bob")
        .get(`/v1/listings/${askId}?chainId=${chainId}`);
      expect(body.data).toMatchObject({ status: "active", quantityRemaining: 2 });

      await openToken(buyer.page, testChain, nft.tokenId, contracts.editions);
      const listings = buyer.page.getByRole("table", { name: "Active listings, cheapest first" });
      await listings.getByRole("checkbox").check();
      expect(await findBarriers(buyer.page)).toEqual([]);
      await press(buyer.page, "Buy selected");
      await lookAtPlan(buyer.page, `trading-buy-row-${width}`, [`token ${nft.tokenId}`]);
      await carryOut(buyer.page);
      const left = await testChain.trader("bob").get(`/v1/listings/${askId}?chainId=${chainId}`);
      expect(left.body.data).toMatchObject({ quantityRemaining: 1 });
      await buyer.close();
    });
  });

  describe("with a wallet, what was given is taken back:", () => {
    it.each(looks())("on chain %i at %i px approval and allowance", async (chainId, width) => {
      const testChain = chainOf(chainId);
      const { address } = accounts.erin;
      await testChain.actors.erin.approves(contracts.punks);
      await testChain.actors.erin.allows(parseEther("3"));
      await untilDerived(testChain);
      const visitor = await open(chainId, width, "erin");
      const { page, wallet } = visitor;
      const path = `/wallets/${address}?chainId=${chainId}&view=exposure`;
      reloadAtAnswers(visitor);
      for (const [contract, what] of [
        [testChain.currency, "currency"],
        [contracts.punks, "tokens"],
      ] as const) {
        await page.goto(testChain.baseUrl + path);
        const subject = page.locator(`[title="${contract.toLowerCase()}"]`);
        const found = page.getByRole("row").filter({ has: subject });
        const asked = wallet.asked.transactions;
        await found.getByRole("button", { name: "Revoke it" }).click();
        await lookAtPlan(page, `trading-revoke-${what}-${width}`, ["You take back", what]);
        await carryOut(page);
        expect(wallet.asked.transactions).toBe(asked + 1);
      }
      expect(await readApproval(testChain, address)).toBe(false);
      await untilDerived(testChain);
      await page.goto(testChain.baseUrl + path);
      expect(await page.getByRole("row", { name: "Allowance" }).count()).toBe(0);
      expect(own(visitor.complaints)).toEqual([]);
      await visitor.close();
    });
  });

  describe("with a wallet that has the coin alone,", () => {
    it.each(looks())(
      "on chain %i at %i px an offer wraps what it lacks",
      async (chainId, width) => {
        const testChain = chainOf(chainId);
        const nft = await newToken(testChain, "alice");
        const { dave } = testChain.actors;
        const held = await weiOf(testChain, accounts.dave.address);
        await dave.sendsWrapped(accounts.alice, held);
        // Bids of an earlier look would count again once he has the coin for them.
        await dave.incrementsCounter();
        await dave.wraps(parseEther("0.25"));
        const visitor = await open(chainId, width, "dave");
        const { page, wallet } = visitor;
        await openToken(page, testChain, nft.tokenId);
        await press(page, "Make an offer");
        await page.getByLabel("Price of a unit").fill("1.75");
        await press(page, "Make the plan");
        await lookAtPlan(page, `trading-wrap-${width}`, ["You wrap", "1.5 "]);
        reloadAtAnswers(visitor);
        await carryOut(page);
        const [bidId = ""] = await allPostedIn(page);
        expect(await testChain.trader("dave").statusOf("bids", bidId)).toBe("active");
        const now = await weiOf(testChain, accounts.dave.address);
        expect(now).toBe(parseEther("1.75"));
        expect(wallet.asked.signatures).toBe(2);
        expect(own(visitor.complaints)).toEqual([]);
        await visitor.close();
      },
    );
  });
}
