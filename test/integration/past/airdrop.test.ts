import { type Address, type Hex, parseAbi } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, it } from "vitest";
import { accounts } from "#devnet/accounts.ts";
import { readArtifact } from "#devnet/contracts/artifacts.ts";
import { claimTree, proofNodes } from "#projections/domain/claim-tree.ts";
import { type Market, openMarket } from "#test/support/chain/market.ts";

const airdropAbi = parseAbi([
  "constructor(bytes32 root)",
  "function claim(uint256 units, bytes32[] proof)",
  "function claimed(address) view returns (uint256)",
  "error NotInSnapshot()",
  "error AlreadyClaimed()",
]);

let market: Market;
beforeAll(async () => {
  market = await openMarket({ chainId: 33139 });
});
afterAll(() => market?.stop());

const people = [accounts.alice, accounts.bob, accounts.carol, accounts.dave, accounts.erin];

/** A contract with the root of these claims, and the proofs of all of them. */
async function deploy(count: number) {
  const claims = people
    .slice(0, count)
    .map(({ address }, place) => ({ owner: address, units: BigInt(place + 1) * 10n ** 18n }));
  const { nodes, leaves } = await claimTree(claims);
  const node = (index: number): Hex =>
    `0x${nodes.subarray(index * 32, (index + 1) * 32).toString("hex")}`;
  const { client } = market;
  const hash = await client.deployContract({
    ...{ abi: airdropAbi, bytecode: readArtifact("Airdrop").bytecode, args: [node(0)] },
    ...{ account: privateKeyToAccount(accounts.alice.privateKey), chain: null },
  });
  const { contractAddress } = await client.waitForTransactionReceipt({ hash });
  if (!contractAddress) throw new Error("not deployed");
  const proofs = claims.map(({ owner, units }, place) => ({
    ...{ owner, units },
    proof: proofNodes(leaves[place] ?? 0).map(node),
  }));
  return { address: contractAddress, proofs };
}

async function claim(address: Address, owner: Address, units: bigint, proof: readonly Hex[]) {
  const person = people.find((one) => one.address === owner);
  if (person === undefined) throw new Error("nobody");
  const account = privateKeyToAccount(person.privateKey);
  const call = { address, abi: airdropAbi, functionName: "claim", account } as const;
  const { request } = await market.client.simulateContract({ ...call, args: [units, proof] });
  await market.client.waitForTransactionReceipt({
    hash: await market.client.writeContract({ ...request, chain: null }),
  });
}

it.each([1, 2, 3, 4, 5])(
  "a contract with OpenZeppelin's MerkleProof takes the claims of %i wallets, once, and no others",
  async (count) => {
    const { address, proofs } = await deploy(count);
    const [first] = proofs;
    for (const { owner, units, proof } of proofs) {
      const refused = expect.stringContaining("NotInSnapshot");
      const attempts = [
        [units + 1n, proof],
        [units, [...proof, `0x${"0".repeat(64)}` as const]],
        [units, first?.owner === owner ? ["0x".padEnd(66, "1") as Hex] : (first?.proof ?? [])],
      ] as const;
      for (const [asked, given] of attempts) {
        const outcome = claim(address, owner, asked, given).catch((error) => `${error}`);
        expect(await outcome).toEqual(refused);
      }
      await claim(address, owner, units, proof);
      const read = { address, abi: airdropAbi, functionName: "claimed", args: [owner] } as const;
      expect(await market.client.readContract(read)).toBe(units);
      await expect(claim(address, owner, units, proof)).rejects.toThrow("AlreadyClaimed");
    }
  },
);
