import { type Abi, type Address, encodeFunctionData, maxUint256, numberToHex } from "viem";
import { accounts } from "../accounts.ts";
import type { DevnetClient } from "../client.ts";
import { addressOf, contracts, creatorOf } from "../contracts/addresses.ts";
import { type OwnName, readArtifact } from "../contracts/artifacts.ts";
import { create, sendAs } from "../deploy.ts";

/** A call of a member; `abiOf` where it answers another contract's interface. */
type Act = {
  readonly functionName: string;
  readonly args: readonly unknown[];
  readonly abiOf?: OwnName;
  /** More than a block of the local chain holds: the block that has it may hold as much. */
  readonly gas?: bigint;
};

type Member = {
  readonly contract: OwnName;
  readonly args?: readonly unknown[];
  readonly acts: readonly Act[];
};

const holder = accounts.grace.address;
const other = accounts.frank.address;

const announce = (fromId: bigint, count: bigint): Act => ({
  functionName: "announce",
  args: [holder, fromId, count],
});

const stranger = (contract: OwnName): Member => ({ contract, acts: [announce(0n, 50n)] });

const imitator = (name: string, symbol: string): Member => ({
  contract: "Collection",
  args: [name, symbol, accounts.royaltyRecipient],
  acts: [{ functionName: "mintBatch", args: [holder, 0n, 10n] }],
});

/** The proxy takes the code of an honest fixture and is called as if it were that. */
const becomes = (implementation: Address, act: Act): Act[] => [
  { functionName: "upgradeTo", args: [implementation] },
  { ...act, abiOf: "ConsecutiveCollection" },
];

/** Of a gas that hides what others cost: once in a while. */
export const largeMembers: ReadonlySet<string> = new Set(["many-contracts"]);

/** By name. What each does is said in `contracts/Hostile.sol`. */
export const members: Readonly<Record<string, Member>> = {
  "range-flood": {
    contract: "RangeFlood",
    acts: [{ functionName: "mintRanges", args: [holder, 150n, 10_000n] }],
  },
  "large-uri": stranger("LargeUri"),
  "endless-uri": stranger("EndlessUri"),
  "gas-burner": stranger("GasBurner"),
  "return-bomb": stranger("ReturnBomb"),
  "revert-bomb": stranger("RevertBomb"),
  "owner-by-gas": stranger("LiarByGas"),
  "owner-by-caller": stranger("LiarByCaller"),
  "last-ids": { contract: "LiarByCaller", acts: [announce(maxUint256 - 49n, 50n)] },
  "false-transfers": {
    contract: "EventLiar",
    acts: [{ functionName: "lie", args: [maxUint256, 100n] }],
  },
  "endless-traits": stranger("EndlessTraits"),
  reentering: {
    contract: "Reentering",
    acts: [{ functionName: "transferFrom", args: [holder, other, 0n] }],
  },
  "changing-proxy": {
    contract: "ChangingProxy",
    acts: [
      ...becomes(contracts.punks, { functionName: "mintBatch", args: [holder, 0n, 5n] }),
      ...becomes(contracts.consecutive, { functionName: "mintConsecutive", args: [holder, 5n] }),
    ],
  },
  imitator: imitator("Local Punks", "LPUNK"),
  "imitator-bidi": imitator("\u202esknuP lacoL", "LPUNK\u200b"),
  // The last: its contracts are fetched for minutes, which counts for whatever is measured after it.
  "many-contracts": {
    contract: "Nursery",
    acts: [{ functionName: "hatch", args: [holder, 10_000n], gas: 450_000_000n }],
  },
};

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
