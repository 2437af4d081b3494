import { sql } from "kysely";
import type { Address, Hex } from "viem";
import type { Database, Session } from "../database.ts";
import { type FactKind, factKind } from "./fact-kind.ts";
import type { Appended } from "./stage.ts";

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
