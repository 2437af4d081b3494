import { type RawBuilder, sql } from "kysely";
import { defaultFeeLimits } from "../domain/royalty.ts";
import { isObservation } from "../engine/fact-window.ts";
import type { FactWindow } from "../engine/projection.ts";
import type { Session } from "../log/database.ts";
import { type FactKind, kindList, kindLiteral } from "../log/fact-kinds.ts";

const erc1155 = kindLiteral("erc1155_transfer");

/** A contract is known from its first fact of these kinds. */
export const transferKinds = [
  "erc721_transfer",
  "erc721_consecutive_transfer",
  "erc1155_transfer",
] as const satisfies readonly FactKind[];
const transfers = kindList(...transferKinds);

/** Stores the effective descriptions. Returns the contracts with changes. */
export async function applyDescriptions(
  session: Session,
  schema: string,
  window: FactWindow,
): Promise<number[]> {
  const description = sql.table(`${schema}.description`);
  const { rows } = await sql<{ contract_id: number }>`
    with removed as (
      delete from ${description} d using ${window.changes} c
      where ${isObservation("contract_described")} and c.weight < 0 and d.position = c.position
      returning d.contract_id
    ), added as (
      insert into ${description}
      select c.position, c.contract_id, c.block_id, c.payload ->> 'name', c.payload ->> 'symbol',
             case c.payload ->> 'standard' when 'erc721' then 721 when 'erc1155' then 1155 when 'erc20' then 20 end, c.recorded_at
      from ${window.changes} c
      where ${isObservation("contract_described")} and c.weight > 0
      returning contract_id
    )
    select contract_id from removed union select contract_id from added`.execute(session);
  return rows.map((row) => row.contract_id);
}

/** Stores the effective registry entries. Returns whether any was added or removed. */
export async function applyRegistrations(
  session: Session,
  schema: string,
  window: FactWindow,
): Promise<boolean> {
  const registration = sql.table(`${schema}.registration`);
  const { rows } = await sql`
    with removed as (
      delete from ${registration} r using ${window.changes} c
      where ${isObservation("collection_registered")} and c.weight < 0 and r.position = c.position
      returning 1
    ), added as (
      insert into ${registration}
      select c.position, c.contract_id, k.chain_id, k.address, c.payload ->> 'slug', c.payload ->> 'name',
             coalesce(c.payload -> 'verified' = 'true'::jsonb, false),
             array(
               select decode(substr(named, 3), 'hex')
               from jsonb_array_elements_text(
                 case jsonb_typeof(c.payload -> 'contracts') when 'array' then c.payload -> 'contracts' else '[]' end
               ) named
               where named ~ '^0x[0-9a-f]{40}$'
               union
               select k.address where c.payload -> 'removed' is distinct from 'true'::jsonb
               order by 1
             ),
             c.recorded_at, royalty.recipient, royalty.bps
      from ${window.changes} c join log.contract k on k.contract_id = c.contract_id
      cross join lateral (${royalty}) royalty
      where ${isObservation("collection_registered")} and c.weight > 0
      returning 1
    )
    select from removed union all select from added limit 1`.execute(session);
  return rows.length > 0;
}

/** SQL: the creator fee in an entry `c`; none where it is malformed. */
const royalty = sql`
  select case when checked.is_valid then decode(substr(c.payload #>> '{royalty,recipient}', 3), 'hex') end as recipient,
         case when checked.is_valid then (c.payload #>> '{royalty,bps}')::integer end as bps
  from (
    select c.payload #>> '{royalty,recipient}' ~ '^0x[0-9a-f]{40}$'
           and c.payload #>> '{royalty,bps}' ~ '^(\\d{1,4}|10000)$' as is_valid
  ) checked`;

/** Stores each contract's first block with a transfer. Returns the contracts whose first block changed. */
export async function applyFirstTransfers(
  session: Session,
  schema: string,
  window: FactWindow,
): Promise<number[]> {
  const added = await addFirstTransfers(session, schema, window);
  const recomputed = await recomputeRetracted(session, schema, window);
  if (recomputed.length > 0) {
    await sql`
      delete from ${sql.table(`${schema}.first_transfer`)}
      where contract_id = any (${recomputed}::int[]) and erc721_block_id is null and erc1155_block_id is null
    `.execute(session);
  }
  return [...added, ...recomputed];
}

async function addFirstTransfers(
  session: Session,
  schema: string,
  window: FactWindow,
): Promise<number[]> {
  const { rows } = await sql<{ contract_id: number }>`
    insert into ${sql.table(`${schema}.first_transfer`)} as d
    ${firstTransfers(window)}
    on conflict (contract_id) do update set
      erc721_block_id = least(d.erc721_block_id, excluded.erc721_block_id),
      erc1155_block_id = least(d.erc1155_block_id, excluded.erc1155_block_id)
    where (d.erc721_block_id, d.erc1155_block_id) is distinct from
          (least(d.erc721_block_id, excluded.erc721_block_id), least(d.erc1155_block_id, excluded.erc1155_block_id))
    returning contract_id`.execute(session);
  return rows.map((row) => row.contract_id);
}

