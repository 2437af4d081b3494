import { type Hex, isAddressEqual, parseAbi } from "viem";
import { accounts } from "../../devnet/accounts.ts";
import { contracts } from "../../devnet/contracts/addresses.ts";
import type { Stage } from "./stage.ts";

const deepest = 6;

/** Replaces the last blocks of the chain: by empty ones, by the same transactions or by some of them, anew in order. */
export async function reorganizes(stage: Stage): Promise<string> {
  const { random, venue } = stage;
  const { client } = venue;
  const depth = 1 + random.below(deepest);
  const kept = await client.getBlockNumber();
  const raw: Hex[] = [];
  for (let number = kept - BigInt(depth) + 1n; number <= kept; number += 1n) {
    const { transactions } = await client.getBlock({ blockNumber: number });
    for (const hash of transactions) {
      raw.push(
        await client.request({ method: "eth_getRawTransactionByHash", params: [hash] } as never),
      );
    }
  }
  const share = random.pick(["none", "all", "some"] as const);
  const again = share === "some" ? raw.slice(0, random.below(raw.length + 1)) : raw;
  const places = again.map(() => random.below(depth)).sort((a, b) => a - b);
  const pairs = share === "none" ? [] : again.map((tx, index) => [tx, places[index]]);
  await client.request({ method: "anvil_reorg", params: [depth, pairs] } as never);
  stage.reorged = true;
  stage.walletOwner = await readWalletOwner(stage);
  return `reorg of ${depth}, ${pairs.length} of ${raw.length} transactions again`;
}

/** The wallet's code is another again when the block of its change was dropped. */
async function readWalletOwner({ venue }: Stage): Promise<Stage["walletOwner"]> {
  const owner = await venue.client.readContract({
    address: contracts.smartWallet,
    abi: parseAbi(["function owner() view returns (address)"]),
    functionName: "owner",
  });
  return isAddressEqual(owner, accounts.alice.address) ? "alice" : "bob";
}
