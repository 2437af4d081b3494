import type { Hex } from "viem";
import type { ChainId } from "#chains/index.ts";
import type { Claim } from "#projections/domain/claim-tree.ts";
import { isRejection, reject } from "#projections/domain/rejection.ts";
import { type NamedPoint, type Point, resolvePoint } from "#projections/engine/point.ts";
import { readContractAddresses } from "#projections/log/contracts.ts";
import type { Database } from "#projections/log/database.ts";
import {
  readSnapshotHolders,
  type SnapshotContract,
} from "#projections/tokens/read-snapshot-holders.ts";
import { contractsOfReference, referTo, rejectUnknownCollection } from "../collection-reference.ts";
import { foldPast } from "../point.ts";
import {
  readStoredSnapshot,
  type SnapshotTerms,
  type StoredSnapshot,
  snapshotIdOf,
  storeSnapshot,
} from "./stored-snapshots.ts";

/** Addresses that a snapshot may hold, before those with too few units are left out. */
export const maxSnapshotHolders = 100_000;

/** What a caller asks a snapshot of. */
export type SnapshotRequest = {
  readonly chainId: ChainId;
  readonly at: NamedPoint;
  readonly name: string;
  readonly collections: readonly {
    readonly collection: string;
    readonly tokenIds?: readonly bigint[] | undefined;
  }[];
  readonly minUnits: bigint;
  readonly excluded: readonly Hex[];
};

/** The snapshot of the terms, made unless there is one. */
export async function makeSnapshot(
  { db, writer }: { db: Database; writer: Database },
  asked: SnapshotRequest,
  accountId: number,
) {
  const read = await db
    .transaction()
    .setIsolationLevel("repeatable read")
    .setAccessMode("read only")
    .execute((session) => readAsked(session, asked));
  if (isRejection(read)) return read;
  const { terms, hash, time, known, claims } = read;
  if (known !== null) return { snapshot: known, isNew: false };
  const isNew = await storeSnapshot(writer, { terms, hash, time, claims, accountId });
  if (isRejection(isNew)) return isNew;
  const snapshot = await readStoredSnapshot(writer, snapshotIdOf(terms));
  if (snapshot === null) throw new Error("a snapshot that was just stored is gone");
  return { snapshot, isNew };
}

type Found = Pick<Point, "hash" | "time"> & {
  terms: SnapshotTerms;
  known: StoredSnapshot | null;
  claims: Claim[];
};

/** The terms in their one form, and what they hold: the snapshot that is known, or the holders. */
async function readAsked(db: Database, asked: SnapshotRequest) {
  const contracts = await contractsOfRequest(db, asked);
  if (isRejection(contracts)) return contracts;
  const point = await resolvePoint(db, asked.chainId, asked.at);
  if (isRejection(point)) return point;
  if (!point.isFinal)
    return reject(
      "block_not_final",
      `A reorg may still take back block ${point.block}: ask again once it is final, or name an earlier one`,
    );
  const terms = termsOf(asked, contracts, point);
  const { hash, time } = point;
  const known = await readStoredSnapshot(db, snapshotIdOf(terms));
  const found: Found = { terms, known, hash, time, claims: [] };
  if (known !== null) return found;
  const held = await foldPast(() => readSnapshotHolders(db, contracts, point, maxSnapshotHolders));
  if (isRejection(held)) return held;
  const claims = claimsOf(held, terms);
  return isRejection(claims) ? claims : { ...found, claims };
}

/** The contracts by address, each once: with all tokens where one part of the request means all. */
async function contractsOfRequest(db: Database, { chainId, collections }: SnapshotRequest) {
  const tokenIds = new Map<number, Set<bigint> | null>();
  for (const { collection, ...part } of collections) {
    const found = await referTo(db, chainId, collection);
    if (found === null) return rejectUnknownCollection(chainId, collection);
    for (const contractId of contractsOfReference(found)) {
      const others = tokenIds.get(contractId);
      const isWhole = part.tokenIds === undefined || others === null;
      const ids = [...(others ?? []), ...(part.tokenIds ?? [])];
      tokenIds.set(contractId, isWhole ? null : new Set(ids));
    }
  }
  const addresses = await readContractAddresses(db, [...tokenIds.keys()]);
  const contracts = [...tokenIds].flatMap(([contractId, ids]): SnapshotContract[] => {
    const contract = addresses.get(contractId);
    return contract === undefined ? [] : [{ contractId, contract, tokenIds: ids && sorted(ids) }];
  });
  return contracts.toSorted((one, other) => (one.contract < other.contract ? -1 : 1));
}

const sorted = (ids: ReadonlySet<bigint>): bigint[] =>
  [...ids].toSorted((one, other) => (one < other ? -1 : 1));

function termsOf(
  { chainId, name, minUnits, excluded }: SnapshotRequest,
  contracts: readonly SnapshotContract[],
  { block }: Point,
): SnapshotTerms {
  return {
    ...{ chainId, name, minUnits, block },
    contracts: contracts.map(({ contract, tokenIds }) => ({
      contract,
      tokenIds: tokenIds?.map(String) ?? null,
    })),
    excluded: [...new Set(excluded)].toSorted(),
  };
}

/** Most units first, then by address. */
function claimsOf(held: readonly Claim[] | null, { minUnits, excluded }: SnapshotTerms) {
  const left = new Set(excluded);
  const claims = held?.filter(({ owner, units }) => units >= minUnits && !left.has(owner));
  if (claims === undefined || claims.reduce((sum, { units }) => sum + units, 0n) >= 2n ** 256n)
    return reject(
      "snapshot_too_large",
      `A snapshot is of at most ${maxSnapshotHolders} addresses and of less than 2^256 units in all`,
    );
  if (claims.length === 0)
    return reject("snapshot_empty", "Nobody held any of it at that block: there is no tree");
  return claims.toSorted(byUnits);
}

function byUnits(one: Claim, other: Claim): number {
  if (one.units !== other.units) return one.units > other.units ? -1 : 1;
  return one.owner < other.owner ? -1 : 1;
}
