import { sql } from "kysely";
import type { Database } from "../log/database.ts";
import { logFacts } from "../engine/fact-window.ts";
import { type ChainReading, type ChainReadings, readingFact, readingObserved } from "../log/readings.ts";
import type { Observation } from "../log/append.ts";
import { blockIdRange, firstBlockId } from "../log/blocks.ts";
import { factKind, kindLiteral } from "../log/fact-kinds.ts";
import { type ReadingsToCompare, selectChangedReadings } from "./select-changed-readings.ts";

/** Above every position. */
const NO_LIMIT = 2n ** 63n - 1n;

/**
 * The facts of those readings that differ from the state that the log gives for the end of their block, or from the
 * default where the log has no fact.
 */
export async function findChangedReadings(
  db: Database,
  { chainId, basis, readings }: ChainReadings,
  recordedAt: Date,
): Promise<Observation[]> {
  if (readings.length === 0) return [];
  const kinds = [...new Set(readings.map(({ kind }) => kind))];
  const comparison: ReadingsToCompare = {
    upTo: NO_LIMIT,
    facts: logFacts,
    retractedBlocks: sql`retracted_block`,
    beforeBlock: firstBlockId(chainId, basis.number + 1n),
    endOfChain: blockIdRange(chainId).to,
    of: (kind) => sql`(select * from reading where kind = ${kindLiteral(kind)}) o`,
  };
  const { rows } = await sql<{ ord: bigint }>`
    with retracted_block as materialized (select block_id from log.retracted_blocks(${NO_LIMIT})),
    reading as materialized (
      select row.ord, row.kind, k.contract_id, row.token_id, row.amount,
             decode(row.from_address, 'hex') as maker, decode(row.to_address, 'hex') as to_address,
             decode(row.order_hash, 'hex') as order_hash, row.payload, ${chainId}::integer as chain_id
      from jsonb_to_recordset(${JSON.stringify(readings.map(rowOf))}::jsonb) as row (
        ord bigint, kind smallint, contract text, token_id numeric, amount numeric, from_address text,
        to_address text, order_hash text, payload jsonb
      )
      left join log.contract k on k.chain_id = ${chainId} and k.address = decode(row.contract, 'hex')
    )
    ${sql.join(
      kinds.map((kind) => selectChangedReadings(kind, comparison)),
      sql` union all `,
    )}`.execute(db);
  const changed = new Set(rows.map(({ ord }) => Number(ord)));
  // Few have changed, and making a fact computes a hash.
  return readings
    .filter((_, index) => changed.has(index))
    .map((reading) => readingObserved({ chainId, basis }, reading, recordedAt));
}

function rowOf(reading: ChainReading, ord: number) {
  const fact = readingFact(reading);
  return {
    ord,
    kind: factKind[reading.kind],
    contract: fact.contract?.slice(2),
    token_id: fact.tokenId?.toString(),
    amount: fact.amount?.toString(),
    from_address: fact.fromAddress?.slice(2),
    to_address: fact.toAddress?.slice(2),
    order_hash: fact.orderHash?.slice(2),
    payload: fact.payload,
  };
}
