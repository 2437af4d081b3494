import { parseEther } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import { type Plan, postedIds } from "#sdk/src/viem/index.ts";
import {
  mintPunk,
  orderRequest,
  type Person,
  type TestChain,
} from "#test/support/orders/test-chains.ts";
import { seedsOf } from "#test/support/thoroughness.ts";
import { openCaller, postedId } from "../callers.ts";
import type { BrowserRunner, WalletPage } from "./browser-runner.ts";

/** What a page does, as an expression of `me`, and how often the wallet may be asked for it. */
type Case = { by: Person; makes: string; asked: WalletPage["wallet"]["asked"]; ends: unknown };

const recipe = `import("/recipes/survive-a-reload.js")`;

/** The verbs in a page whose wallet is injected, and which is reloaded while the wallet is at work. */
export function describeReloads(
  openChain: () => TestChain,
  openRunner: () => Promise<BrowserRunner>,
) {
  describe("in Chromium, with an injected wallet and a strict policy,", () => {
    let testChain: TestChain;
    let runner: BrowserRunner;
    beforeAll(async () => {
      testChain = openChain();
      runner = await openRunner();
    });
    afterAll(() => runner?.close());

    const listed = async (price: string) => {
      const nft = await mintPunk(testChain, "alice");
      const { trader } = openCaller(testChain, "alice");
      return postedId(await trader.list([orderRequest(nft, price)]));
    };
    const item = ({ contract, tokenId }: { contract: string; tokenId: bigint }, price: string) =>
      `{ contract: "${contract}", tokenId: ${tokenId}n, unitPriceWei: ${parseEther(price)}n }`;
    const active = { success: true, status: "active" };

    const cases: Record<string, () => Promise<Case>> = {
      list: async () => {
        const nfts = [await mintPunk(testChain, "grace"), await mintPunk(testChain, "grace")];
        await testChain.actors.grace.revokes(contracts.punks);
        const items = nfts.map((nft) => item(nft, "1"));
        const asked = { signatures: 1, transactions: 1 };
        return {
          by: "grace",
          makes: `list([${items}])`,
          asked,
          ends: { results: [active, active] },
        };
      },
      buy: async () => {
        const asked = { signatures: 0, transactions: 1 };
        const makes = `buy([{ askId: "${await listed("1")}" }])`;
        return { by: "bob", makes, asked, ends: { statuses: ["filled"] } };
      },
      offer: async () => {
        const nft = await mintPunk(testChain, "carol");
        await testChain.actors.erin.wraps(parseEther("1"));
        await testChain.actors.erin.allows(0n);
        const makes = `offer([${item(nft, "0.1")}])`;
        const asked = { signatures: 1, transactions: 1 };
        return { by: "erin", makes, asked, ends: { results: [active] } };
      },
      accept: async () => {
        const nft = await mintPunk(testChain, "carol");
        await testChain.actors.bob.wraps(parseEther("1"));
        const { trader } = openCaller(testChain, "bob");
        const bidId = postedId(await trader.offer([orderRequest(nft, "0.1")]));
        await testChain.actors.carol.revokes(contracts.punks);
        const asked = { signatures: 0, transactions: 2 };
        const makes = `accept({ bidId: "${bidId}" })`;
        return { by: "carol", makes, asked, ends: { statuses: ["filled"] } };
      },
      cancel: async () => {
        const makes = `cancel({ askIds: ["${await listed("1")}", "${await listed("1")}"] })`;
        const asked = { signatures: 0, transactions: 1 };
        return { by: "alice", makes, asked, ends: { statuses: ["cancelled", "cancelled"] } };
      },
    };

    /** Carries out a plan in a page that is reloaded after each transaction, and after the first signature. */
    async function carryOutWithReloads({ page, wallet }: WalletPage, makes: string) {
      let reloads = 0;
      let reloading: Promise<unknown> = Promise.resolve();
      wallet.beforeAnswers(async (kind) => {
        if (kind === "signatures" && wallet.asked.signatures > 1) return;
        reloads += 1;
        reloading = page.reload();
        await reloading;
      });
      let work = `${recipe}.then(async ({ me, carryOut }) => carryOut(await me.plan.${makes}))`;
      while (reloads < 10) {
        const before = reloads;
        const end = await page.evaluate(work).catch((error: Error) => {
          // A page goes on as soon as it is loaded, and may be left again before it is asked.
          if (reloads === before && !/navigation/.test(error.message)) throw error;
        });
        if (end !== undefined) return { end: end as Plan, reloads };
        // What runs in the page ends when it is left, before the next one is there.
        await reloading;
        work = `${recipe}.then(({ resumed }) => resumed)`;
      }
      throw new Error("It does not end");
    }

    it.each(seedsOf(Object.entries(cases), 2))(
      "%s: the page is reloaded while the wallet is at work, and nothing is done twice",
      async (_, prepare) => {
        const { by, makes, asked, ends } = await prepare();
        const opened = await runner.open([by]);
        const { page, context, wallet, complaints } = opened;
        const { address } = accounts[by];
        const before = await testChain.client.getTransactionCount({ address });
        const { end, reloads } = await carryOutWithReloads(opened, makes);
        expect(end.steps.at(-1)).toMatchObject({ state: "done", ...(ends as object) });
        // A signature that the page did not hear of is asked for again, for the same order; a transaction is not.
        expect(wallet.asked.transactions).toBe(asked.transactions);
        expect(wallet.asked.signatures).toBe(asked.signatures * 2);
        expect(reloads).toBe(asked.transactions + asked.signatures);
        const count = await testChain.client.getTransactionCount({ address });
        expect(count - before).toBe(asked.transactions);
        expect(await page.evaluate("localStorage.length")).toBe(0);
        expect(new Set(postedIds(end)).size).toBe(postedIds(end).length);
        expect(complaints).toEqual([]);
        await context.close();
      },
    );

    it("a plan whose order has ended is forgotten, and the page says why", async () => {
      const askId = await listed("1");
      const { trader } = openCaller(testChain, "bob");
      const plan = await trader.plan.buy([{ askId }]);
      await openCaller(testChain, "carol").trader.buy([{ askId }]);
      const { page, context, wallet } = await runner.open(["bob"]);
      await page.evaluate(`localStorage.setItem("plan", ${JSON.stringify(JSON.stringify(plan))})`);
      const said = `${recipe}.then(({ resumed, failed }) => [resumed, failed?.name, localStorage.length])`;
      expect(await page.evaluate(said)).toEqual([null, "MarketError", 0]);
      await page.reload();
      expect(await page.evaluate(said)).toEqual([null, undefined, 0]);
      expect(wallet.asked).toEqual({ signatures: 0, transactions: 0 });
      await context.close();
    });

    it("a seller whose bid has ended accepts the next one in the next run", async () => {
      const nft = await mintPunk(testChain, "carol");
      await testChain.actors.bob.wraps(parseEther("100"));
      const bidder = openCaller(testChain, "bob").trader;
      const offered = async (price: string) =>
        postedId(await bidder.offer([orderRequest(nft, price)]));
      await offered("40");
      const bidId = await offered("45");
      const plan = await openCaller(testChain, "carol").trader.plan.accept({ bidId });
      await bidder.cancel({ bidIds: [bidId] });
      const settings = { TOKEN_ID: `${nft.tokenId}` };
      const { page, context } = await runner.open(["carol"], settings);
      const printed: string[] = [];
      page.on("console", (message) => printed.push(message.text()));
      await page.evaluate(`localStorage.setItem("plan", ${JSON.stringify(JSON.stringify(plan))})`);
      const accepts = `import("/recipes/accept-the-best-bid.js").then(() => localStorage.length)`;
      expect(await page.evaluate(accepts)).toBe(0);
      expect(printed.join()).toContain("order_cancelled");
      await page.reload();
      expect(await page.evaluate(accepts)).toBe(0);
      expect(printed.at(-1)).toContain(`Sell token ${nft.tokenId}`);
      await context.close();
    });

    it("a refusal in the wallet and a wallet on another chain are typed errors, and the plan goes on", async () => {
      const { page, context, wallet } = await runner.open(["bob"]);
      const askId = await listed("1");
      const failing = (work: string) =>
        page.evaluate(`${recipe}.then(${work}).then(() => "done", ({ code }) => code)`);
      wallet.refuseNext();
      const buys = `async ({ me, carryOut }) => carryOut(await me.plan.buy([{ askId: "${askId}" }]))`;
      expect(await failing(buys)).toBe("refused");
      const goesOn = `({ carryOut }) => carryOut(JSON.parse(localStorage.getItem("plan")))`;
      wallet.showChain(1);
      expect(await failing(goesOn)).toBe("wrong_chain");
      wallet.showChain(undefined);
      expect(await failing(goesOn)).toBe("done");
      expect(wallet.asked).toEqual({ signatures: 0, transactions: 1 });
      await context.close();
    });
  });
}
