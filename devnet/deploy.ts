import { type Address, encodeDeployData, type Hex, parseEther } from "viem";
import type { DevnetClient } from "./client.ts";
import { addressOf, creatorOf } from "./contracts/addresses.ts";
import { type OwnName, type PlacedName, readArtifact } from "./contracts/artifacts.ts";

type Transaction = { from: Address; to?: Address; data: Hex; gas?: Hex };

type Receipt = { status: Hex; gasUsed: Hex };

export async function hasCode(client: DevnetClient, address: Address): Promise<boolean> {
  return (await client.getCode({ address })) !== undefined;
}

/** Sends from one of the node's own accounts and awaits the block, in one request. Returns the gas used. */
export async function send(client: DevnetClient, transaction: Transaction): Promise<bigint> {
  const receipt = await client.request<{
    Method: "eth_sendTransactionSync";
    Parameters: [Transaction];
    ReturnType: Receipt;
  }>({ method: "eth_sendTransactionSync", params: [transaction] });
  if (receipt.status !== "0x1")
    throw new Error(`Chain ${client.chain.id}: the call to ${transaction.to ?? "create"} reverted`);
  return BigInt(receipt.gasUsed);
}

/** Sends from an account nobody holds a key for. */
export async function sendAs(client: DevnetClient, transaction: Transaction): Promise<bigint> {
  const address = transaction.from;
  await client.setBalance({ address, value: parseEther("1") });
  await client.impersonateAccount({ address });
  const gas = await send(client, transaction);
  await client.stopImpersonatingAccount({ address });
  return gas;
}

/** Creates a fixture at the address its name leads to, unless it is there. Returns the gas used. */
export async function create(
  client: DevnetClient,
  name: string,
  artifactName: OwnName,
  args: readonly unknown[],
): Promise<bigint> {
  if (await hasCode(client, addressOf(name))) return 0n;
  const { abi, bytecode } = readArtifact(artifactName);
  if (abi === undefined) throw new Error(`The artifact of ${artifactName} has no ABI`);
  const data = encodeDeployData({ abi, bytecode, args });
  return sendAs(client, { from: creatorOf(name), data });
}

/** Puts code where the real chains have it. */
export async function place(
  client: DevnetClient,
  address: Address,
  artifactName: PlacedName,
): Promise<void> {
  const { deployedBytecode } = readArtifact(artifactName);
  if (deployedBytecode === undefined)
    throw new Error(`The artifact of ${artifactName} has no runtime code`);
  await client.setCode({ address, bytecode: deployedBytecode });
}