/** For the empty table, which has no key yet. */
export async function addAllFirstTransfers(
  session: Session,
  schema: string,
  window: FactWindow,
): Promise<void> {
  await sql`
    insert into ${sql.table(`${schema}.first_transfer`)} ${firstTransfers(window)}`.execute(
    session,
  );
}

const firstTransfers = (window: FactWindow) => sql`
  select c.contract_id,
         min(c.block_id) filter (where c.kind <> ${erc1155}),
         min(c.block_id) filter (where c.kind = ${erc1155})
  from ${window.changes} c
  where c.weight > 0 and c.kind in ${transfers}
  group by c.contract_id`;

/** A contract whose first block was retracted is looked up in the log again. */
async function recomputeRetracted(
  session: Session,
  schema: string,
  window: FactWindow,
): Promise<number[]> {
  const firstTransfer = sql.table(`${schema}.first_transfer`);
  const { rows } = await sql<{ contract_id: number }>`
    with affected as (
      select distinct d.contract_id
      from ${window.changes} c join ${firstTransfer} d on d.contract_id = c.contract_id
      where c.weight < 0 and c.kind in ${transfers}
        and c.block_id = case c.kind when ${erc1155} then d.erc1155_block_id else d.erc721_block_id end
    )
    update ${firstTransfer} d set erc721_block_id = first.erc721, erc1155_block_id = first.erc1155
    from affected cross join lateral (
      select min(f.block_id) filter (where f.kind <> ${erc1155}) as erc721,
             min(f.block_id) filter (where f.kind = ${erc1155}) as erc1155
      from (
        select block_id, kind, position from ${window.facts}
        where contract_id = affected.contract_id and kind in ${kindList("erc721_transfer", "erc1155_transfer")}
        union all
        select block_id, kind, position from ${window.facts}
        where contract_id = affected.contract_id and kind in ${kindList("erc721_consecutive_transfer")}
      ) f
      where f.position <= ${window.upTo} and not exists (select from ${window.retractedBlocks} x where x.block_id = f.block_id)
    ) first
    where d.contract_id = affected.contract_id
    returning d.contract_id`.execute(session);
  return rows.map((row) => row.contract_id);
}

/** Contracts and collections whose rows a changed registry may change. */
type Affected = { contracts: number[]; collections: number[] };

/**
 * Derives the registry in force from all entries: they are few, and each may affect every other. The latest entry of a
 * primary contract is in force, unless it is a removal or a later entry of another primary names that contract.
 */
export async function deriveRegistry(session: Session, schema: string): Promise<Affected> {
  const before = await readAffected(session, schema);
  await deriveRegistryCollections(session, schema);
  await deriveRegistryContracts(session, schema);
  const after = await readAffected(session, schema);
  return {
    contracts: [...before.contracts, ...after.contracts],
    collections: [...before.collections, ...after.collections],
  };
}

async function readAffected(session: Session, schema: string): Promise<Affected> {
  const { rows } = await sql<{ contract_id: number; is_contract: boolean }>`
    select k.contract_id, true as is_contract
    from ${sql.table(`${schema}.registry_contract`)} c
    join log.contract k on k.chain_id = c.chain_id and k.address = c.address
    union all
    select collection_id, false from ${sql.table(`${schema}.registry_collection`)}`.execute(
    session,
  );
  const ids = (contract: boolean) =>
    rows.filter((row) => row.is_contract === contract).map((row) => row.contract_id);
  return { contracts: ids(true), collections: ids(false) };
}

/** A slug claimed by several belongs to the one that has claimed it longest without a break; the others get their address. */
async function deriveRegistryCollections(session: Session, schema: string): Promise<void> {
  const registration = sql.table(`${schema}.registration`);
  const registryCollection = sql.table(`${schema}.registry_collection`);
  await sql`delete from ${registryCollection}`.execute(session);
  await sql`
    with latest as (
      select distinct on (collection_id) * from ${registration} order by collection_id, position desc
    ), in_force as (
      select l.* from latest l
      -- An entry without contracts removes its collection from the registry.
      where cardinality(l.contracts) > 0 and not exists (
        select from latest other
        where other.chain_id = l.chain_id and other.position > l.position and l.address = any (other.contracts)
      )
    ), ranked as (
      select s.*, history.first_at,
             row_number() over (partition by s.chain_id, s.slug order by slug_history.since) as slug_rank
      from in_force s
      cross join lateral (
        select min(r.recorded_at) as first_at,
               max(r.position) filter (where r.slug is distinct from s.slug) as other_slug
        from ${registration} r where r.collection_id = s.collection_id
      ) history
      cross join lateral (
        select min(r.position) as since from ${registration} r
        where r.collection_id = s.collection_id and r.position > coalesce(history.other_slug, 0)
      ) slug_history
    )
    insert into ${registryCollection}
    select collection_id,
           case when slug_rank = 1 and slug is not null and slug !~* '^0x[0-9a-f]{40}$' then slug
                else '0x' || encode(address, 'hex') end,
           name, verified, first_at, recorded_at, royalty_recipient, royalty_bps
    from ranked`.execute(session);
}

