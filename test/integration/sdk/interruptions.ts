import { type Address, parseEther } from "viem";
import { beforeAll, describe, expect, it } from "vitest";
import { contracts } from "#devnet/contracts/addresses.ts";
import { type Plan, type PlannedOrder, postedIds, type Step } from "#sdk/src/viem/index.ts";
import {
  mintPunk,
  mintPunks,
  orderRequest,
  type Person,
  type TestChain,
} from "#test/support/orders/test-chains.ts";
import { seedsOf } from "#test/support/thoroughness.ts";
import { answering, type Caller, openCaller, postedId, statesOf } from "./callers.ts";

class Killed extends Error {}

type Case = { by: Person; plan: Plan; transactions: number };

/**
 * The process is killed at the second change of a step, the first after that it goes on, before or after it was stored.
 * Says whether it came to that, and what was stored.
 */
async function runKilled(caller: Caller, plan: Plan, isStored: boolean) {
  let stored = plan;
  let changes = 0;
  const onStep = (_: unknown, now: Plan) => {
    changes += 1;
    if (changes === 1 || (changes === 2 && isStored)) stored = JSON.parse(JSON.stringify(now));
    if (changes >= 2) throw new Killed();
  };
  try {
    const end = await caller.trader.run(plan, { onStep });
    return { isKilled: false, stored: end };
  } catch (error) {
    if (!(error instanceof Killed)) throw error;
    return { isKilled: true, stored };
  }
}

/** Each change is lost once and stored the next time, until there is nothing left to do. */
async function runKilledEverywhere(open: () => Caller, plan: Plan) {
  let stored = plan;
  for (let kills = 0; kills < 200; kills += 2) {
    const lost = await runKilled(open(), stored, false);
    if (!lost.isKilled) return { end: lost.stored, kills };
    const next = await runKilled(open(), lost.stored, true);
    stored = next.stored;
  }
  throw new Error(`It does not end: ${JSON.stringify(stored)}`);
}

/** What is the same at each end: states, statuses and results, without ids and hashes. */
const endOf = ({ steps }: Plan) =>
  steps.map((step) => {
    const { kind, state } = step;
    if (step.kind === "post")
      return [kind, state, step.results.map(({ success, status }) => [success, status])];
    return step.kind === "sync" ? [kind, state, step.statuses] : [kind, state];
  });

