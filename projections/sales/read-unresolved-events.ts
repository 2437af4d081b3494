import { sql } from "kysely";
import type { Hex } from "viem";
import type { UnresolvedReason } from "../exchanges/model/exchange.ts";
import type { Database, Session } from "../log/database.ts";

/** Events of exchanges that announce a trade and make no sale. */
export type UnresolvedTotal = {
  chainId: number;
  protocol: string;
  reason: UnresolvedReason;
  events: bigint;
};

export type UnresolvedEventRow = Omit<UnresolvedTotal, "events"> & {
  blockNumber: bigint;
  timestamp: Date;
  transactionHash: Hex;
  logIndex: number;
};

/** null: any. */
type UnresolvedFilter = {
  chainId: number | null;
  protocol: string | null;
  reason: UnresolvedReason | null;
};

export async function readUnresolvedTotals(
  db: Database,
  filter: UnresolvedFilter = { chainId: null, protocol: null, reason: null },
): Promise<UnresolvedTotal[]> {
  const { rows } = await sql<UnresolvedTotal>`
    select chain_id as "chainId", protocol, reason, events from sales.unresolved_event_total
    where ${matches(filter)} order by chain_id, protocol, reason`.execute(db);
  return rows;
}

/** The newest ones. */
export async function readUnresolvedEvents(
  db: Database,
  filter: UnresolvedFilter,
  limit: number,
): Promise<UnresolvedEventRow[]> {
  const { rows } = await sql<UnresolvedEventRow>`
    select chain_id as "chainId", protocol, reason, block.number as "blockNumber", block.timestamp,
           transaction.hash as "transactionHash", log_index as "logIndex"
    from sales.unresolved_event
    join log.block using (block_id) join log.transaction using (block_id, transaction_index)
    where ${matches(filter)}
    order by block.timestamp desc, block_id desc, transaction_index desc, place desc limit ${limit}`.execute(
    db,
  );
  return rows;
}

function matches({ chainId, protocol, reason }: UnresolvedFilter) {
  const ofChain = chainId === null ? sql`` : sql`and chain_id = ${chainId}`;
  const ofProtocol = protocol === null ? sql`` : sql`and protocol = ${protocol}`;
  return sql`true ${ofChain} ${ofProtocol} ${reason === null ? sql`` : sql`and reason = ${reason}`}`;
}

/** Those of the contracts that were ever sold from, on any exchange. */
export async function readTradedContracts(
  session: Session,
  chainId: number,
  contractIds: readonly number[],
): Promise<Set<number>> {
  const { rows } = await sql<{ contractId: number }>`
    select contract_id as "contractId" from sales.total
    where chain_id = ${chainId} and contract_id = any (${contractIds}::int[]) and sales > 0`.execute(
    session,
  );
  return new Set(rows.map(({ contractId }) => contractId));
}
