import { type RawBuilder, sql } from "kysely";
import { type Hex, zeroAddress } from "viem";
import { burnAddresses } from "../domain/burn-address.ts";
import { blockIdRange, firstBlockId } from "../log/blocks.ts";
import type { Session } from "../log/database.ts";
import { kindList, kindLiteral } from "../log/fact-kinds.ts";
import { bytea } from "../log/sql-values.ts";
import {
  type EventKey,
  isEventIn,
  isHashed,
  isNoBurn,
  isNoMint,
  isTransfer,
  maxScannedRows,
} from "./read-event-scans.ts";

/** Transfers between two blocks, both included. null: any. */
export type TransferFilter = {
  readonly chainId: number;
  readonly fromBlock: bigint | null;
  readonly toBlock: bigint | null;
  readonly from: Hex | null;
  readonly to: Hex | null;
  readonly contractIds: readonly number[] | null;
  readonly standards: readonly (721 | 1155)[];
};

/** Units of a token that moved; `lastId` of a range of ids that were minted at once, which begins with `tokenId`. */
export type TransferRow = EventKey & {
  standard: 721 | 1155;
  contract: Hex;
  tokenId: bigint;
  lastId: bigint | null;
  quantity: bigint;
  from: Hex;
  to: Hex;
  transactionHash: Hex;
  blockNumber: bigint;
  at: Date;
};

type TransferSlice = {
  readonly limit: number;
  readonly after: EventKey | null;
  readonly direction: "asc" | "desc";
};

type TransferPage = { rows: TransferRow[]; next: EventKey | null };

/**
 * Transfers in the order of the chain, or against it, and the key from which they go on; null: there are no more. A page
 * may be short with more to follow: each reads a bounded part of the history.
 */
export async function readTransfers(
  session: Session,
  filter: TransferFilter,
  slice: TransferSlice,
): Promise<TransferPage> {
  const walks = walksOf(filter);
  if (walks.length === 0 || filter.standards.length === 0) return { rows: [], next: null };
  const rows = await readMatches(session, walks, filter, slice);
  const lastRow = rows.length > slice.limit ? rows[slice.limit - 1] : undefined;
  if (lastRow !== undefined)
    return { rows: rows.slice(0, slice.limit), next: keyOfTransfer(lastRow) };
  const stop = await readFirstStop(session, walks, filter, slice);
  if (stop === null) return { rows, next: null };
  return { rows: rows.filter((row) => !isBehind(row, stop, slice)), next: stop };
}

const keyOfTransfer = ({ blockId, logIndex, subIndex }: EventKey): EventKey => ({
  ...{ blockId, logIndex, subIndex },
});

function isBehind(row: EventKey, stop: EventKey, { direction }: TransferSlice): boolean {
  const [one, other] = direction === "asc" ? [row, stop] : [stop, row];
  if (one.blockId !== other.blockId) return one.blockId > other.blockId;
  if (one.logIndex !== other.logIndex) return one.logIndex > other.logIndex;
  return one.subIndex > other.subIndex;
}

/** SQL: conditions, each of which an index of transfers has: by an address, by contract, or by block. */
function walksOf({ from, to, contractIds }: TransferFilter): RawBuilder<unknown>[] {
  if (from !== null && from !== zeroAddress)
    return [sql`${isHashed("from_address", bytea(from))} and ${isTransfer} and ${isNoMint}`];
  if (to !== null && !burnAddresses.has(to))
    return [sql`${isHashed("to_address", bytea(to))} and ${isTransfer} and ${isNoBurn}`];
  if (contractIds === null) return [sql`e.log_index is not null`];
  return contractIds.map((id) => sql`e.contract_id = ${id}::int and ${isTransfer}`);
}

const consecutive = kindLiteral("erc721_consecutive_transfer");
const kindsOf = {
  721: kindList("erc721_transfer", "erc721_consecutive_transfer"),
  1155: kindList("erc1155_transfer"),
};

