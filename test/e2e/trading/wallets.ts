import { describe, expect, it } from "vitest";
import { contracts } from "#devnet/contracts/addresses.ts";
import {
  lookAtPlan,
  newListing,
  newToken,
  openToken,
  openVisitorOf,
  press,
  type Site,
  sheetOf,
  untilHead,
} from "./visitor.ts";

/** Which wallet is used, and what it refuses to sign. */
export function describeWallets(site: () => Site): void {
  describe("wallets of the browser:", () => {
    const chainId = 33139;

    it("of several that announce themselves one is chosen, and taken again", async () => {
      const testChain = site().opened.chain(chainId);
      const { nft } = await newListing(testChain, "1");
      const { page, close } = await openVisitorOf(site(), {
        ...{ chainId, width: 390, person: "bob" },
        others: ["Other"],
      });
      await openToken(page, testChain, nft.tokenId);
      await press(page, "Buy");
      await untilHead(page, "Which wallet?");
      const names = await sheetOf(page).locator(".choices button").allInnerTexts();
      expect(names.toSorted()).toEqual(["Other", "Test wallet"]);
      await press(page, "Test wallet");
      await lookAtPlan(page, "trading-two-wallets", ["You pay"]);
      await page.reload();
      await press(page, "Buy");
      await lookAtPlan(page, "trading-same-wallet", ["You pay"]);
      await close();
    });

    it("a phone's first screen has a token's picture, name, price and what can be done", async () => {
      const testChain = site().opened.chain(chainId);
      const { nft } = await newListing(testChain, "1");
      const { page, close } = await openVisitorOf(site(), {
        ...{ chainId, width: 390, person: "bob" },
      });
      await openToken(page, testChain, nft.tokenId);
      const price = page.locator("dd", { hasText: "1 APE" }).first();
      const parts = [
        page.locator("main .media").first(),
        page.getByRole("heading", { level: 1 }),
        page.getByRole("button", { name: "Buy", exact: true }),
        price,
      ];
      let above = 0;
      for (const part of parts) {
        const box = await part.boundingBox();
        expect(box?.y).toBeGreaterThanOrEqual(above);
        above = (box?.y ?? 0) + (box?.height ?? 0);
      }
      expect(above).toBeLessThanOrEqual(844);
      await close();
    });

    it("a signature that is refused is asked for again, and nothing is done twice", async () => {
      const testChain = site().opened.chain(chainId);
      const nft = await newToken(testChain, "grace");
      await testChain.actors.grace.approves(contracts.punks);
      const { page, wallet, close } = await openVisitorOf(site(), {
        ...{ chainId, width: 390, person: "grace" },
      });
      await openToken(page, testChain, nft.tokenId);
      await press(page, "List for sale");
      await page.getByLabel("Price of a unit").fill("3");
      await press(page, "Make the plan");
      await lookAtPlan(page, "trading-refused", ["You receive in all"]);
      wallet.refuseNext();
      await press(page, "Go on in the wallet");
      await untilHead(page, "You said no in the wallet");
      expect(wallet.asked).toEqual({ signatures: 0, transactions: 0 });
      await press(page, "Try again");
      await untilHead(page, /: done$/);
      expect(wallet.asked).toEqual({ signatures: 1, transactions: 0 });
      await close();
    });
  });
}
