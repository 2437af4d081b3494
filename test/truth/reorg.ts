import { type Hex, isAddressEqual, parseAbi } from "viem";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import type { Fixture } from "./fixture.ts";

const maxDepth = 6;

/** Replaces the chain's last blocks by blocks with none, some or all of the same transactions. */
export async function reorganize(fixture: Fixture): Promise<string> {
  const { random, marketContext } = fixture;
  const { client } = marketContext;
  const depth = 1 + random.below(maxDepth);
  const head = await client.getBlockNumber();
  const raw: Hex[] = [];
  for (let number = head - BigInt(depth) + 1n; number <= head; number += 1n) {
    const { transactions } = await client.getBlock({ blockNumber: number });
    for (const hash of transactions) {
      raw.push(
        await client.request({ method: "eth_getRawTransactionByHash", params: [hash] } as never),
      );
    }
  }
  const share = random.pick(["none", "all", "some"] as const);
  const repeated = share === "some" ? raw.slice(0, random.below(raw.length + 1)) : raw;
  const blockIndexes = repeated.map(() => random.below(depth)).sort((a, b) => a - b);
  const pairs = share === "none" ? [] : repeated.map((tx, index) => [tx, blockIndexes[index]]);
  await client.request({ method: "anvil_reorg", params: [depth, pairs] } as never);
  fixture.reorged = true;
  fixture.walletOwner = await readWalletOwner(fixture);
  return `reorg of ${depth}, ${pairs.length} of ${raw.length} transactions again`;
}

/** The wallet's code changes back when the block that changed it is retracted. */
async function readWalletOwner({ marketContext }: Fixture): Promise<Fixture["walletOwner"]> {
  const owner = await marketContext.client.readContract({
    address: contracts.smartWallet,
    abi: parseAbi(["function owner() view returns (address)"]),
    functionName: "owner",
  });
  return isAddressEqual(owner, accounts.alice.address) ? "alice" : "bob";
}
