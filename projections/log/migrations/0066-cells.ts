import { type Kysely, sql } from "kysely";

/** Chains that are moved to a database of their own, as the database that they leave and the one that they come to see it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `create table ops.moved_chain (
     chain_id     integer primary key,
     move_id      uuid    not null default gen_random_uuid(),
     closed_until timestamptz,
     position     bigint,
     moved_at     timestamptz,
     check ((position is null) = (moved_at is null))
   )`,
  "comment on table ops.moved_chain is 'Chains that are being moved to another database, or that one serves (moved_at). closed_until: until then no fact of the chain is taken, while the last ones are copied. position: up to which its facts are in both.'",
  `create table ops.arriving_chain (
     chain_id   integer     primary key,
     move_id    uuid        not null,
     position   bigint      not null default 0,
     started_at timestamptz not null default now()
   )`,
  "comment on table ops.arriving_chain is 'Chains that were moved here, or are being moved. position: of the log that they come from, up to which they are here.'",
  // A trigger calls it that a move creates: without one it costs nothing.
  `create function log.refuse_moved_chain() returns trigger
   language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
   declare
     chain constant integer := tg_argv[0]::integer;
   begin
     if new.block_id is null and not exists (
       select from log.contract k where k.contract_id = new.contract_id and k.chain_id = chain
     ) then
       return new;
     end if;
     if exists (
       select from ops.moved_chain m
       where m.chain_id = chain and (m.moved_at is not null or m.closed_until > clock_timestamp())
     ) then
       raise cannot_connect_now using message = format('chain %s is moved to another database', chain);
     end if;
     return new;
   end
   $$`,
  "revoke execute on function log.refuse_moved_chain() from public",
];
