import { type RawBuilder, sql } from "kysely";
import type { Hex } from "viem";
import { type Ids, latestRuns, unionOf, without } from "../domain/id-runs.ts";
import { assertFoldable, mostFolded } from "../engine/fold-budget.ts";
import { happenedBy, type Point, retractedCte } from "../engine/point.ts";
import { blockIdRange } from "../log/blocks.ts";
import type { Database } from "../log/database.ts";
import { kindList, kindLiteral } from "../log/fact-kinds.ts";
import { bytea, isBurnAddress, zeroAddress } from "../log/sql-values.ts";
import { unitWalks } from "./apply-erc1155.ts";
import { pastRanges } from "./past-states.ts";
import { isRange, type OwnedRun, rangeColumns } from "./range-rows.ts";
import {
  isCoin,
  type WalletFilter,
  type WalletToken,
  type WalletTokenCursor,
} from "./read-wallet-tokens.ts";

type Slice = { limit: number; after: WalletTokenCursor | null };

/**
 * Tokens of both standards that a wallet held at a point, by contract and id: of all that it had received by then those
 * that had not left it. No burn address: what they received has no index. Throws `TooMuchToFold`.
 */
export async function readPastWalletTokens(
  db: Database,
  filter: WalletFilter,
  point: Point,
  slice: Slice,
): Promise<WalletToken[]> {
  const [single, ranged] = [
    await readMoved(db, filter, point, slice),
    await readRanged(db, filter, point, slice),
  ];
  return [...single, ...ranged].toSorted(byKey).slice(0, slice.limit);
}

function byKey(one: WalletToken, other: WalletToken): number {
  if (one.contractId !== other.contractId) return one.contractId - other.contractId;
  if (one.tokenId !== other.tokenId) return one.tokenId < other.tokenId ? -1 : 1;
  return one.standard - other.standard;
}

/** SQL: transfers `f` to a wallet, or from it, as the indexes on hashes of addresses word them. */
function isMoved(side: "from_address" | "to_address", wallet: Hex): RawBuilder<unknown> {
  const address = bytea(wallet);
  const isIndexed =
    side === "from_address"
      ? sql`f.from_address <> ${zeroAddress}`
      : sql`(f.from_address = ${zeroAddress} or not ${isBurnAddress(sql`f.to_address`)})`;
  return sql`
    hashbyteaextended(${sql.ref(`f.${side}`)}, 0) = hashbyteaextended(${address}, 0)
    and ${sql.ref(`f.${side}`)} = ${address} and ${isIndexed}
    and f.kind in ${kindList("erc721_transfer", "erc721_consecutive_transfer", "erc1155_transfer")}`;
}

/** SQL: facts `f` of the filter's contracts that count at a point. */
function ofFilter({ chainId, contractIds }: WalletFilter, point: Point): RawBuilder<unknown> {
  const ofContracts =
    contractIds === null ? sql`` : sql`and f.contract_id = any (${contractIds}::int[])`;
  return sql`f.block_id >= ${blockIdRange(chainId).from}::bigint and ${happenedBy(point)} ${ofContracts}`;
}

const behind = (after: WalletTokenCursor | null) =>
  after === null
    ? sql`true`
    : sql`(contract_id, token_id, standard) > (${after.contractId}::int, ${String(after.tokenId)}::numeric, ${after.standard}::int)`;

/** Units by all of the wallet's own transfers of an id; of ERC-721 ids the wallet must have received the last transfer. */
async function readMoved(
  db: Database,
  filter: WalletFilter,
  point: Point,
  { limit, after }: Slice,
): Promise<WalletToken[]> {
  const { rows } = await sql<WalletToken & { folded: number }>`
    with ${retractedCte(point)}, ${movedCtes(filter, point)}, held as (
      (select h.contract_id, h.token_id, h.standard, 1::numeric as units
       from (select * from received where ${behind(after)} order by contract_id, token_id) h
       cross join lateral (${lastSingle(point)}) l
       where l.owner = ${bytea(filter.wallet)} and not ${isHidden(point)} and not ${wasUnits(point)} and not ${isCoin("h")}
       order by h.contract_id, h.token_id limit ${limit})
      union all
      (select h.contract_id, h.token_id, h.standard, h.units from unit h
       where ${behind(after)} and not ${isCoin("h")} order by contract_id, token_id limit ${limit})
    )
    select h.contract_id as "contractId", h.token_id as "tokenId", h.standard, h.units, counted.folded
    from (select count(*)::int as folded from moved) counted left join held h on true`.execute(db);
  assertFoldable(rows[0]?.folded ?? 0);
  const held = rows.filter(({ contractId }) => contractId !== null);
  return held.map(({ folded: _, ...token }) => token);
}

