import { type Address, encodeFunctionData, getAddress, namehash, toHex } from "viem";
import { packetToBytes, toCoinType } from "viem/ens";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ensRegistry } from "../abis/deployments.ts";
import { accounts } from "./accounts.ts";
import { type Anvil, startAnvil } from "./anvil.ts";
import { connect, type DevnetClient } from "./client.ts";
import { ensRegistryAbi, publicResolverAbi, wildcardResolverAbi } from "./contracts/abis.ts";
import { ensContracts } from "./contracts/addresses.ts";
import { installEns } from "./ens.ts";

const { alice, bob, carol, dave, erin } = accounts;
let anvil: Anvil;
let client: DevnetClient;

beforeAll(async () => {
  anvil = await startAnvil({ chainId: 1 });
  client = connect(anvil);
  await installEns(client);
});

afterAll(() => anvil.stop());

const resolverOf = (name: string): Promise<Address> =>
  client.readContract({
    address: ensRegistry,
    abi: ensRegistryAbi,
    functionName: "resolver",
    args: [namehash(name)],
  });

async function addrOf(name: string): Promise<Address> {
  return client.readContract({
    address: await resolverOf(name),
    abi: publicResolverAbi,
    functionName: "addr",
    args: [namehash(name)],
  });
}

/** Asks a resolver for a name below the one it is registered for (ENSIP-10). */
async function resolve(parent: string, name: string, coinType: bigint) {
  const data = encodeFunctionData({
    abi: publicResolverAbi,
    functionName: "addr",
    args: [namehash(name), coinType],
  });
  return client.readContract({
    address: await resolverOf(parent),
    abi: wildcardResolverAbi,
    functionName: "resolve",
    args: [toHex(packetToBytes(name)), data],
  });
}

async function primaryNameOf(account: Address): Promise<string> {
  const name = `${account.slice(2).toLowerCase()}.addr.reverse`;
  return client.readContract({
    address: await resolverOf(name),
    abi: publicResolverAbi,
    functionName: "name",
    args: [namehash(name)],
  });
}

describe("names of the local chain 1", () => {
  it("lead to an address, and to another one on ApeChain", async () => {
    const apeChainAddress = await client.readContract({
      address: await resolverOf("alice.eth"),
      abi: publicResolverAbi,
      functionName: "addr",
      args: [namehash("alice.eth"), toCoinType(33139)],
    });
    expect(await addrOf("alice.eth")).toBe(alice.address);
    expect(getAddress(apeChainAddress)).toBe(erin.address);
  });

  it("may have a resolver and no address", async () => {
    expect(await resolverOf("plain.eth")).toBe(getAddress(ensContracts.publicResolver));
    expect(Number(await addrOf("plain.eth"))).toBe(0);
  });

  it("are answered below a wildcard, nested ones too", async () => {
    const answers = await Promise.all(
      ["dave.wild.eth", "nobody.wild.eth", "dave.deep.wild.eth"].map((name) =>
        resolve("wild.eth", name, 60n),
      ),
    );
    const known = answers.map((answer) =>
      answer.toLowerCase().includes(dave.address.slice(2).toLowerCase()),
    );
    expect(known).toEqual([true, false, true]);
    expect(await resolverOf("dave.wild.eth")).toMatch(/^0x0+$/);
  });

  it("may be kept offchain, which the resolver says by reverting", async () => {
    const offchainLookup = "0x556f1830";
    await expect(resolve("hidden.eth", "hidden.eth", 60n)).rejects.toThrow(offchainLookup);
  });

  it("name accounts in reverse, whether or not they lead back", async () => {
    expect(await primaryNameOf(alice.address)).toBe("alice.eth");
    expect(await primaryNameOf(carol.address)).toBe("bob.eth");
    expect(await addrOf("bob.eth")).toBe(bob.address);
  });

  it("distinguish wildcard resolvers from plain ones by their interface", async () => {
    const isExtended = async (name: string) =>
      client.readContract({
        address: await resolverOf(name),
        abi: publicResolverAbi,
        functionName: "supportsInterface",
        args: ["0x9061b923"],
      });
    expect([await isExtended("wild.eth"), await isExtended("alice.eth")]).toEqual([true, false]);
  });
});
