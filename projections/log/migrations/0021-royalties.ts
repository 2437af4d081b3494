import { type Kysely, sql } from "kysely";

/**
 * A partner's creator fees in force apart from its last word, so that a suspicious change can wait for an operator; and
 * how far the royalties of contracts are read. Fees above the default cap are judged again at the next reading.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `alter table ops.partner_collection add column fees_in_force jsonb, add column pending_reason text`,
  `update ops.partner_collection c
   set fees_in_force = case when total.bps <= 1000 then c.fees end,
       fees = case when total.bps <= 1000 then c.fees end,
       described_at = case when total.bps <= 1000 then c.described_at end
   from (
     select p.marketplace, p.chain_id, p.contract,
            coalesce(sum((fee.value ->> 'bps')::int) filter (where fee.value -> 'isRequired' = 'true'::jsonb), 0) as bps
     from ops.partner_collection p left join lateral jsonb_array_elements(p.fees) fee on true
     where p.fees is not null
     group by p.marketplace, p.chain_id, p.contract
   ) total
   where total.marketplace = c.marketplace and total.chain_id = c.chain_id and total.contract = c.contract`,
  `create index partner_collection_held on ops.partner_collection (marketplace) where pending_reason is not null`,
  `create table ops.royalty_scan (
     chain_id   integer     primary key,
     started_at timestamptz not null,
     after_id   integer
   )`,
  `comment on column ops.royalty_scan.after_id is 'The last contract read; null: the scan has ended'`,
  `create table ops.royalty_reread (
     chain_id integer     not null,
     contract bytea       not null,
     asked_at timestamptz not null,
     read_at  timestamptz,
     primary key (chain_id, contract)
   )`,
  `create index royalty_reread_pending on ops.royalty_reread (chain_id) where read_at is null`,
];
