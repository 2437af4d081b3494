import { parseEther } from "viem";
import { describe, expect, it } from "vitest";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import { orderRequest, untilDerived, weiOf } from "#test/support/orders/test-chains.ts";
import {
  allPostedIn,
  carryOut,
  lookAtPlan,
  newToken,
  openToken,
  openVisitorOf,
  own,
  press,
  readApproval,
  reloadAtAnswers,
  type Site,
  sheetOf,
  untilHead,
} from "./visitor.ts";

/** Wallets that take several calls as one transaction (EIP-5792). */
export function describeTogether(site: () => Site): void {
  describe("with a wallet that takes calls together,", () => {
    const chainId = 33139;
    const open = (person: "carol" | "dave") =>
      openVisitorOf(site(), { chainId, width: 390, person });

    it("approval and sale are one question, through a reload and a refusal", async () => {
      const testChain = site().opened.chain(chainId);
      const nft = await newToken(testChain, "carol");
      await testChain.actors.carol.revokes(contracts.punks);
      await testChain.actors.erin.wraps(parseEther("9"));
      await testChain.actors.erin.allows(parseEther("9"));
      await untilDerived(testChain);
      const bidId = await testChain.trader("erin").bids(orderRequest(nft, "4.5"));
      await untilDerived(testChain);
      const visitor = await open("carol");
      const { page, wallet } = visitor;
      wallet.takeTogether();
      await openToken(page, testChain, nft.tokenId);
      await press(page, "Accept the best offer");
      await lookAtPlan(page, "trading-together", ["one question for 2 transactions"]);
      wallet.refuseNext();
      await press(page, "Go on in the wallet");
      await untilHead(page, "You said no in the wallet");
      reloadAtAnswers(visitor);
      await press(page, "Try again");
      await untilHead(page, /: done$/);
      expect(wallet.asked).toEqual({ signatures: 0, transactions: 1 });
      expect(await testChain.trader("carol").statusOf("bids", bidId)).toBe("filled");
      expect(own(visitor.complaints)).toEqual([]);
      await visitor.close();
    });

    it("what fails leaves nothing behind: no approval without the sale", async () => {
      const testChain = site().opened.chain(chainId);
      const nft = await newToken(testChain, "carol");
      const { carol, erin } = testChain.actors;
      await carol.revokes(contracts.punks);
      await erin.wraps(parseEther("9"));
      await erin.allows(parseEther("9"));
      await untilDerived(testChain);
      await testChain.trader("erin").bids(orderRequest(nft, "5.5"));
      await untilDerived(testChain);
      const { page, wallet, close } = await open("carol");
      wallet.takeTogether();
      await openToken(page, testChain, nft.tokenId);
      await press(page, "Accept the best offer");
      await lookAtPlan(page, "trading-atomic", ["one question for 2 transactions"]);
      wallet.beforeCalls(() => erin.allows(0n));
      await press(page, "Go on in the wallet");
      await sheetOf(page)
        .getByRole("button", { name: /again|new plan/ })
        .waitFor();
      expect(wallet.asked.transactions).toBe(1);
      expect(await readApproval(testChain, accounts.carol.address)).toBe(false);
      await close();
    });

    it("wrapping and allowing are one question, and the offer's signature another", async () => {
      const testChain = site().opened.chain(chainId);
      const nft = await newToken(testChain, "alice");
      const { address } = accounts.dave;
      const held = await weiOf(testChain, address);
      const price = held + parseEther("2");
      const visitor = await open("dave");
      const { page, wallet } = visitor;
      wallet.takeTogether();
      await openToken(page, testChain, nft.tokenId);
      await press(page, "Make an offer");
      await page.getByLabel("Price of a unit").fill(`${Number(price) / 1e18}`);
      await press(page, "Make the plan");
      await lookAtPlan(page, "trading-wrap-together", ["one question for 2 transactions"]);
      await carryOut(page);
      expect(wallet.asked).toEqual({ signatures: 1, transactions: 1 });
      const [bidId = ""] = await allPostedIn(page);
      expect(await testChain.trader("dave").statusOf("bids", bidId)).toBe("active");
      await visitor.close();
    });
  });
}