/** SQL: rows of one walk, as many as may be read. */
function scannedRows(
  walk: RawBuilder<unknown>,
  walks: readonly unknown[],
  filter: TransferFilter,
  slice: TransferSlice,
) {
  const most = Math.ceil(maxScannedRows / walks.length);
  const rows = sql`select e.* from log.fact e where ${walk} and ${between(filter, slice)} ${inOrder(slice)}`;
  return { rows, most };
}

async function readMatches(
  session: Session,
  walks: readonly RawBuilder<unknown>[],
  filter: TransferFilter,
  slice: TransferSlice,
): Promise<TransferRow[]> {
  const { from, to, contractIds } = filter;
  const standards = filter.standards.map((standard) => sql`e.kind in ${kindsOf[standard]}`);
  const matches = sql.join(
    [
      isEventIn.log,
      sql`(${sql.join(standards, sql` or `)})`,
      ...(from === null ? [] : [sql`e.from_address = ${bytea(from)}`]),
      ...(to === null ? [] : [sql`e.to_address = ${bytea(to)}`]),
      ...(contractIds === null ? [] : [sql`e.contract_id = any (${contractIds}::int[])`]),
    ],
    sql` and `,
  );
  const parts = walks.map((walk) => {
    const { rows, most } = scannedRows(walk, walks, filter, slice);
    return sql`(select e.* from (${rows} limit ${most}) e where ${matches} ${inOrder(slice)} limit ${slice.limit + 1})`;
  });
  const { rows } = await sql<TransferRow>`
    select e.block_id as "blockId", e.log_index as "logIndex", e.sub_index as "subIndex",
      case when e.kind in ${kindsOf[721]} then 721 else 1155 end as standard, k.address as contract,
      e.token_id as "tokenId", case when e.kind = ${consecutive} then e.token_id + e.amount - 1 end as "lastId",
      case when e.kind in ${kindsOf[721]} then 1 else e.amount end as quantity,
      e.from_address as "from", e.to_address as "to", t.hash as "transactionHash", b.number as "blockNumber",
      b.timestamp as at
    from (select * from (${sql.join(parts, sql` union all `)}) e ${inOrder(slice)} limit ${slice.limit + 1}) e
    join log.contract k using (contract_id) join log.block b using (block_id)
    join log.transaction t using (block_id, transaction_index)
    ${inOrder(slice)}`.execute(session);
  return rows;
}

/** Where the first walk stopped that read as many rows as it may. */
async function readFirstStop(
  session: Session,
  walks: readonly RawBuilder<unknown>[],
  filter: TransferFilter,
  slice: TransferSlice,
): Promise<EventKey | null> {
  const parts = walks.map((walk) => {
    const { rows, most } = scannedRows(walk, walks, filter, slice);
    return sql`(select e.block_id, e.log_index, e.sub_index from (${rows} offset ${most - 1} limit 1) e)`;
  });
  const { rows } = await sql<EventKey>`
    select e.block_id as "blockId", e.log_index as "logIndex", e.sub_index as "subIndex"
    from (${sql.join(parts, sql` union all `)}) e ${inOrder(slice)} limit 1`.execute(session);
  return rows[0] ?? null;
}

/** SQL: the cursor takes the place of the bound from which the index is read. */
function between({ chainId, fromBlock, toBlock }: TransferFilter, slice: TransferSlice) {
  const chain = blockIdRange(chainId);
  const from = fromBlock === null ? chain.from : firstBlockId(chainId, fromBlock);
  const to = toBlock === null ? chain.to : firstBlockId(chainId, toBlock + 1n);
  const { after, direction } = slice;
  if (after === null) return sql`e.block_id >= ${from} and e.block_id < ${to}`;
  const key = sql`(e.block_id, e.log_index, e.sub_index)`;
  const last = sql`(${after.blockId}::bigint, ${after.logIndex}::int, ${after.subIndex}::int)`;
  return direction === "desc"
    ? sql`e.block_id >= ${from} and ${key} < ${last}`
    : sql`e.block_id < ${to} and ${key} > ${last}`;
}

function inOrder({ direction }: TransferSlice): RawBuilder<unknown> {
  const way = sql.raw(direction);
  return sql`order by e.block_id ${way}, e.log_index ${way}, e.sub_index ${way}`;
}
