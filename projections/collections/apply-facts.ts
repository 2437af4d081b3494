import { sql } from "kysely";
import type { Session } from "../log/database.ts";
import { isObservation } from "../engine/fact-window.ts";
import type { FactWindow } from "../engine/projection.ts";
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
