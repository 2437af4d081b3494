import { sql } from "kysely";
import type { Address, Hex } from "viem";
import type { Database } from "#projections/log/database.ts";
import { coreIndexer } from "#projections/log/sources.ts";
import type { Block } from "#test/support/database/given.ts";

/** An event as `src/` stores it. */
export type Emitted = {
  block: Block;
  logIndex: number;
  transactionIndex?: number;
  source?: string;
  name: string;
  address: Address;
  args: Record<string, unknown>;
  sender?: Address;
  target?: Address;
  calldataTail?: Hex;
};

/** Tables of the shape that Ponder makes of `ponder.schema.ts`, for one chain; made the one that an indexer records. */
export async function createPonderTables(
  db: Database,
  schema: string,
  chainId: number,
  indexer: string = coreIndexer,
): Promise<void> {
  await sql`create schema ${sql.id(schema)}`.execute(db);
  await sql`
    create table ${sql.id(schema, "event")} (
      id text primary key, chain_id integer not null, source text not null, name text not null,
      address text not null, block_number numeric(78,0) not null, block_hash text not null,
      block_timestamp numeric(78,0) not null, transaction_hash text not null, transaction_index integer not null,
      log_index integer not null, args json not null, sender text, target text, calldata_tail text
    )`.execute(db);
  await sql`
    create table ${sql.id(schema, "_ponder_checkpoint")} (
      chain_name text primary key, chain_id bigint not null, safe_checkpoint varchar(75) not null,
      latest_checkpoint varchar(75) not null, finalized_checkpoint varchar(75) not null
    )`.execute(db);
  await finalize(db, schema, chainId, "0".repeat(75));
  await recordFrom(db, schema, chainId, indexer);
}

/** Makes a schema the one that is recorded. */
export async function recordFrom(
  db: Database,
  schema: string,
  chainId: number,
  indexer: string = coreIndexer,
): Promise<void> {
  await sql`
    insert into ops.indexer (chain_id, name, ponder_schema, started_at)
    values (${chainId}, ${indexer}, ${schema}, now())
    on conflict (chain_id, name) do update set ponder_schema = excluded.ponder_schema`.execute(db);
}

export async function finalize(
  db: Database,
  schema: string,
  chainId: number,
  upTo: string,
): Promise<void> {
  await sql`
    insert into ${sql.id(schema, "_ponder_checkpoint")} values (${`chain_${chainId}`}, ${chainId}, ${upTo}, ${upTo}, ${upTo})
    on conflict (chain_name) do update set finalized_checkpoint = excluded.finalized_checkpoint`.execute(
    db,
  );
}

/** Ponder's checkpoint after a block's last event. */
export function endOf(block: Block): string {
  return `${placeOf(block)}${"9".repeat(16)}9${"9".repeat(16)}`;
}

function placeOf({ timestamp, chainId, number }: Block): string {
  return `${digits(timestamp, 10)}${digits(chainId, 16)}${digits(number, 16)}`;
}

function eventId({ block, logIndex, transactionIndex = logIndex }: Emitted): string {
  return `${placeOf(block)}${digits(transactionIndex, 16)}5${digits(logIndex, 16)}`;
}

function digits(value: number, count: number): string {
  return String(value).padStart(count, "0");
}

export async function emit(
  db: Database,
  schema: string,
  events: readonly Emitted[],
): Promise<void> {
  const rows = events.map((event) => {
    const { block, logIndex, transactionIndex = logIndex } = event;
    return {
      id: eventId(event),
      chain_id: block.chainId,
      source: event.source ?? "Erc721",
      name: event.name,
      address: event.address,
      block_number: block.number,
      block_hash: block.hash,
      block_timestamp: block.timestamp,
      transaction_hash: transactionHash(block, transactionIndex),
      transaction_index: transactionIndex,
      log_index: logIndex,
      args: event.args,
      sender: event.sender,
      target: event.target,
      calldata_tail: event.calldataTail,
    };
  });
  await sql`
    insert into ${sql.id(schema, "event")}
    select * from json_populate_recordset(null::${sql.id(schema, "event")}, ${JSON.stringify(rows)}::json)
  `.execute(db);
}

function transactionHash(block: Block, transactionIndex: number): Hex {
  return `0x${block.hash.slice(2, 58)}${digits(transactionIndex, 8)}`;
}

/** Takes a block's events back, as Ponder does in a reorg and after a crash. */
export async function takeBack(
  db: Database,
  schema: string,
  blocks: readonly Block[],
): Promise<void> {
  await sql`
    delete from ${sql.id(schema, "event")} where block_hash = any (${blocks.map(({ hash }) => hash)}::text[])
  `.execute(db);
}