/** Every verb, killed at every change of every step and run again. */
export function describeInterruptions(openChain: () => TestChain): void {
  describe("a plan that was killed and is run again", () => {
    let testChain: TestChain;
    beforeAll(() => {
      testChain = openChain();
    });

    const listed = async (price = "1") => {
      const nft = await mintPunk(testChain, "alice");
      const plan = await openCaller(testChain, "alice").trader.list([orderRequest(nft, price)]);
      return postedId(plan);
    };
    const planner = (person: Person) => openCaller(testChain, person).trader.plan;

    const bidders: Person[] = ["dave", "frank"];
    const cases: Record<string, () => Promise<Case>> = {
      list: async () => {
        const nfts = await mintPunks(testChain, "grace", 2n);
        await testChain.actors.grace.revokes(contracts.punks);
        const plan = await planner("grace").list(nfts.map((nft) => orderRequest(nft, "1")));
        return { by: "grace", plan, transactions: 1 };
      },
      buy: async () => {
        const items = [{ askId: await listed() }, { askId: await listed() }];
        return { by: "bob", plan: await planner("bob").buy(items), transactions: 2 };
      },
      // Each bidder has no other bid, which would need a part of the allowance.
      offer: async () => {
        const nft = await mintPunk(testChain, "carol");
        const by = bidders.shift() ?? "erin";
        await testChain.actors[by].wraps(parseEther("1"));
        await testChain.actors[by].allows(0n);
        const plan = await planner(by).offer([orderRequest(nft, "0.1")]);
        return { by, plan, transactions: 1 };
      },
      approve: async () => {
        const { grace } = testChain.actors;
        await grace.revokes(contracts.punks);
        await grace.allows(0n);
        const plan = await planner("grace").approve({
          contracts: [contracts.punks],
          offersWei: 7n,
        });
        return { by: "grace", plan, transactions: 2 };
      },
      accept: async () => {
        const nft = await mintPunk(testChain, "carol");
        await testChain.actors.bob.wraps(parseEther("1"));
        const bidder = openCaller(testChain, "bob");
        const bidId = postedId(await bidder.trader.offer([orderRequest(nft, "0.1")]));
        await testChain.actors.carol.revokes(contracts.punks);
        return { by: "carol", plan: await planner("carol").accept({ bidId }), transactions: 2 };
      },
      cancel: async () => {
        const askIds = [await listed(), await listed()];
        return { by: "alice", plan: await planner("alice").cancel({ askIds }), transactions: 1 };
      },
      relist: async () => {
        const items = [{ askId: await listed(), unitPriceWei: parseEther("2") }];
        return { by: "alice", plan: await planner("alice").relist(items), transactions: 1 };
      },
    };

    const nonceOf = (address: Address) => testChain.client.getTransactionCount({ address });

    it.each(seedsOf(Object.entries(cases), 2))(
      "%s: at every change, nothing twice, the same end",
      async (verb, prepare) => {
        const whole = await prepare();
        const uninterrupted = await openCaller(testChain, whole.by).trader.run(whole.plan);

        const { by, plan, transactions } = await prepare();
        const before = await nonceOf(plan.account);
        const { end, kills } = await runKilledEverywhere(() => openCaller(testChain, by), plan);
        expect(endOf(end), verb).toEqual(endOf(uninterrupted));
        expect((await nonceOf(plan.account)) - before).toBe(transactions);
        expect(kills).toBeGreaterThan(2 * plan.steps.length);
        await expectPostedOnce(end);
      },
    );

    it("goes on with a transaction that is still pending, and sends no other", async () => {
      const { client } = testChain;
      const plan = await planner("bob").buy([{ askId: await listed() }]);
      const before = await nonceOf(plan.account);
      await client.setAutomine(false);
      try {
        let stored = plan;
        const onStep = (step: Step, now: Plan) => {
          if (step.kind === "send" && step.transaction?.hash !== undefined) throw new Killed();
          stored = JSON.parse(JSON.stringify(now));
        };
        const killed = openCaller(testChain, "bob").trader.run(plan, { onStep });
        await expect(killed).rejects.toThrow(Killed);
        const resumed = openCaller(testChain, "bob");
        await expect(resumed.trader.run(stored, { mineTimeoutMs: 50 })).rejects.toMatchObject({
          code: "not_mined",
        });
        const ending = resumed.trader.run(stored);
        await client.mine({ blocks: 1 });
        expect((await ending).steps.at(-1)).toMatchObject({ statuses: ["filled"] });
        expect(resumed.signed.transactions).toBe(0);
        expect((await nonceOf(plan.account)) - before).toBe(1);
      } finally {
        await client.setAutomine(true);
      }
    });

    it("was refused in the wallet: nothing was sent, and it can be run again", async () => {
      const plan = await planner("bob").buy([{ askId: await listed() }]);
      const refusal = Object.assign(new Error("no"), { code: 4001 });
      const { wallet } = openCaller(testChain, "bob");
      const refusing: typeof wallet = {
        ...wallet,
        sendTransaction: () => Promise.reject(refusal),
      };
      const stored: Plan[] = [];
      const onStep = (_: Step, now: Plan) => void stored.push(now);
      const unwilling = openCaller(testChain, "bob", { walletClient: refusing });
      await expect(unwilling.trader.run(plan, { onStep })).rejects.toMatchObject({
        code: "refused",
      });
      const [last] = stored.slice(-1);
      expect(last?.steps[0]).toMatchObject({ state: "failed", error: { code: "refused" } });
      const end = await openCaller(testChain, "bob").trader.run(last ?? plan);
      expect(end.steps.at(-1)).toMatchObject({ statuses: ["filled"] });
    });

    it("of a sweep, what was sold meanwhile fails alone, by the contract's reason in words", async () => {
      const [one, two] = [await listed(), await listed()];
      const plan = await planner("bob").buy([{ askId: one }, { askId: two }]);
      const stale = await planner("bob").buy([{ askId: one }]);
      const call = await testChain.trader("bob").buyCall(one);
      await openCaller(testChain, "carol").trader.buy([{ askId: one }]);
      const swept = await openCaller(testChain, "bob").trader.run(plan);
      expect(statesOf(swept)).toEqual([
        ...["send failed", "confirm waiting", "sync waiting"],
        ...["send done", "confirm done", "sync done"],
      ]);
      await expect(openCaller(testChain, "bob").trader.run(stale)).rejects.toMatchObject({
        name: "MarketError",
        code: "unavailable",
      });
      // The API answers with what it knew before.
      const before = { ...call, value: `${call.value}` };
      const late = openCaller(testChain, "bob", { fetch: answering(/buy-data$/, () => before) });
      await expect(late.trader.run(stale)).rejects.toMatchObject({
        code: "reverted",
        reason: "OrderAlreadyFilled",
        message: expect.stringContaining("filled already"),
      });
    });

    /** No order beside those of the plan: what was signed twice was the same order. */
    async function expectPostedOnce(plan: Plan): Promise<void> {
      for (const step of plan.steps)
        if (step.kind === "sign")
          for (const order of step.orders) expect(await openOrders(plan.maker, order)).toBe(1);
      expect(new Set(postedIds(plan)).size).toBe(postedIds(plan).length);
    }

    async function openOrders(maker: Address, { side, contract, tokenId }: PlannedOrder) {
      const { api } = openCaller(testChain, "bob");
      const query = { collection: contract, token_id: tokenId ?? "", maker } as const;
      const { meta } =
        side === "ask"
          ? await api.get("/v1/listings", { ...query, marketplace: "native" })
          : await api.get("/v1/bids", query);
      return meta.total;
    }
  });
}
