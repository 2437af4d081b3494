import { appendChangedReadings, appendReadings } from "#projections/orders/changed-readings.ts";
import type { Database } from "#projections/log/database.ts";
import type { ChainReadings } from "#projections/log/readings.ts";
import { type ChainQuery, isReading, queryKey } from "#jobs/chain/chain-query.ts";
import type { ChainClient } from "#jobs/chain/client.ts";
import type { ReadBasis } from "#jobs/chain/contract-calls.ts";
import { runBatch } from "#jobs/chain/query-chain.ts";

type Reading = { db: Database; client: ChainClient };

/**
 * Fetches state at a block and appends what differs from the log. Returns the queries without a result, such as of a
 * contract that is not called for a while: to be read again. Throws `RpcFailure`.
 */
export async function appendChangedState(
  { db, client }: Reading,
  basis: ReadBasis,
  queries: readonly ChainQuery[],
): Promise<ChainQuery[]> {
  if (queries.length === 0) return [];
  const { state, missing } = await fetchState(client, basis, queries);
  await appendChangedReadings(db, [state], new Date());
  return missing;
}

/** The same of state that a reorg undid: all of it is appended. */
export async function appendUndoneState(
  { db, client }: Reading,
  basis: ReadBasis,
  queries: readonly ChainQuery[],
): Promise<ChainQuery[]> {
  if (queries.length === 0) return [];
  const { state, missing } = await fetchState(client, basis, queries);
  await appendReadings(db, state, new Date());
  return missing;
}

async function fetchState(
  client: ChainClient,
  basis: ReadBasis,
  queries: readonly ChainQuery[],
): Promise<{ state: ChainReadings; missing: ChainQuery[] }> {
  const { chainId } = client;
  const batch = await runBatch(client, queries, { basis: Promise.resolve(basis) });
  const readings = [...batch.results.values()].filter(isReading);
  const distinct = new Map(queries.map((query) => [queryKey(query), query]));
  const missing = [...distinct].flatMap(([key, query]) => {
    const result = batch.results.get(key);
    return result !== undefined && isReading(result) ? [] : [query];
  });
  return { state: { chainId, basis: batch.basis, readings }, missing };
}
