import { sql } from "kysely";
import type { Hex } from "viem";
import { burnAddresses } from "../domain/burn-address.ts";
import { assertFoldable } from "../engine/fold-budget.ts";
import { type Point, retractedCte } from "../engine/point.ts";
import type { Database } from "../log/database.ts";
import {
  foldedFacts,
  hasUnits,
  isLaterThan,
  type PastState,
  pastRanges,
  pastStateCtes,
  pastStates,
} from "./past-states.ts";
import { type OwnedRun, rangeColumns } from "./range-rows.ts";
import type { TokenHolder } from "./read-holders.ts";
import type { TokenRow } from "./read-token.ts";

/** A token as `readToken` has it today, and who held it, by address. */
export type PastToken = TokenRow & { heldBy: TokenHolder[] };

type TokenPlaces = readonly { contractId: number; tokenId: bigint }[];

/** The token with an id in the first contract that had it unburned at a point, else in the first that had it. Throws `TooMuchToFold`. */
export async function readPastToken(
  db: Database,
  contractIds: readonly number[],
  tokenId: bigint,
  point: Point,
): Promise<PastToken | null> {
  const places = contractIds.map((contractId) => ({ contractId, tokenId }));
  const tokens = await readPastTokens(db, places, point);
  return tokens.find(({ isBurned }) => !isBurned) ?? tokens[0] ?? null;
}

/** Those of the tokens that existed at a point, in their order. Throws `TooMuchToFold`. */
export async function readPastTokens(
  db: Database,
  places: TokenPlaces,
  point: Point,
): Promise<PastToken[]> {
  if (places.length === 0) return [];
  const wanted = sql`unnest(
    ${places.map(({ contractId }) => contractId)}::int[], ${places.map(({ tokenId }) => `${tokenId}`)}::numeric[]
  ) w (contract_id, token_id)`;
  const { rows } = await sql<PastState & { folded: number }>`
    with ${retractedCte(point)},
    wanted as materialized (select w.contract_id, w.token_id, ${hasUnits} as has_units from ${wanted}),
    ${pastStateCtes(point)}
    select states.*, ${foldedFacts} as folded from (${pastStates}) states`.execute(db);
  assertFoldable(rows[0]?.folded ?? 0);
  const contracts = await readContracts(db, places);
  const tokens: PastToken[] = [];
  for (const { contractId, tokenId } of places) {
    const place = { contractId, tokenId };
    const own = rows.filter((row) => isSame(row, place));
    const contract = contracts.get(contractId);
    const mayBeInRange = own[0]?.standard !== 1155 && contract?.hasRanges === true;
    const states = mayBeInRange ? await readOwner(db, place, own[0], point) : own;
    if (states.length > 0 && contract !== undefined)
      tokens.push({ ...place, contract: contract.address, ...tokenOf(states) });
  }
  return tokens;
}

const isSame = (one: TokenPlaces[number], other: TokenPlaces[number]) =>
  one.contractId === other.contractId && one.tokenId === other.tokenId;

type KnownContract = { contractId: number; address: Hex; hasRanges: boolean };

async function readContracts(
  db: Database,
  places: TokenPlaces,
): Promise<Map<number, KnownContract>> {
  const { rows } = await sql<KnownContract>`
    select k.contract_id as "contractId", k.address,
           exists (select from ownership.last_range r where r.contract_id = k.contract_id) as "hasRanges"
    from log.contract k
    where k.contract_id = any (${places.map(({ contractId }) => contractId)}::int[])`.execute(db);
  return new Map(rows.map((row) => [row.contractId, row]));
}

/** By the later of the last single transfer and the last range that holds the id. */
async function readOwner(
  db: Database,
  { contractId, tokenId }: TokenPlaces[number],
  single: PastState | undefined,
  point: Point,
): Promise<OwnState[]> {
  const holds = sql`f.contract_id = ${contractId} and f.token_id <= ${String(tokenId)}::numeric
    and f.token_id + f.amount > ${String(tokenId)}::numeric`;
  const { rows } = await sql<OwnedRun>`
    select ${rangeColumns} from (${pastRanges(point, holds)}) f
    order by f.block_id desc, f.log_index desc limit 1`.execute(db);
  const [range] = rows;
  if (single !== undefined && isLaterThan(single, range)) return [single];
  return range === undefined
    ? []
    : [{ standard: 721, owner: range.owner, units: 1n, wasBurned: false }];
}

type OwnState = Pick<PastState, "standard" | "owner" | "units" | "wasBurned">;

function tokenOf(states: readonly OwnState[]) {
  const standard = states[0]?.standard ?? 721;
  const heldBy = states.flatMap(({ owner, units }) => (owner === null ? [] : [{ owner, units }]));
  const kept = heldBy.filter(({ owner }) => !burnAddresses.has(owner));
  const supply = kept.reduce((sum, { units }) => sum + units, 0n);
  const isBurned = supply === 0n && (standard === 721 || states.some(({ wasBurned }) => wasBurned));
  return {
    ...{ standard, supply },
    owner: standard === 721 ? (heldBy[0]?.owner ?? null) : null,
    isBurned,
    holders: BigInt(kept.length),
    heldBy: kept.toSorted((one, other) => (one.owner < other.owner ? -1 : 1)),
  };
}
