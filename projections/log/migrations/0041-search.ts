import { type Kysely, sql } from "kysely";

/**
 * What is searched by hash and by name. Metadata of a database that exists gets the index that new tables have: its rows
 * are the same, so that it need not be rebuilt.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index transaction_hash on log.transaction using hash (hash)`.execute(db);
  await sql`
    do $$
    begin
      if to_regclass('metadata.token') is not null then
        create index if not exists token_name on metadata.token (chain_id, (lower(left(name, 64)) collate "C"))
        where name is not null;
      end if;
    end $$`.execute(db);
}
