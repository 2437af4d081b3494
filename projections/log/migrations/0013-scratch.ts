import { type Kysely, sql } from "kysely";

/** Tables of a session that its transactions leave empty. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function engine.open_scratch(name text, columns text) returns void language plpgsql as $$
    begin
      if to_regclass('pg_temp.' || quote_ident(name)) is null then
        -- How values are stored can be said here from PostgreSQL 16 on.
        if current_setting('server_version_num')::integer < 160000 then
          columns := replace(columns, ' storage plain', '');
        end if;
        execute format('create temporary table %I (%s) on commit delete rows', name, columns);
      end if;
    end $$`.execute(db);
}
