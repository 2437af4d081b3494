import { type Kysely, sql } from "kysely";

/** What `projections/partner-sync/README.md` tells of. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `create table ops.partner_collection (
     marketplace    text        not null,
     chain_id       integer     not null,
     contract       bytea       not null,
     slug           text,
     fees           jsonb,
     fee_changes    integer     not null default 0,
     described_at   timestamptz,
     is_registered  boolean     not null default false,
     due_at         timestamptz not null,
     pass           text check (pass in ('full', 'newest')),
     pass_number    bigint      not null default 0,
     pass_cursor    text,
     pass_pages     integer     not null default 0,
     pass_began_at  timestamptz,
     is_read_whole  boolean     not null default true,
     full_at        timestamptz,
     primary key (marketplace, chain_id, contract)
   )`,
  `create index partner_collection_due on ops.partner_collection (marketplace, due_at)`,
  `create table ops.partner_listing (
     marketplace text          not null,
     chain_id    integer       not null,
     order_hash  bytea         not null,
     contract    bytea         not null,
     generation  integer       not null,
     is_shown    boolean       not null,
     pass_number bigint        not null,
     end_time    numeric(78,0) not null,
     primary key (marketplace, chain_id, order_hash)
   ) with (fillfactor = 80)`,
  `create index partner_listing_contract on ops.partner_listing (marketplace, chain_id, contract)`,
  `create table ops.partner_skip (
     marketplace text        not null,
     reason      text        not null,
     entries     bigint      not null,
     last_path   text        not null,
     last_at     timestamptz not null,
     primary key (marketplace, reason)
   )`,
  `comment on column ops.partner_listing.generation is 'How often it was withdrawn'`,
  `comment on column ops.partner_listing.pass_number is 'The last pass over its contract that saw it'`,
];
