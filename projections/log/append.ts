import { sql } from "kysely";
import { type Address, type Hex, keccak256, stringToHex } from "viem";
import type { Database, Session } from "./database.ts";
import { type FactKind, factKind } from "./fact-kinds.ts";

/** A fact that no chain emitted: something observed, submitted or decided. */
export type Observation = {
  kind: FactKind;
  chainId: number;
  contract?: Address;
  /** Content identity, 32 bytes: equal content is one fact, however often it is appended. */
  identity: Hex;
  recordedAt: Date;
  /** The block an observation of the chain was made at. It is not effective while that block is retracted. */
  basis?: { number: bigint; hash: Hex; timestamp: Date };
  tokenId?: bigint;
  amount?: bigint;
  fromAddress?: Address;
  toAddress?: Address;
  orderHash?: Hex;
  payload?: unknown;
};

/** Appends observations in the order given, each identity once. */
export async function appendObservations(
  db: Database,
  observations: readonly Observation[],
): Promise<Appended> {
  return await db.transaction().execute((session) => appendObservationsIn(session, observations));
}

/** The same, in a transaction of the caller's. */
export async function appendObservationsIn(
  session: Session,
  observations: readonly Observation[],
): Promise<Appended> {
  const { rows } = await sql<Appended>`
    select appended::int as appended, last_position as head
    from log.append_observations(${JSON.stringify(observations.map(rowOf))}::jsonb)`.execute(
    session,
  );
  const row = rows[0];
  if (row === undefined) throw new Error("log.append_observations returned no row");
  return row;
}

function rowOf(observation: Observation, index: number) {
  const { basis } = observation;
  return {
    ord: index,
    kind: factKind[observation.kind],
    chain_id: observation.chainId,
    contract: digits(observation.contract),
    identity: digits(observation.identity),
    recorded_at: observation.recordedAt.toISOString(),
    block_number: basis?.number.toString(),
    block_hash: digits(basis?.hash),
    block_timestamp: basis?.timestamp.toISOString(),
    token_id: observation.tokenId?.toString(),
    amount: observation.amount?.toString(),
    from_address: digits(observation.fromAddress),
    to_address: digits(observation.toAddress),
    order_hash: digits(observation.orderHash),
    payload: observation.payload,
  };
}

function digits(hex: Hex | undefined): string | undefined {
  return hex?.slice(2);
}

/**
 * Where facts wait, in the appender's transaction, for their positions. Emptied when it ends. `plansOnce`: the rest of the
 * transaction uses plans made for any values, as planning takes longer than staging few facts.
 */
export async function openStage(session: Session, { plansOnce = false } = {}): Promise<void> {
  await (plansOnce
    ? sql`select log.open_stage(), set_config('plan_cache_mode', 'force_generic_plan', true)`
    : sql`select log.open_stage()`
  ).execute(session);
}

export type Appended = {
  /** New facts; those the log held already are not counted. */
  appended: number;
  /** Position of the log's last fact. */
  head: bigint;
};

/** Gives the staged facts their positions. Locks the log's head until the transaction ends. */
export async function appendStaged(session: Session): Promise<Appended> {
  const { rows } = await sql<{ appended: bigint; head: bigint }>`
    select appended, last_position as head from log.append_stage()`.execute(session);
  const row = rows[0];
  if (row === undefined) throw new Error("log.append_stage returned no row");
  return { appended: Number(row.appended), head: row.head };
}

/** Identity of a fact by what it states: Keccak-256 of the content as JSON. Equal content is one fact. */
export function contentIdentity(content: readonly unknown[]): Hex {
  return keccak256(stringToHex(JSON.stringify(content)));
}

/** A value as stored in a payload: bigints are decimal text. */
export type Serialized<Value> = Value extends bigint
  ? string
  : Value extends readonly (infer Item)[]
    ? readonly Serialized<Item>[]
    : Value extends object
      ? { [Key in keyof Value]: Serialized<Value[Key]> }
      : Value;

/** Bigints as decimal text, the form of all integers in payloads. */
export function serializeBigints(value: unknown): unknown {
  if (typeof value === "bigint") return value.toString();
  if (Array.isArray(value)) return value.map(serializeBigints);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, serializeBigints(item)]),
  );
}
