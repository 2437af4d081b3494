import type { Address, Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { accounts } from "#devnet/accounts.ts";
import { readArtifact } from "#devnet/contracts/artifacts.ts";
import { until } from "#test/support/database/pipeline.ts";
import type { TestChain } from "#test/support/orders/test-chains.ts";
import { openCaller } from "../callers.ts";

/** Waits until the service has a block for final. */
export async function untilFinal(testChain: TestChain, block: bigint): Promise<void> {
  const { api } = openCaller(testChain, "bob");
  await testChain.client.mine({ blocks: 200 });
  await until(`block ${block} to be final`, async () => {
    const { data } = await api.get("/v1/status", {});
    const own = data.chains.find(({ chainId }) => chainId === testChain.chainId);
    return BigInt(own?.finalized?.number ?? 0) >= block;
  });
}

/** The contract of the recipe with the root of a snapshot. */
export async function deployAirdrop({ client }: TestChain, root: Hex): Promise<Address> {
  const { abi = [], bytecode } = readArtifact("Airdrop");
  const account = privateKeyToAccount(accounts.dave.privateKey);
  const hash = await client.deployContract({ abi, bytecode, args: [root], account, chain: null });
  const { contractAddress } = await client.waitForTransactionReceipt({ hash });
  if (!contractAddress) throw new Error("the airdrop was not deployed");
  return contractAddress;
}
