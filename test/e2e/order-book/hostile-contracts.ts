import { maxUint256 } from "viem";
import { expect, it } from "vitest";
import { release } from "#devnet/hostile-contracts/members.ts";
import { until } from "#test/support/database/pipeline.ts";
import {
  mintPunk,
  orderRequest,
  type TestChains,
  untilStatus,
} from "#test/support/orders/test-chains.ts";

const members = [
  "range-flood",
  "return-bomb",
  "large-uri",
  "owner-by-caller",
  "false-transfers",
  "last-ids",
];

/** Defines the test of honest trade beside hostile contracts. */
export function testHostileContracts(testChains: () => TestChains): void {
  it("beside hostile contracts an honest listing is accepted, shown, bought and settled", async () => {
    const testChain = testChains().chain(33139);
    const [alice, bob] = [testChain.trader("alice"), testChain.trader("bob")];
    const released = new Map<string, string>();
    for (const name of members) {
      const { address } = await release(testChain.client, name, 1);
      released.set(name, address);
    }
    const nft = await mintPunk(testChain, "alice");

    const askId = await alice.lists(orderRequest(nft, "1"));
    await untilStatus(bob, "listings", askId, "active");
    expect((await bob.buys(askId)).status).toBe("success");
    await untilStatus(bob, "listings", askId, "filled");

    const tokenOf = (name: string, tokenId: bigint) =>
      bob.get(`/v1/collections/${released.get(name)}/tokens/${tokenId}?chainId=33139`);
    // The honest purchase came after them, so what they said has been read too.
    await until("the hostile tokens to be shown", async () => {
      const answers = [
        await tokenOf("range-flood", 1_499_999n),
        await tokenOf("last-ids", maxUint256),
        await tokenOf("return-bomb", 1n),
      ];
      expect(answers.every(({ status }) => status < 500)).toBe(true);
      return answers.every(({ status }) => status === 200);
    });
  });
}
