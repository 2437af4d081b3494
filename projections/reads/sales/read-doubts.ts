import { sql } from "kysely";
import type { Hex } from "viem";
import type { Database } from "../../database.ts";
import type { DoubtReason } from "../../exchanges/model/doubt.ts";

/** Events of exchanges that announce a trade and make no sale. */
export type DoubtTotal = {
  chainId: number;
  protocol: string;
  reason: DoubtReason;
  doubts: bigint;
};

export type DoubtedEvent = Omit<DoubtTotal, "doubts"> & {
  blockNumber: bigint;
  timestamp: Date;
  transactionHash: Hex;
  logIndex: number;
};

/** null: any. */
type DoubtFilter = {
  chainId: number | null;
  protocol: string | null;
  reason: DoubtReason | null;
};

export async function readDoubtTotals(
  db: Database,
  filter: DoubtFilter = { chainId: null, protocol: null, reason: null },
): Promise<DoubtTotal[]> {
  const { rows } = await sql<DoubtTotal>`
    select chain_id as "chainId", protocol, reason, doubts from sales.doubt_total
    where ${matches(filter)} order by chain_id, protocol, reason`.execute(db);
  return rows;
}

/** The newest ones. */
export async function readDoubts(
  db: Database,
  filter: DoubtFilter,
  limit: number,
): Promise<DoubtedEvent[]> {
  const { rows } = await sql<DoubtedEvent>`
    select chain_id as "chainId", protocol, reason, block.number as "blockNumber", block.timestamp,
           transaction.hash as "transactionHash", log_index as "logIndex"
    from sales.doubt
    join log.block using (block_id) join log.transaction using (block_id, transaction_index)
    where ${matches(filter)}
    order by block.timestamp desc, block_id desc, transaction_index desc, place desc limit ${limit}`.execute(
    db,
  );
  return rows;
}

function matches({ chainId, protocol, reason }: DoubtFilter) {
  const ofChain = chainId === null ? sql`` : sql`and chain_id = ${chainId}`;
  const ofProtocol = protocol === null ? sql`` : sql`and protocol = ${protocol}`;
  return sql`true ${ofChain} ${ofProtocol} ${reason === null ? sql`` : sql`and reason = ${reason}`}`;
}
