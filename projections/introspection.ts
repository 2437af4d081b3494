import {
  type DatabaseIntrospector,
  type DatabaseMetadata,
  type DialectAdapter,
  type Kysely,
  PostgresAdapter,
  PostgresDialect,
  type QueryCompiler,
  type SchemaMetadata,
  sql,
  type TableMetadata,
} from "kysely";
import { VersionedNames } from "./versioned-names.ts";

/**
 * PostgreSQL for migrations that run while schemas are rebuilt. Kysely's own introspection looks tables up by their names
 * after it has listed them, which fails where a rebuild renames or drops a schema in between.
 */
export class SteadyDialect extends PostgresDialect {
  override createIntrospector(db: Kysely<unknown>): DatabaseIntrospector {
    return new SteadyIntrospector(db);
  }

  override createQueryCompiler(): QueryCompiler {
    return new VersionedNames();
  }

  override createAdapter(): DialectAdapter {
    return new LocklessAdapter();
  }
}

/** Without Kysely's advisory lock, which any role of the database may hold: `migrate` takes a lock of ours. */
class LocklessAdapter extends PostgresAdapter {
  override async acquireMigrationLock(): Promise<void> {}
  override async releaseMigrationLock(): Promise<void> {}
}

/** Schemas and tables as one snapshot of the catalog names them, without columns: migrations ask for no more. */
class SteadyIntrospector implements DatabaseIntrospector {
  readonly #db: Kysely<unknown>;

  constructor(db: Kysely<unknown>) {
    this.#db = db;
  }

  async getSchemas(): Promise<SchemaMetadata[]> {
    const { rows } = await sql<SchemaMetadata>`
      select nspname as name from pg_catalog.pg_namespace`.execute(this.#db);
    return rows;
  }

  async getTables(): Promise<TableMetadata[]> {
    const { rows } = await sql<Pick<TableMetadata, "name" | "schema" | "isView">>`
      select schemaname as schema, tablename as name, false as "isView"
      from pg_catalog.pg_tables where schemaname !~ '^(pg_|information_schema$)'`.execute(this.#db);
    return rows.map((table) => ({ ...table, columns: [] }));
  }

  async getMetadata(): Promise<DatabaseMetadata> {
    return { tables: await this.getTables() };
  }
}