/** SQL: CTEs of what a wallet received or gave: `moved`; of it `received`, ERC-721 ids, and `unit`, what it has of others. */
function movedCtes(filter: WalletFilter, point: Point): RawBuilder<unknown> {
  const { wallet } = filter;
  const owner = bytea(wallet);
  const [single, units] = [kindLiteral("erc721_transfer"), kindLiteral("erc1155_transfer")];
  const moved = (side: "from_address" | "to_address", more: RawBuilder<unknown>) => sql`
    select f.kind, f.contract_id, f.token_id, f.block_id, f.log_index, f.sub_index, f.from_address, f.to_address, f.amount,
           1 as weight
    from log.fact f where ${isMoved(side, wallet)} and ${ofFilter(filter, point)} ${more} limit ${mostFolded + 1}`;
  return sql`
    moved as materialized (
      (${moved("to_address", sql``)})
      union all
      (${moved("from_address", sql`and f.kind = ${units} and f.to_address <> ${owner}`)})
    ), received as materialized (
      select distinct contract_id, token_id, 721 as standard from moved where kind = ${single}
    ), unit as (
      select contract_id, token_id, 1155 as standard, units - lowest as units
      from (${unitWalks(sql`select * from moved where kind = ${units}`)}) walk
      where owner = ${owner} and units > lowest
    )`;
}

/** SQL: who got the token of `h` by its last single transfer. */
const lastSingle = (point: Point) => sql`
  select f.to_address as owner, f.block_id, f.log_index from log.fact f
  where f.kind = ${kindLiteral("erc721_transfer")} and f.contract_id = h.contract_id and f.token_id = h.token_id
    and ${happenedBy(point)}
  order by f.block_id desc, f.log_index desc limit 1`;

/** SQL: whether a range came after the last single transfer `l` of the token of `h`. */
const isHidden = (point: Point) => sql`(
  exists (select from ownership.last_range r where r.contract_id = h.contract_id) and exists (
    select from log.fact f
    where ${isRange} and f.contract_id = h.contract_id and f.token_id <= h.token_id
      and f.token_id + f.amount > h.token_id and (f.block_id, f.log_index) > (l.block_id, l.log_index)
      and ${happenedBy(point)}
  ))`;

/** SQL: whether ERC-1155 transfers had moved the id of `h`. */
const wasUnits = (point: Point) => sql`(
  exists (
    select from ownership.token many
    where many.contract_id = h.contract_id and many.token_id = h.token_id and many.standard = 1155
  ) and exists (
    select from log.fact f
    where f.kind = ${kindLiteral("erc1155_transfer")} and f.contract_id = h.contract_id and f.token_id = h.token_id
      and ${happenedBy(point)}
  ))`;

/** The first ids of ranges that the wallet received, without those that moved alone later. */
async function readRanged(
  db: Database,
  filter: WalletFilter,
  point: Point,
  { limit, after }: Slice,
): Promise<WalletToken[]> {
  const { rows: contracts } = await sql<{ contractId: number }>`
    with ${retractedCte(point)}
    select distinct h.contract_id as "contractId"
    from (
      select f.contract_id from log.fact f
      where ${isMoved("to_address", filter.wallet)} and f.kind = ${kindLiteral("erc721_consecutive_transfer")}
        and f.amount > 0 and ${ofFilter(filter, point)}
    ) h
    where h.contract_id >= ${after?.contractId ?? 0} and not ${isCoin("h")} order by 1`.execute(db);
  const found: WalletToken[] = [];
  for (const { contractId } of contracts) {
    if (found.length >= limit) break;
    const own = await readOwnRuns(db, contractId, filter.wallet, point);
    const from = after?.contractId === contractId ? after.tokenId + 1n : 0n;
    const ids = firstIds(own, from, limit - found.length);
    found.push(
      ...ids.map((tokenId) => ({ contractId, tokenId, standard: 721 as const, units: 1n })),
    );
  }
  return found;
}

async function readOwnRuns(
  db: Database,
  contractId: number,
  wallet: Hex,
  point: Point,
): Promise<Ids[]> {
  const { rows } = await sql<OwnedRun>`
    select ${rangeColumns} from (${pastRanges(point, sql`f.contract_id = ${contractId}`)}) f`.execute(
    db,
  );
  assertFoldable(rows.length);
  const runs = latestRuns(rows).filter(({ owner }) => owner === wallet);
  const { rows: alone } = await sql<{ first: bigint; end: bigint }>`
    with ${retractedCte(point)}
    select f.token_id as first, f.token_id + 1 as end
    from unnest(${runs.map(({ first }) => `${first}`)}::numeric[], ${runs.map(({ end }) => `${end}`)}::numeric[],
                ${runs.map(({ blockId }) => `${blockId}`)}::bigint[], ${runs.map(({ logIndex }) => logIndex)}::int[])
      run (first_id, end_id, block_id, log_index)
    cross join lateral (
      select f.token_id from log.fact f
      where f.kind in ${kindList("erc721_transfer", "erc1155_transfer")} and f.contract_id = ${contractId}
        and f.token_id >= run.first_id and f.token_id < run.end_id
        and (f.kind = ${kindLiteral("erc1155_transfer")} or (f.block_id, f.log_index) > (run.block_id, run.log_index))
        and ${happenedBy(point)}
    ) f
    limit ${mostFolded + 1}`.execute(db);
  assertFoldable(alone.length);
  return without(runs, unionOf(alone));
}

/** The first ids from one on. */
function firstIds(runs: readonly Ids[], from: bigint, limit: number): bigint[] {
  const ids: bigint[] = [];
  for (const { first, end } of runs) {
    for (let id = first > from ? first : from; id < end && ids.length < limit; id += 1n)
      ids.push(id);
  }
  return ids;
}
