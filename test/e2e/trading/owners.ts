import type { Page } from "playwright-core";
import { parseEther } from "viem";
import { describe, expect, it } from "vitest";
import { contracts } from "#devnet/contracts/addresses.ts";
import { injectSafe, type SafeWallet } from "#test/support/chain/safe-wallet.ts";
import { until } from "#test/support/database/pipeline.ts";
import { findBarriers, keepPicture, openPage } from "#test/support/http/browser.ts";
import {
  mintPunk,
  orderRequest,
  type TestChain,
  untilDerived,
  untilStatus,
  weiOf,
} from "#test/support/orders/test-chains.ts";
import {
  lookAtPlan,
  newListing,
  openToken,
  own,
  postedIn,
  press,
  type Site,
  sheetOf,
  untilHead,
} from "./visitor.ts";

/** The sheet says whom it waits for; it does so again after a reload, when it is asked to. */
async function waitThroughReload(page: Page, name: string): Promise<void> {
  await sheetOf(page).getByText("waiting for the other owners").waitFor();
  expect(await findBarriers(page)).toEqual([]);
  await keepPicture(page, `trading-owners-${name}`);
  await page.reload();
  await page.getByText("waiting for the other owners.").waitFor();
  expect(await findBarriers(page)).toEqual([]);
  await press(page, "Show it");
  await sheetOf(page).getByText("waiting for the other owners").waitFor();
}

/** Minutes pass until the sheet waits no longer: it says that it waits before it counts from when. */
async function untilGivenUp(page: Page): Promise<void> {
  const head = sheetOf(page).getByRole("heading", { name: "Waiting for the other owners" });
  await until("a sheet that waits no longer", async () => {
    await page.clock.fastForward("10:00");
    return await head.isVisible();
  });
}

