import { sql } from "kysely";
import { type Address, type Hex, keccak256, pad, stringToHex, toHex } from "viem";
import {
  createTarget,
  dropTarget,
  readCheckpoints,
  type Target,
  targetOf,
} from "#projections/engine/checkpoint.ts";
import type { Projection } from "#projections/engine/projection.ts";
import { tick } from "#projections/engine/tick.ts";
import { type Appended, appendStaged, openStage } from "#projections/log/append.ts";
import { appendBlockStates } from "#projections/log/blocks.ts";
import type { Database, Session } from "#projections/log/database.ts";
import { type FactKind, factKind } from "#projections/log/fact-kinds.ts";
import { schemaOf } from "#projections/log/versions.ts";

export type Block = { chainId: number; number: number; hash: Hex; timestamp: number };

/** A chain's event as the recorder stages it. */
export type ChainEvent = {
  kind: FactKind;
  block: Block;
  logIndex: number;
  subIndex?: number;
  transactionIndex?: number;
  transactionHash?: Hex;
  contract: Address;
  tokenId?: bigint;
  amount?: bigint;
  from?: Address;
  to?: Address;
  orderHash?: Hex;
  payload?: unknown;
};

export const zeroAddress: Address = "0x0000000000000000000000000000000000000000";

/** A block of one branch of a chain: equal arguments give an equal block. */
export function block(chainId: number, number: number, branch = "main"): Block {
  const hash = keccak256(stringToHex(`${chainId}/${number}/${branch}`));
  return { chainId, number, hash, timestamp: 1_700_000_000 + number * 12 };
}

export function addressOf(index: number): Address {
  return pad(toHex(0xa000 + index), { size: 20 });
}

/** Appends events as the recorder does, in the order given. */
export async function appendEvents(db: Database, events: readonly ChainEvent[]): Promise<Appended> {
  return await db.transaction().execute((session) => appendEventsIn(session, events));
}

/** The same, in a transaction of the caller's. */
export async function appendEventsIn(
  session: Session,
  events: readonly ChainEvent[],
): Promise<Appended> {
  await openStage(session);
  await sql`
      insert into staged (ord, kind, chain_id, block_number, block_hash, block_timestamp, transaction_index,
                          transaction_hash, log_index, sub_index, contract, token_id, amount, from_address,
                          to_address, order_hash, payload)
      select ord, kind, chain_id, block_number, decode(block_hash, 'hex'), to_timestamp(block_timestamp),
             transaction_index, decode(transaction_hash, 'hex'), log_index, sub_index, decode(contract, 'hex'),
             token_id, amount, decode(from_address, 'hex'), decode(to_address, 'hex'), decode(order_hash, 'hex'),
             payload
      from jsonb_to_recordset(${JSON.stringify(events.map(stagedRow))}::jsonb) as row (
        ord bigint, kind smallint, chain_id integer, block_number bigint, block_hash text, block_timestamp bigint,
        transaction_index integer, transaction_hash text, log_index integer, sub_index integer, contract text,
        token_id numeric, amount numeric, from_address text, to_address text, order_hash text, payload jsonb
      )`.execute(session);
  return await appendStaged(session);
}

function stagedRow(event: ChainEvent, index: number) {
  const transactionIndex = event.transactionIndex ?? event.logIndex;
  const transactionHash =
    event.transactionHash ?? keccak256(stringToHex(`${event.block.hash}/${transactionIndex}`));
  return {
    ord: index,
    kind: factKind[event.kind],
    chain_id: event.block.chainId,
    block_number: event.block.number,
    block_hash: event.block.hash.slice(2),
    block_timestamp: event.block.timestamp,
    transaction_index: transactionIndex,
    transaction_hash: transactionHash.slice(2),
    log_index: event.logIndex,
    sub_index: event.subIndex ?? 0,
    contract: event.contract.slice(2),
    token_id: event.tokenId?.toString(),
    amount: event.amount?.toString(),
    from_address: event.from?.slice(2),
    to_address: event.to?.slice(2),
    order_hash: event.orderHash?.slice(2),
    payload: event.payload,
  };
}

/** Drops blocks, or brings them back. Returns how many changed. */
export async function setBlocks(
  db: Database,
  state: "block_retracted" | "block_readopted",
  blocks: readonly Block[],
): Promise<number> {
  const hashes = blocks.map(({ hash }) => hash.slice(2));
  const { rows } = await sql<{ block_id: bigint }>`
    select block_id from log.block where encode(hash, 'hex') = any (${hashes}::text[])`.execute(db);
  const ids = rows.map((row) => row.block_id);
  return await db
    .transaction()
    .execute((session) => appendBlockStates(session, state, ids, new Date(0)));
}

/** Makes a projection's empty tables; in another schema than its own when one is named. */
export async function createProjection(
  db: Database,
  projection: Projection,
  schema = schemaOf(projection.name),
): Promise<Target> {
  const target = { projection, schema };
  await db.transaction().execute((session) => createTarget(session, target));
  return target;
}

/** Drops the tables of every projection, also those of shadow schemas. */
export async function dropTargets(db: Database): Promise<void> {
  for (const schema of (await readCheckpoints(db)).keys()) await dropTarget(db, schema);
}

/** Drops the tables of every projection, and empties the log. */
export async function dropTargetsAndFacts(db: Database): Promise<void> {
  await dropTargets(db);
  await sql`
    truncate log.fact, log.block, log.transaction, log.contract, engine.book, engine.book_order, engine.book_price,
      engine.order_event`.execute(db);
  await sql`update log.head set position = 0`.execute(db);
}

/** Empty tables of the service's projections: those of a copy of the template `projected`, or new ones. */
export async function createProjections(
  db: Database,
  projections: readonly Projection[],
): Promise<Target[]> {
  if ((await readCheckpoints(db)).size === 0) {
    for (const projection of projections) await createProjection(db, projection);
  } else await adoptTables(db, projections);
  return projections.map(targetOf);
}

/** Makes tables that were created for other parameters those of these projections; they must be empty. */
export async function adoptTables(db: Database, projections: readonly Projection[]): Promise<void> {
  const parameters = projections.map((projection) => projection.parameters ?? "");
  await sql`
    update engine.checkpoint c set parameters = given.parameters
    from unnest(${projections.map(({ name }) => schemaOf(name))}::text[], ${parameters}::text[]) given (name, parameters)
    where c.projection = given.name and c.position = 0`.execute(db);
}

/** Ticks until the targets reach the log's head, or `limit`. */
export async function project(
  db: Database,
  targets: readonly Target[],
  maxFacts?: number,
  limit?: bigint,
): Promise<void> {
  for (;;) {
    const { outcome } = await tick(db, targets, maxFacts, limit);
    if (outcome === "idle") return;
    if (outcome === "fenced") throw new Error("a tick was fenced");
  }
}

/** All rows of a table as text, in an order of their own: equal states give equal lists. */
export async function dumpTable(db: Database, table: string): Promise<string[]> {
  const { rows } = await sql<{ row: string }>`
    select t::text as row from ${sql.table(table)} t order by 1`.execute(db);
  return rows.map(({ row }) => row);
}

/** Until transactions of this database wait for locks that others hold. */
export async function untilSomeoneWaits(db: Database, count = 1): Promise<void> {
  for (const deadline = Date.now() + 10_000; Date.now() < deadline; ) {
    const { rows } = await sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
      db,
    );
    if (rows.length >= count) return;
  }
  throw new Error("no session waits for a lock");
}
