import { sql } from "kysely";
import type { Address, Hex } from "viem";
import type { Database, Session } from "../database.ts";
import { type FactKind, factKind } from "./fact-kind.ts";
import { type Appended, appendStaged, openStage } from "./stage.ts";

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
  await openStage(session);
  await sql`
      insert into staged (ord, kind, chain_id, contract, identity, recorded_at, block_number, block_hash,
                          block_timestamp, token_id, amount, from_address, to_address, order_hash, payload)
      select ord, kind, chain_id, decode(contract, 'hex'), decode(identity, 'hex'), recorded_at, block_number,
             decode(block_hash, 'hex'), block_timestamp, token_id, amount, decode(from_address, 'hex'),
             decode(to_address, 'hex'), decode(order_hash, 'hex'), payload
      from jsonb_to_recordset(${JSON.stringify(observations.map(rowOf))}::jsonb) as row (
        ord bigint, kind smallint, chain_id integer, contract text, identity text, recorded_at timestamptz,
        block_number bigint, block_hash text, block_timestamp timestamptz, token_id numeric, amount numeric,
        from_address text, to_address text, order_hash text, payload jsonb
      )`.execute(session);
  return await appendStaged(session);
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