/** A contract named by several entries belongs to the latest. */
async function deriveRegistryContracts(session: Session, schema: string): Promise<void> {
  const registryContract = sql.table(`${schema}.registry_contract`);
  await sql`delete from ${registryContract}`.execute(session);
  await sql`
    insert into ${registryContract}
    select distinct on (r.chain_id, named.address) r.chain_id, named.address, r.collection_id
    from (
      select distinct on (collection_id) * from ${sql.table(`${schema}.registration`)}
      order by collection_id, position desc
    ) r
    join ${sql.table(`${schema}.registry_collection`)} in_force on in_force.collection_id = r.collection_id
    cross join unnest(r.contracts) named (address)
    order by r.chain_id, named.address, r.position desc`.execute(session);
}

const isReading = isObservation("creator_fee_read");

/**
 * Stores the creator fees that partners require as one share, paid to the largest recipient, of equals the first. A fee
 * that nobody reviewed was recorded by an earlier version; it counts up to the default cap.
 */
export async function applyCreatorFees(
  session: Session,
  schema: string,
  window: FactWindow,
): Promise<void> {
  const creatorFee = sql.table(`${schema}.creator_fee`);
  await sql`
    delete from ${creatorFee} f using ${window.changes} c
    where ${isReading} and c.weight < 0 and f.position = c.position`.execute(session);
  await sql`
    insert into ${creatorFee}
    select c.position, c.contract_id, decode(substr(due.recipient, 3), 'hex'), least(due.bps, 10000),
           case when c.payload ? 'review' then c.payload #>> '{review,state}' in ('in_force', 'accepted')
                else due.bps <= ${defaultFeeLimits.maxBps} end
    from ${window.changes} c
    cross join lateral (
      select (array_agg(fee.value ->> 'recipient' order by (fee.value ->> 'bps')::int desc, fee.ordinality))[1] as recipient,
             coalesce(sum((fee.value ->> 'bps')::int), 0)::int as bps
      from jsonb_array_elements(c.payload -> 'fees') with ordinality fee
      where fee.value -> 'isRequired' = 'true'::jsonb and (fee.value ->> 'bps')::int > 0
    ) due
    where ${isReading} and c.weight > 0`.execute(session);
}

const isStated = isObservation("royalty_stated");

/** Stores the effective royalties that contracts and operators state. Returns the contracts with changes. */
export async function applyStatedRoyalties(
  session: Session,
  schema: string,
  window: FactWindow,
): Promise<number[]> {
  const stated = sql.table(`${schema}.stated_royalty`);
  const { rows } = await sql<{ contract_id: number }>`
    with removed as (
      delete from ${stated} s using ${window.changes} c
      where ${isStated} and c.weight < 0 and s.position = c.position
      returning s.contract_id
    ), added as (
      insert into ${stated}
      select c.position, c.contract_id, c.payload ->> 'source', c.block_id,
             decode(substr(c.payload ->> 'recipient', 3), 'hex'), (c.payload ->> 'bps')::integer
      from ${window.changes} c
      where ${isStated} and c.weight > 0
      returning contract_id
    )
    select contract_id from removed union select contract_id from added`.execute(session);
  return rows.map((row) => row.contract_id);
}

/** Of contracts that are known already: nothing else of them, or of their collections, depends on it. */
export async function updateRoyaltyStates(
  session: Session,
  schema: string,
  contracts: readonly number[],
): Promise<void> {
  if (contracts.length === 0) return;
  await sql`
    update ${sql.table(`${schema}.contract`)} m set has_royalty = told.has_royalty
    from unnest(${contracts}::int[]) given (contract_id)
    cross join lateral (select ${hasRoyalty(schema, sql`given.contract_id`)} as has_royalty) told
    where m.contract_id = given.contract_id and m.has_royalty <> told.has_royalty`.execute(session);
}

/** SQL: whether a reading of a contract's own royalty is effective. */
export function hasRoyalty(schema: string, contractId: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`exists (
    select from ${sql.table(`${schema}.stated_royalty`)} told
    where told.contract_id = ${contractId} and told.source = 'erc2981'
  )`;
}
