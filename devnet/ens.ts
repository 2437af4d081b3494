import {
  type Address,
  concat,
  encodeFunctionData,
  type Hex,
  keccak256,
  labelhash,
  namehash,
  pad,
  zeroAddress,
  zeroHash,
} from "viem";
import { toCoinType } from "viem/ens";
import { ensRegistry } from "../abis/deployments.ts";
import { apechain } from "../chains/apechain.ts";
import { ethereum as ethereumChain } from "../chains/ethereum.ts";
import { accounts } from "./accounts.ts";
import type { DevnetClient } from "./client.ts";
import {
  ensRegistryAbi,
  publicResolverAbi,
  reverseRegistrarAbi,
  wildcardResolverAbi,
} from "./contracts/abis.ts";
import { ensContracts } from "./contracts/addresses.ts";
import { create, place, send } from "./deploy.ts";

const ethereum = toCoinType(ethereumChain.id);
const apeChain = toCoinType(apechain.id);
const { publicResolver, wildcardResolver, offchainResolver, reverseRegistrar } = ensContracts;
const { deployer, alice, bob, carol, dave, erin } = accounts;

/** Parents first. `plain.eth` has a resolver and no address; `hidden.eth` is answered by a gateway. */
const records: readonly (readonly [name: string, owner: Address, resolver: Address])[] = [
  ["eth", deployer.address, zeroAddress],
  ["reverse", deployer.address, zeroAddress],
  ["addr.reverse", reverseRegistrar, zeroAddress],
  ["alice.eth", deployer.address, publicResolver],
  ["bob.eth", deployer.address, publicResolver],
  ["carol.eth", deployer.address, publicResolver],
  ["plain.eth", deployer.address, publicResolver],
  ["wild.eth", deployer.address, wildcardResolver],
  ["hidden.eth", deployer.address, offchainResolver],
];

const addresses: readonly (readonly [name: string, coinType: bigint, address: Address])[] = [
  ["alice.eth", ethereum, alice.address],
  ["alice.eth", apeChain, erin.address],
  ["bob.eth", ethereum, bob.address],
  ["carol.eth", ethereum, carol.address],
];

/** `<label>.wild.eth` and everything below it. */
const wildcards: readonly (readonly [label: string, coinType: bigint, address: Address])[] = [
  ["dave", ethereum, dave.address],
  ["dave", apeChain, dave.address],
];

/** Carol calls herself by a name that is not hers. */
const primaryNames: readonly (readonly [account: Address, name: string])[] = [
  [alice.address, "alice.eth"],
  [carol.address, "bob.eth"],
];

/** Registry, resolvers and names. Chain 1 only. */
export async function installEns(client: DevnetClient): Promise<void> {
  await place(client, ensRegistry, "EnsRegistry");
  await giveRoot(client, deployer.address);
  await create(client, "publicResolver", "PublicResolver", [ensRegistry]);
  await create(client, "wildcardResolver", "WildcardResolver", []);
  await create(client, "offchainResolver", "OffchainResolver", [
    "https://gateway.invalid/{sender}/{data}.json",
  ]);
  await create(client, "reverseRegistrar", "ReverseRegistrar", [ensRegistry, publicResolver]);
  if (!(await isComplete(client))) await setNames(client);
}

/** The registry has no constructor: the root's owner is written into its first mapping. */
async function giveRoot(client: DevnetClient, owner: Address): Promise<void> {
  const index = keccak256(concat([zeroHash, zeroHash]));
  await client.setStorageAt({ address: ensRegistry, index, value: pad(owner) });
}

/** Whether the name that is set last is there. */
function isComplete(client: DevnetClient): Promise<boolean> {
  const node = namehash(`${carol.address.slice(2).toLowerCase()}.addr.reverse`);
  return client.readContract({
    address: ensRegistry,
    abi: ensRegistryAbi,
    functionName: "recordExists",
    args: [node],
  });
}

async function setNames(client: DevnetClient): Promise<void> {
  const from = deployer.address;
  for (const record of records)
    await send(client, { from, to: ensRegistry, data: encodeRecord(...record) });
  for (const [name, ...address] of addresses)
    await send(client, {
      from,
      to: publicResolver,
      data: encodeFunctionData({
        abi: publicResolverAbi,
        functionName: "setAddr",
        args: [namehash(name), ...address],
      }),
    });
  for (const args of wildcards)
    await send(client, {
      from,
      to: wildcardResolver,
      data: encodeFunctionData({ abi: wildcardResolverAbi, functionName: "setAddr", args }),
    });
  for (const [account, name] of primaryNames)
    await send(client, {
      from: account,
      to: reverseRegistrar,
      data: encodeFunctionData({ abi: reverseRegistrarAbi, functionName: "setName", args: [name] }),
    });
}

function encodeRecord(name: string, owner: Address, resolver: Address): Hex {
  const [label = "", ...parent] = name.split(".");
  return encodeFunctionData({
    abi: ensRegistryAbi,
    functionName: "setSubnodeRecord",
    args: [namehash(parent.join(".")), labelhash(label), owner, resolver],
  });
}
