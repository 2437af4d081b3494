import type { Hex } from "viem";
import { burnAddresses } from "../domain/burn-address.ts";
import type { Claim } from "../domain/claim-tree.ts";
import type { Point } from "../engine/point.ts";
import type { Database } from "../log/database.ts";
import { readPastHolders } from "./read-past-holders.ts";
import { readPastTokens } from "./read-past-token.ts";

/** A contract whose tokens count, or some of them. */
export type SnapshotContract = {
  readonly contractId: number;
  readonly contract: Hex;
  /** Null: all. */
  readonly tokenIds: readonly bigint[] | null;
};

/**
 * Units that each address held of the contracts together at a point, in no order; burn addresses are not holders. Null: of
 * more than `limit` addresses. Throws `TooMuchToFold`.
 */
export async function readSnapshotHolders(
  db: Database,
  contracts: readonly SnapshotContract[],
  point: Point,
  limit: number,
): Promise<Claim[] | null> {
  const whole = contracts.flatMap(({ contractId, tokenIds }) =>
    tokenIds === null ? [contractId] : [],
  );
  const slice = { limit: limit + 1, after: null };
  const { rows } =
    whole.length === 0 ? { rows: [] } : await readPastHolders(db, whole, point, slice);
  const places = contracts.flatMap(({ contractId, tokenIds }) =>
    (tokenIds ?? []).map((tokenId) => ({ contractId, tokenId })),
  );
  const tokens = await readPastTokens(db, places, point);
  const held = new Map<Hex, bigint>();
  for (const { owner, units } of [...rows, ...tokens.flatMap(({ heldBy }) => heldBy)])
    if (!burnAddresses.has(owner)) held.set(owner, (held.get(owner) ?? 0n) + units);
  return held.size > limit ? null : [...held].map(([owner, units]) => ({ owner, units }));
}
