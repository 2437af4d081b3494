import { sql } from "kysely";
import type { Address } from "viem";
import type { Session } from "../log/database.ts";
import { factKind } from "../log/fact-kinds.ts";

/** The latest entry of a primary contract. Addresses are lower case. */
export type RegistryEntry = {
  chainId: number;
  primary: Address;
  position: bigint;
  slug: string | null;
  name: string | null;
  verified: boolean;
  /** Contracts of the collection, the primary included; empty where the entry removes it from the registry. */
  contracts: Address[];
  source: string;
  payload: Record<string, unknown>;
  /** The latest entry of the curated file. */
  curated: Record<string, unknown> | null;
};

type EntryRow = Omit<RegistryEntry, "contracts"> & { named: Address[]; isRemoved: boolean };

/** The latest entry of each primary contract, from the log itself: the tables may lag behind it. */
export async function readRegistry(session: Session): Promise<RegistryEntry[]> {
  const { rows } = await sql<EntryRow>`
    with entry as (
      select f.contract_id, f.position, f.payload from log.fact f
      where f.kind = ${sql.lit(factKind.collection_registered)} and f.log_index is null and f.block_id is null
    )
    select distinct on (f.contract_id) k.chain_id as "chainId", k.address as primary, f.position, f.payload,
           f.payload ->> 'slug' as slug, f.payload ->> 'name' as name,
           coalesce(f.payload -> 'verified' = 'true'::jsonb, false) as verified,
           coalesce(f.payload -> 'removed' = 'true'::jsonb, false) as "isRemoved",
           array(
             select named from jsonb_array_elements_text(
               case jsonb_typeof(f.payload -> 'contracts') when 'array' then f.payload -> 'contracts' else '[]' end
             ) named
             where named ~ '^0x[0-9a-f]{40}$'
           ) as named,
           coalesce(f.payload ->> 'source', 'unknown') as source, curated.payload as curated
    from entry f join log.contract k on k.contract_id = f.contract_id
    left join lateral (
      select c.payload from entry c
      where c.contract_id = f.contract_id and c.payload ->> 'source' = 'curated'
      order by c.position desc limit 1
    ) curated on true
    order by f.contract_id, f.position desc`.execute(session);
  return rows.map(({ named, isRemoved, ...row }) => ({
    ...row,
    contracts: isRemoved ? [] : [...new Set([row.primary, ...named])].sort(),
  }));
}

/** The entries in force: not removed, and not named by a later entry of another primary. */
export function entriesInForce(entries: readonly RegistryEntry[]): RegistryEntry[] {
  return entries.filter(
    (entry) =>
      entry.contracts.length > 0 &&
      !entries.some(
        (other) =>
          other.chainId === entry.chainId &&
          other.primary !== entry.primary &&
          other.position > entry.position &&
          other.contracts.includes(entry.primary),
      ),
  );
}

type CuratedEntry = { chainId: number; primary: Address; position: bigint; payload: object };

/** The latest entry of the curated file for each collection, from the log itself: the tables may lag behind it. */
export async function readCuratedEntries(session: Session): Promise<CuratedEntry[]> {
  const { rows } = await sql<CuratedEntry>`
    select distinct on (f.contract_id) k.chain_id as "chainId", k.address as primary, f.position, f.payload
    from log.fact f join log.contract k on k.contract_id = f.contract_id
    where f.kind = ${sql.lit(factKind.collection_registered)} and f.log_index is null and f.block_id is null
      and f.payload ->> 'source' = 'curated'
    order by f.contract_id, f.position desc`.execute(session);
  return rows;
}
