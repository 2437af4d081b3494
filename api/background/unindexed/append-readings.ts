import {
  appendChangedReadings,
  appendReadings,
} from "../../../projections/chain-readings/append-changed-readings.ts";
import type { Database } from "../../../projections/database.ts";
import type { ChainReadings } from "../../../projections/facts/chain-reading.ts";
import { type ChainQuery, isReading, queryKey } from "../chain/chain-query.ts";
import type { ChainClient } from "../chain/clients.ts";
import type { ReadBasis } from "../chain/contract-calls.ts";
import { runBatch } from "../chain/query-chain.ts";
import { RpcFailure } from "../chain/rpc-batch.ts";

type Reading = { db: Database; client: ChainClient };

/** Fetches state at a block and appends what differs from the log. Throws `RpcFailure`. */
export async function appendChangedState(
  { db, client }: Reading,
  basis: ReadBasis,
  queries: readonly ChainQuery[],
): Promise<void> {
  if (queries.length === 0) return;
  await appendChangedReadings(db, [await fetchState(client, basis, queries)], new Date());
}

/** Fetches at a block the state that a reorg undid, and appends all of it. Throws `RpcFailure`. */
export async function appendUndoneState(
  { db, client }: Reading,
  basis: ReadBasis,
  queries: readonly ChainQuery[],
): Promise<void> {
  if (queries.length === 0) return;
  await appendReadings(db, await fetchState(client, basis, queries), new Date());
}

/** A subject without a result would be passed over for good, so it is an error. */
async function fetchState(
  client: ChainClient,
  basis: ReadBasis,
  queries: readonly ChainQuery[],
): Promise<ChainReadings> {
  const { chainId } = client;
  const batch = await runBatch(client, queries, Promise.resolve(basis));
  const readings = [...batch.results.values()].filter(isReading);
  if (readings.length < new Set(queries.map(queryKey)).size) {
    throw new RpcFailure(`Chain ${chainId} did not return all of the state that was read`);
  }
  return { chainId, basis: batch.basis, readings };
}
