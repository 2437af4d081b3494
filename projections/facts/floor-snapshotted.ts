import { type Address, keccak256, stringToHex } from "viem";
import type { ChainId } from "../../abis/deployments.ts";
import type { Observation } from "../log/append.ts";

/** Snapshots are taken at full five minutes, UTC. */
export const snapshotMs = 300_000;

/** What each contract's cheapest listing costs, in wei; contracts without one are left out. */
export type ContractFloors = ReadonlyMap<Address, bigint>;

export type FloorSnapshot = {
  chainId: ChainId;
  /** Unix milliseconds, a multiple of `snapshotMs`. */
  momentMs: number;
  floors: ContractFloors;
  /** The snapshot before, which this one tells its differences from; null before the first. */
  base: { momentMs: number; floors: ContractFloors } | null;
};

/** One fact a chain and moment, whoever took it. It holds what differs from the snapshot before. */
export function floorSnapshotted({ chainId, momentMs, floors, base }: FloorSnapshot): Observation {
  return {
    kind: "floor_snapshotted",
    chainId,
    identity: keccak256(stringToHex(`floor_snapshotted/${chainId}/${momentMs / 1000}`)),
    recordedAt: new Date(momentMs),
    amount: BigInt(momentMs / 1000),
    payload: {
      chainId,
      base: base && base.momentMs / 1000,
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
