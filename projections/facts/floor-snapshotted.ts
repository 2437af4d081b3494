import { type Address, keccak256, stringToHex } from "viem";
import type { ChainId } from "#chains/index.ts";
import type { Observation } from "../log/append.ts";

/** Snapshots are taken at full five minutes, UTC; a chain's first one with a floor at any second. */
export const snapshotMs = 300_000;

/** Price of each contract's cheapest listing, in wei; contracts without listings are left out. */
export type ContractFloors = ReadonlyMap<Address, bigint>;

export type FloorSnapshot = {
  chainId: ChainId;
  /** Unix milliseconds of a full second. */
  takenAtMs: number;
  floors: ContractFloors;
  /** The previous snapshot, to which this one holds the differences; null before the first. */
  base: { takenAtMs: number; floors: ContractFloors } | null;
};

/** One fact per chain and time, from whichever process, with the differences to the previous snapshot. */
export function floorSnapshotted({ chainId, takenAtMs, floors, base }: FloorSnapshot): Observation {
  return {
    kind: "floor_snapshotted",
    chainId,
    identity: keccak256(stringToHex(`floor_snapshotted/${chainId}/${takenAtMs / 1000}`)),
    recordedAt: new Date(takenAtMs),
    amount: BigInt(takenAtMs / 1000),
    payload: {
      chainId,
      base: base && base.takenAtMs / 1000,
      floors: differences(base?.floors ?? new Map(), floors),
    },
  };
}

function differences(
  before: ContractFloors,
  after: ContractFloors,
): Record<Address, string | null> {
  const changed = [...after].filter(([contract, wei]) => before.get(contract) !== wei);
  const gone = [...before.keys()].filter((contract) => !after.has(contract));
  return Object.fromEntries([
    ...changed.map(([contract, wei]) => [contract, wei.toString()]),
    ...gone.map((contract) => [contract, null]),
  ]);
}