/** Contract accounts, such as a Safe: what they sign and send is done when enough of their owners agree. */
export function describeOwners(site: () => Site): void {
  describe("with a Safe of two owners,", () => {
    const chainId = 33139;
    const chain = () => site().opened.chain(chainId);

    async function openSafe(how: { takesCalls?: boolean; signsOnChain?: boolean } = {}) {
      const context = await site().testBrowser.browser.newContext({
        viewport: { width: 390, height: 844 },
      });
      await context.route(/^https:/, (route) => route.fulfill({ status: 404, body: "" }));
      const wallet = await injectSafe(context, chain(), { owners: ["dave", "grace"], ...how });
      await chain().client.setBalance({ address: wallet.safe, value: parseEther("10") });
      return { ...(await openPage(context)), wallet, close: () => context.close() };
    }

    /** A token of the Safe, as the pages know it. */
    async function give({ safe }: SafeWallet, testChain: TestChain) {
      const nft = await mintPunk(testChain, "alice");
      await testChain.actors.alice.transfers(nft, { address: safe });
      await untilDerived(testChain);
      return nft;
    }

    const ownerOf = (testChain: TestChain, tokenId: bigint) =>
      testChain.client.readContract({
        address: contracts.punks,
        abi: [
          {
            type: "function",
            name: "ownerOf",
            stateMutability: "view",
            inputs: [{ type: "uint256", name: "id" }],
            outputs: [{ type: "address", name: "" }],
          },
        ] as const,
        functionName: "ownerOf",
        args: [tokenId],
      });

    it("a token is bought once both agree, through a reload", async () => {
      const { nft, askId } = await newListing(chain(), "1");
      const { page, wallet, complaints, close } = await openSafe();
      await openToken(page, chain(), nft.tokenId);
      await press(page, "Buy");
      await lookAtPlan(page, "trading-owners-buy", ["enough of its owners have agreed"]);
      await press(page, "Go on in the wallet");
      await waitThroughReload(page, "wait");
      expect(await sheetOf(page).innerText()).toMatch(/for 1 APE asked for/);
      await wallet.othersAgree();
      await untilHead(page, /: done$/);
      expect(wallet.asked).toEqual({ signatures: 0, transactions: 1 });
      expect(await chain().trader("alice").statusOf("listings", askId)).toBe("filled");
      expect(await ownerOf(chain(), nft.tokenId)).toBe(wallet.safe);
      expect(own(complaints)).toEqual([]);
      await close();
    });

    it("a token is listed by the signature of both, and the listing is ended", async () => {
      const { page, wallet, close } = await openSafe();
      const nft = await give(wallet, chain());
      await openToken(page, chain(), nft.tokenId);
      await press(page, "List for sale");
      await page.getByLabel("Price of a unit").fill("1.5");
      await press(page, "Make the plan");
      await lookAtPlan(page, "trading-owners-list", ["You receive in all"]);
      await press(page, "Go on in the wallet");
      await waitThroughReload(page, "approval");
      await wallet.othersAgree();
      // Its wallet is asked about the same order after a reload.
      await wallet.untilAsked();
      await page.reload();
      await wallet.othersAgree();
      await untilHead(page, /: done$/);
      const askId = await postedIn(page);
      await untilStatus(chain().trader("bob"), "listings", askId, "active");
      await page.goto(`${chain().baseUrl}/listings/${askId}?chainId=${chainId}`);
      await press(page, "End it");
      await lookAtPlan(page, "trading-owners-cancel", ["enough of its owners have agreed"]);
      await press(page, "Go on in the wallet");
      await waitThroughReload(page, "cancel");
      wallet.othersReject();
      await untilHead(page, "Another transaction took its place");
      expect(await sheetOf(page).innerText()).toContain("its owners reject it");
      await press(page, "Try again");
      await wallet.othersAgree();
      await untilHead(page, /: done$/);
      expect(await chain().trader("bob").statusOf("listings", askId)).toBe("cancelled");
      expect(wallet.asked.transactions).toBe(3);
      await close();
    });

    it("an offer that is signed on the chain is made, and accepted by another", async () => {
      const nft = await mintPunk(chain(), "carol");
      await untilDerived(chain());
      const { page, wallet, complaints, close } = await openSafe({ signsOnChain: true });
      await openToken(page, chain(), nft.tokenId);
      await press(page, "Make an offer");
      await page.getByLabel("Price of a unit").fill("2");
      await press(page, "Make the plan");
      await lookAtPlan(page, "trading-owners-offer", ["one question for 2 transactions"]);
      await press(page, "Go on in the wallet");
      await waitThroughReload(page, "wrap");
      await wallet.othersAgree();
      await wallet.untilAsked();
      await waitThroughReload(page, "sign");
      await wallet.othersAgree();
      await untilHead(page, /: done$/);
      expect(wallet.asked).toEqual({ signatures: 1, transactions: 1 });
      const bidId = await postedIn(page);
      const carol = chain().trader("carol");
      await carol.accepts(bidId);
      await untilStatus(carol, "bids", bidId, "filled");
      expect(await ownerOf(chain(), nft.tokenId)).toBe(wallet.safe);
      expect(own(complaints)).toEqual([]);
      await close();
    });

    it("whose wallet returns hashes of its own, an offer is accepted", async () => {
      const { erin } = chain().actors;
      await erin.wraps(parseEther("30"));
      await erin.allows(parseEther("30"));
      const { page, wallet, close } = await openSafe({ takesCalls: false });
      const nft = await give(wallet, chain());
      const bidId = await chain().trader("erin").bids(orderRequest(nft, "4.25"));
      await untilDerived(chain());
      await openToken(page, chain(), nft.tokenId);
      await press(page, "Accept the best offer");
      await lookAtPlan(page, "trading-owners-accept", ["You receive"]);
      await press(page, "Go on in the wallet");
      await waitThroughReload(page, "hash");
      await wallet.othersAgree();
      await wallet.untilAsked();
      await waitThroughReload(page, "second");
      await wallet.othersAgree();
      await untilHead(page, /: done$/);
      expect(wallet.asked).toEqual({ signatures: 0, transactions: 2 });
      expect(await chain().trader("erin").statusOf("bids", bidId)).toBe("filled");
      expect(await weiOf(chain(), wallet.safe)).toBeGreaterThan(parseEther("3"));
      await close();
    });

    it("what never comes ends in words, and can be forgotten", async () => {
      const { nft } = await newListing(chain(), "1");
      const { page, wallet, close } = await openSafe();
      await page.clock.install();
      await openToken(page, chain(), nft.tokenId);
      await press(page, "Buy");
      await lookAtPlan(page, "trading-owners-never", ["You pay"]);
      await press(page, "Go on in the wallet");
      await sheetOf(page).getByText("waiting for the other owners").waitFor();
      await untilGivenUp(page);
      await press(page, "Look again");
      await sheetOf(page).getByText("waiting for the other owners").waitFor();
      await untilGivenUp(page);
      await press(page, "Forget it");
      await page.reload();
      await press(page, "Buy");
      await lookAtPlan(page, "trading-owners-again", ["You pay"]);
      expect(wallet.asked.transactions).toBe(1);
      await close();
    });

    it("what the page did not hear of is not asked for twice", async () => {
      const { nft } = await newListing(chain(), "1");
      const { page, wallet, close } = await openSafe();
      await openToken(page, chain(), nft.tokenId);
      await press(page, "Buy");
      await lookAtPlan(page, "trading-owners-unheard", ["You pay"]);
      wallet.beforeAnswers(() => page.reload());
      await press(page, "Go on in the wallet");
      await untilHead(page, "Your wallet may have it already");
      expect(wallet.asked.transactions).toBe(1);
      await wallet.othersAgree();
      await press(page, "Make a new plan");
      await untilHead(page, /It cannot be done now|The price has moved/);
      expect(wallet.asked.transactions).toBe(1);
      await close();
    });
  });
}
