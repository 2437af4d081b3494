import { type RawBuilder, sql } from "kysely";
import type { Database } from "../../database.ts";
import { kindLiteral } from "../fact-kind-sql.ts";
import type { EventSelection, EventTransfers } from "./ponder-events.ts";
import { transactionPrefixOf } from "./ponder-id.ts";

/** A transaction of a chain, in the block that its events say. Hex, lower case. */
export type TransactionRef = { readonly hash: string; readonly blockHash: string };

/** Reads the transfers of transactions, which some events are stored with. */
export type TransferReader = {
  /** The events, by source and name. `each`: not the first of a source and transaction alone. */
  readonly events: readonly {
    readonly source: string;
    readonly name: string;
    readonly each?: boolean;
  }[];
  /** Transfers by transaction hash, as JSON. Throws when the chain does not answer, or has no such transaction. */
  readonly fetch: (
    transactions: readonly TransactionRef[],
  ) => Promise<ReadonlyMap<string, readonly unknown[]>>;
};

type MissingRow = {
  blockHash: string;
  hash: string;
  logIndex: number;
  recorded: readonly unknown[] | null;
};

/**
 * Of the selected events those that are the first of their source and transaction to be stored with transfers, or each
 * of which is, and that the log does not hold, with the transfers: from the log, where another event of the transaction has them, else from
 * the reader, each transaction once.
 */
export async function readMissingTransfers(
  db: Database,
  schema: string,
  selection: EventSelection,
  { events, fetch }: TransferReader,
): Promise<EventTransfers[]> {
  const { rows } = await selectMissing(schema, selection, events).execute(db);
  const unknown = rows.filter(({ recorded }) => recorded === null);
  const wanted = new Map(unknown.map(({ hash, blockHash }) => [hash, { hash, blockHash }]));
  const fetched = wanted.size === 0 ? new Map() : await fetch([...wanted.values()]);
  return rows.map(({ blockHash, hash, logIndex, recorded }) => {
    const transfers = recorded ?? fetched.get(hash);
    if (transfers === undefined) throw new Error(`no transfers were read of transaction ${hash}`);
    return { blockHash, logIndex, transfers };
  });
}

function selectMissing(
  schema: string,
  { after, upTo, blockHashes, condition }: EventSelection,
  events: TransferReader["events"],
): RawBuilder<MissingRow> {
  const table = sql.table(`${schema}.event`);
  const isStoredWithTransfers = (alias: string) => sql`
    (${sql.ref(`${alias}.source`)}, ${sql.ref(`${alias}.name`)}) in (
      select * from unnest(${events.map((one) => one.source)}::text[], ${events.map((one) => one.name)}::text[]))`;
  const sources = [...new Set(events.map(({ source }) => source))];
  const each = events.filter((one) => one.each).map(({ source }) => source);
  // Few events are stored with transfers: all others are left out before anything is looked up for them, as a block may
  // have thousands of events and facts.
  return sql<MissingRow>`
    with selected as materialized (
      select event.* from ${table} event
      where event.id > ${after} and event.id <= ${upTo} and event.block_hash = any (${blockHashes}::text[]) and event.source = any (${sources}::text[]) and ${condition}
    ), wanted as materialized (
      select event.* from selected event
      where ${isStoredWithTransfers("event")} and (
        event.source = any (${each}::text[]) or not exists (
          select from ${table} p
          where p.id >= ${transactionPrefixOf("event.id")} and p.id < event.id and p.source = event.source
            and ${isStoredWithTransfers("p")}
        )
      )
    )
    select event.block_hash as "blockHash", event.transaction_hash as hash, event.log_index as "logIndex",
           recorded.transfers as recorded
    from wanted event
    left join log.block b on b.chain_id = event.chain_id
      and b.hash = decode(substr(event.block_hash, 3), 'hex')
    left join lateral (
      select f.payload -> 'transfers' as transfers from log.fact f
      where f.block_id = b.block_id and f.log_index is not null and f.transaction_index = event.transaction_index
        and f.kind = ${kindLiteral("exchange_event")} and f.payload ? 'transfers'
      limit 1
    ) recorded on true
    where not exists (
      select from log.fact f
      where f.block_id = b.block_id and f.log_index = event.log_index and f.sub_index = 0
    )`;
}
