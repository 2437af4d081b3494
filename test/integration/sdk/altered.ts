import { parseEther } from "viem";
import { beforeAll, describe, expect, it } from "vitest";
import { contracts } from "#devnet/contracts/addresses.ts";
import type { Trader } from "#sdk/src/viem/index.ts";
import {
  mintPunk,
  orderRequest,
  type Person,
  type TestChain,
} from "#test/support/orders/test-chains.ts";
import { seedsOf } from "#test/support/thoroughness.ts";
import {
  type Alteration,
  alteredAcceptances,
  alteredBids,
  alteredComponents,
  alteredListings,
  alteredMatches,
  alteredPurchases,
  alteredSweeps,
} from "./altered-answers.ts";
import { answering, openCaller, postedId } from "./callers.ts";

type Target = {
  by: Person;
  path: RegExp;
  alterations: Record<string, Alteration>;
  attempt: (trader: Trader) => Promise<unknown>;
};

/** The quote of a purchase is checked too, as far as it can be without a plan. */
const inBulk = Object.fromEntries(
  Object.entries(alteredPurchases).map(([name, alter]): [string, Alteration] => [
    name,
    ({ listings }: { listings: unknown[] }) => alter(listings[0]),
  ]),
);

/** A server that lies: refused at every place before anything is signed or sent. */
export function describeAlteredAnswers(openChain: () => TestChain): void {
  describe("an altered answer is refused before anything is signed or sent:", () => {
    const targets: Record<string, Target> = {};
    let testChain: TestChain;
    beforeAll(async () => {
      testChain = openChain();
      const alice = openCaller(testChain, "alice");
      const { bob } = testChain.actors;
      const nft = await mintPunk(testChain, "alice");
      const other = await mintPunk(testChain, "alice");
      const sold = await mintPunk(testChain, "carol");
      const askId = postedId(await alice.trader.list([orderRequest(nft, "1")]));
      await bob.wraps(parseEther("2"));
      const bidder = openCaller(testChain, "bob");
      const bidId = postedId(await bidder.trader.offer([orderRequest(sold, "0.1")]));
      const { contract } = sold;
      const wanted = { contract, unitPriceWei: parseEther("0.2") };
      const anyId = postedId(await bidder.trader.offer([wanted]));
      const { tokenId } = sold;
      Object.assign(targets, {
        buy: attempt("bob", /buy-data$/, alteredPurchases, (to) => to.buy([{ askId }])),
        "buy, when it is planned": attempt("bob", /-bulk$/, inBulk, (to) => to.buy([{ askId }])),
        sweep: attempt("bob", /sweep$/, alteredSweeps, (to) =>
          to.sweep({ collection: contracts.punks, count: 1, budgetWei: parseEther("5") }),
        ),
        accept: attempt("carol", /accept-data$/, alteredAcceptances, (to) => to.accept({ bidId })),
        "accept for any token": attempt("carol", /accept-data$/, alteredMatches, (to) =>
          to.accept({ bidId: anyId, tokenId }),
        ),
        list: attempt("alice", /requirements$/, alteredListings, (to) =>
          to.list([orderRequest(other, "3")]),
        ),
        offer: attempt("bob", /requirements$/, alteredBids, (to) =>
          to.offer([orderRequest(sold, "0.3")]),
        ),
        cancel: attempt("alice", /components$/, alteredComponents, (to) =>
          to.cancel({ askIds: [askId] }),
        ),
      } satisfies typeof targets);
    });

    const tables = {
      buy: alteredPurchases,
      "buy, when it is planned": inBulk,
      sweep: alteredSweeps,
      accept: alteredAcceptances,
      "accept for any token": alteredMatches,
      list: alteredListings,
      offer: alteredBids,
      cancel: alteredComponents,
    };
    const rows = Object.entries(tables).flatMap(([verb, alterations]) =>
      seedsOf(Object.keys(alterations), 4).map((name) => [verb, name] as const),
    );

    it.each(rows)("%s: %s", async (verb, name) => {
      const target = targets[verb];
      const alter = target?.alterations[name];
      if (target === undefined || alter === undefined) throw new Error("no such case");
      let altered = 0;
      const fetch = answering(target.path, (data) => {
        altered += 1;
        alter(data);
        return data;
      });
      const liar = openCaller(testChain, target.by, { fetch });
      await expect(target.attempt(liar.trader)).rejects.toMatchObject({ code: "unsafe_answer" });
      expect(altered).toBe(1);
      expect(liar.signed).toEqual({ orders: 0, transactions: 0 });
    });

    it("the same answers, unaltered, pass", async () => {
      for (const { by, attempt } of [targets.buy, targets.accept, targets.list].filter(isDefined))
        await attempt(openCaller(testChain, by, { fetch: answering(/./, (data) => data) }).trader);
    });

    it("a total of open bids that is too high does not make the approval grow", async () => {
      const stranger = await mintPunk(testChain, "carol");
      await testChain.actors.erin.wraps(parseEther("1"));
      await testChain.actors.erin.allows(5n);
      const fetch = answering(/requirements$/, (data: object) => ({
        ...data,
        openOffersWei: `${10n ** 30n}`,
        requiredAllowanceWei: `${10n ** 30n}`,
      }));
      const liar = openCaller(testChain, "erin", { fetch });
      const plan = await liar.trader.plan.offer([orderRequest(stranger, "0.1")]);
      expect(plan.steps[0]).toMatchObject({ amountWei: `${parseEther("0.1") + 5n}` });
    });

    const html = { headers: { "content-type": "text/html" } };
    const refusal = (status: number, code: string, headers = {}) =>
      Response.json({ success: false, code, message: "Later" }, { status, headers });
    const failures: Record<string, [code: string, () => Response]> = {
      HTML: ["unexpected_answer", () => new Response("<html>busy</html>", html)],
      nothing: ["unexpected_answer", () => new Response("")],
      "429": ["rate_limited", () => refusal(429, "rate_limited", { "retry-after": "60" })],
      "500": ["internal", () => refusal(500, "internal")],
      "502 of a proxy": ["unexpected_answer", () => new Response("<html>", { status: 502 })],
      "503": ["unavailable", () => refusal(503, "unavailable")],
      "no connection": [
        "network",
        () => {
          throw new TypeError("fetch failed");
        },
      ],
      "a lie about what was posted": [
        "unsafe_answer",
        () => Response.json({ data: { results: [] } }),
      ],
    };
    it.each(seedsOf(Object.entries(failures), 3))(
      "%s in place of an answer is a typed error, and the plan goes on",
      async (_, [code, answer]) => {
        const nft = await mintPunk(testChain, "alice");
        const alice = openCaller(testChain, "alice");
        const plan = await alice.trader.plan.list([orderRequest(nft, "3")]);
        const broken = openCaller(testChain, "alice", { fetch: () => Promise.resolve(answer()) });
        let stored = plan;
        const onStep = (_step: unknown, now: typeof plan) => {
          stored = now;
        };
        await expect(broken.trader.run(plan, { onStep })).rejects.toMatchObject({ code });
        expect(stored.steps.at(-1)).toMatchObject({ kind: "post", state: "failed" });
        const end = await alice.trader.run(stored);
        expect(end.steps.at(-1)).toMatchObject({ results: [{ status: "active" }] });
        expect(alice.signed.orders).toBe(0);
      },
    );

    it("a price that moved is a typed error: the plan fails, and a new one keeps the limit", async () => {
      const nft = await mintPunk(testChain, "alice");
      const { trader } = openCaller(testChain, "alice");
      const askId = postedId(await trader.list([orderRequest(nft, "1")]));
      const buyer = openCaller(testChain, "bob");
      const item = { contract: nft.contract, tokenId: nft.tokenId };
      const limit = { maxPriceWei: parseEther("1") };
      const plan = await buyer.trader.plan.buy([item], limit);
      const relisted = await trader.relist([{ askId, unitPriceWei: parseEther("2") }]);
      await expect(buyer.trader.run(plan)).rejects.toMatchObject({ code: "unavailable" });
      const dearer = [{ askId: postedId(relisted) }];
      await expect(buyer.trader.buy(dearer, limit)).rejects.toMatchObject({ code: "price_limit" });
      expect(buyer.signed.transactions).toBe(0);
    });

    it("a wallet or a public client on another chain, and another account, are refused", async () => {
      const { trader } = openCaller(testChain, "bob");
      const plan = await trader.plan.approve({ offersWei: 1n });
      const elsewhere = { getChainId: () => Promise.resolve(1) } as never;
      const { wallet } = openCaller(testChain, "bob");
      const moved = { ...wallet, getChainId: () => Promise.resolve(1) };
      const cases = [
        [openCaller(testChain, "bob", { walletClient: moved }), "wrong_chain"],
        [openCaller(testChain, "bob", { publicClient: elsewhere }), "wrong_chain"],
        [openCaller(testChain, "carol"), "wrong_account"],
      ] as const;
      for (const [caller, code] of cases)
        await expect(caller.trader.run(plan)).rejects.toMatchObject({ code });
    });
  });
}

const isDefined = (target: Target | undefined) => target !== undefined;

function attempt(
  by: Person,
  path: RegExp,
  alterations: Record<string, Alteration>,
  attempt: Target["attempt"],
): Target {
  return { by, path, alterations, attempt };
}
