import { type Abi, type Address, encodeFunctionData, numberToHex } from "viem";
import type { DevnetClient } from "../client.ts";
import { addressOf, creatorOf } from "../contracts/addresses.ts";
import { type OwnName, readArtifact } from "../contracts/artifacts.ts";
import { create, sendAs } from "../deploy.ts";
import { members } from "./members.ts";

type Released = { readonly address: Address; readonly gas: bigint };

const fixtureName = (name: string, round: number) => `hostile ${name} ${round}`;

/** Creates a member's contract, a new one each round, and lets it act. Throws for an unknown name. */
export async function release(
  client: DevnetClient,
  name: string,
  round: number,
): Promise<Released> {
  const member = members[name];
  if (member === undefined) throw new Error(`There is no hostile contract ${name}`);
  const fixture = fixtureName(name, round);
  let gas = await create(client, fixture, member.contract, member.args ?? []);
  const address = addressOf(fixture);
  for (const act of member.acts) {
    const { functionName, args, abiOf = member.contract, gas: limit } = act;
    const abi = readAbi(abiOf);
    const data = encodeFunctionData({ abi, functionName, args });
    const transaction = { from: creatorOf(fixture), to: address, data };
    gas +=
      limit === undefined
        ? await sendAs(client, transaction)
        : await sendLarge(client, transaction, limit);
  }
  return { address, gas };
}

/** A block of the local chain holds no more than before, once this one is mined. */
async function sendLarge(
  client: DevnetClient,
  transaction: Parameters<typeof sendAs>[1],
  gas: bigint,
): Promise<bigint> {
  const { gasLimit } = await client.getBlock();
  await client.setBlockGasLimit({ gasLimit: 2n * gas });
  try {
    return await sendAs(client, { ...transaction, gas: numberToHex(gas) });
  } finally {
    await client.setBlockGasLimit({ gasLimit });
  }
}

function readAbi(contract: OwnName): Abi {
  const { abi } = readArtifact(contract);
  if (abi === undefined) throw new Error(`The artifact of ${contract} has no ABI`);
  return abi;
}
