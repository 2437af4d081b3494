import { sql } from "kysely";
import type { Address } from "viem";
import type { Database, Session } from "./database.ts";
import { kindList, kindLiteral } from "./fact-kinds.ts";

export type ChainContract = { readonly chainId: number; readonly address: Address };

/** Rows name contracts that have no ids in the snapshot: `withContractIds` registers them and derives again. */
export class UnregisteredContracts extends Error {
  readonly contracts: readonly ChainContract[];

  constructor(contracts: readonly ChainContract[]) {
    super(`${contracts.length} contracts have no id yet`);
    this.contracts = contracts;
  }
}

/** Throws `UnregisteredContracts` where some of these have no id. */
export async function requireContractIds(
  session: Session,
  contracts: readonly ChainContract[],
): Promise<void> {
  const missing = await contractsWithoutIds(session, contracts);
  if (missing.length > 0) throw new UnregisteredContracts(missing);
}

/** Those of some contracts that have no id in the session's snapshot, adapters by what they stand for. */
export async function contractsWithoutIds(
  session: Session,
  contracts: readonly ChainContract[],
): Promise<ChainContract[]> {
  if (contracts.length === 0) return [];
  const { rows } = await sql<ChainContract>`
    select distinct named.chain_id as "chainId", named.address
    from unnest(${chainIds(contracts)}::int[], ${addresses(contracts)}::bytea[]) named (chain_id, address)
    left join log.contract_alias alias using (chain_id, address)
    where not exists (
      select from log.contract known
      where known.chain_id = named.chain_id and known.address = coalesce(alias.stands_for, named.address)
    )`.execute(session);
  return rows;
}

/** Those of some contracts of which the log holds no transfer of a token. */
export async function readContractsWithoutTransfers(
  db: Database,
  chainId: number,
  addresses: readonly Address[],
): Promise<Address[]> {
  const kinds = kindList("erc721_transfer", "erc1155_transfer");
  const { rows } = await sql<{ address: Address }>`
    select named.address from unnest(${hexOf(addresses)}::bytea[]) named (address)
    where not exists (
      select from log.contract c
      where c.chain_id = ${chainId} and c.address = named.address and (
        exists (select from log.fact f where f.contract_id = c.contract_id and f.kind in ${kinds})
        or exists (
          select from log.fact f
          where f.contract_id = c.contract_id and f.kind = ${kindLiteral("erc721_consecutive_transfer")})
      )
    )`.execute(db);
  return rows.map(({ address }) => address);
}

/**
 * Does the work of a transaction, again where it names contracts without ids. They get theirs in a transaction of their
 * own: it locks the log's head, which appenders would wait for, and the work's snapshot may be older than the head.
 */
export async function withContractIds<Result>(
  db: Database,
  work: () => Promise<Result>,
): Promise<Result> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof UnregisteredContracts)) throw error;
      await registerContracts(db, error.contracts);
    }
  }
}

async function registerContracts(db: Database, contracts: readonly ChainContract[]): Promise<void> {
  await sql`
    select log.register_contracts(${chainIds(contracts)}::int[], ${addresses(contracts)}::bytea[])`.execute(
    db,
  );
}

const chainIds = (contracts: readonly ChainContract[]) => contracts.map(({ chainId }) => chainId);

const addresses = (contracts: readonly ChainContract[]) =>
  hexOf(contracts.map(({ address }) => address));

const hexOf = (some: readonly Address[]) => some.map((address) => `\\${address.slice(1)}`);

/** The contracts with these numbers, and their addresses. */
export async function readContractAddresses(
  db: Database,
  contractIds: readonly number[],
): Promise<Map<number, Address>> {
  const { rows } = await sql<{ contractId: number; address: Address }>`
    select contract_id as "contractId", address from log.contract
    where contract_id = any (${contractIds}::int[])`.execute(db);
  return new Map(rows.map(({ contractId, address }) => [contractId, address]));
}
