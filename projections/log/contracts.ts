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
  await sql`
    select log.register_contracts(
      ${contracts.map(({ chainId }) => chainId)}::int[],
      ${contracts.map(({ address }) => `\\${address.slice(1)}`)}::bytea[]
    )`.execute(session);
}
