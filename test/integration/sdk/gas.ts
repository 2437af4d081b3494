import { parseEther } from "viem";
import { beforeAll, describe, expect, it } from "vitest";
import { contracts } from "#devnet/contracts/addresses.ts";
import type { Plan } from "#sdk/src/viem/index.ts";
import {
  mintPunk,
  orderRequest,
  type TestChain,
  untilDerived,
} from "#test/support/orders/test-chains.ts";
import { type Caller, openCaller, postedId } from "./callers.ts";

/** Of each transaction the estimate is at least half of what it cost, and at most three times as much. */
async function expectGasAsPlanned({ client }: TestChain, { steps }: Plan): Promise<void> {
  let transactions = 0;
  for (const step of steps) {
    if (!("transaction" in step) || step.transaction?.hash === undefined) continue;
    const { hash } = step.transaction;
    const { gasUsed, effectiveGasPrice } = await client.getTransactionReceipt({ hash });
    const ratio = Number(step.costs.gasWei) / Number(gasUsed * effectiveGasPrice);
    expect(ratio, step.description).toBeGreaterThan(0.5);
    expect(ratio, step.description).toBeLessThan(3);
    transactions += 1;
  }
  expect(transactions).toBeGreaterThan(0);
}

export function describeGas(openChain: () => TestChain): void {
  describe("the gas of a plan", () => {
    let testChain: TestChain;
    beforeAll(() => {
      testChain = openChain();
    });

    it("is named before, near what it then costs", async () => {
      const [one, two] = [await mintPunk(testChain, "grace"), await mintPunk(testChain, "carol")];
      await testChain.actors.grace.revokes(contracts.punks);
      await testChain.actors.carol.revokes(contracts.punks);
      await testChain.actors.bob.wraps(parseEther("1"));
      const [bob, carol] = [openCaller(testChain, "bob"), openCaller(testChain, "carol")];
      const grace = openCaller(testChain, "grace");
      const costs = async ({ trader }: Caller, plan: Promise<Plan>) =>
        expectGasAsPlanned(testChain, await trader.run(await plan));
      const listing = await grace.trader.plan.list([orderRequest(one, "1")]);
      const listed = await grace.trader.run(listing);
      await expectGasAsPlanned(testChain, listed);
      await untilDerived(testChain);
      await costs(bob, bob.trader.plan.buy([{ askId: postedId(listed) }]));
      const offered = await bob.trader.offer([orderRequest(two, "0.1")]);
      await untilDerived(testChain);
      await costs(carol, carol.trader.plan.accept({ bidId: postedId(offered) }));
      const again = await bob.trader.list([orderRequest(one, "2")]);
      await costs(bob, bob.trader.plan.cancel({ askIds: [postedId(again)] }));
      await costs(grace, grace.trader.plan.cancel({ all: true }));
    });
  });
}
