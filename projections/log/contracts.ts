import { sql } from "kysely";
import type { Address } from "viem";
import type { Session } from "../database.ts";

export type ChainContract = { readonly chainId: number; readonly address: Address };

/**
 * Gives ids to contracts that no fact names, adapters replaced by what they stand for. Locks the log's head until the
 * transaction ends, but only where a contract is new: appenders give out contract ids too.
 */
export async function registerContracts(
  session: Session,
  contracts: readonly ChainContract[],
): Promise<void> {
  if (contracts.length === 0) return;
  const named = sql`
    select distinct one.chain_id, coalesce(alias.stands_for, one.address) as address
    from unnest(
      ${contracts.map(({ chainId }) => chainId)}::int[],
      ${contracts.map(({ address }) => `\\${address.slice(1)}`)}::bytea[]
    ) as one (chain_id, address)
    left join log.contract_alias alias using (chain_id, address)`;
  const unknown = sql`
    select chain_id, address from (${named}) named
    where not exists (
      select from log.contract known where known.chain_id = named.chain_id and known.address = named.address
    )`;
  const { rows } = await unknown.execute(session);
  if (rows.length === 0) return;
  await sql`select from log.head for update`.execute(session);
  await sql`insert into log.contract (chain_id, address) ${unknown} on conflict do nothing`.execute(
    session,
  );
}
