import pg from "pg";
import { inject } from "vitest";
import { type Database, openDatabase } from "#projections/log/database.ts";
import type { Template } from "./template.ts";

export type TestDatabase = {
  url: string;
  db: Database;
  /** As a template, once `close` was called. */
  name: string;
  /** Ends the connections of `db`. */
  close(): Promise<void>;
  /** Closes `db`, throws out whoever is still connected, and removes the database. */
  drop(): Promise<void>;
};

let created = 0;

type DatabaseOptions = {
  /** `projected` has the empty tables of every projection, for `createProjections`; or a closed database's name. */
  template?: Template | (string & {});
  /** By default the run's. */
  server?: string | undefined;
};

/** A database of a test's own: migrated and empty, or as its template is. */
export async function createDatabase(options: DatabaseOptions = {}): Promise<TestDatabase> {
  const { template = "template", server = inject("postgresUrl") } = options;
  created += 1;
  const name = `test_${process.pid}_${created}`;
  await administer(server, `create database ${name} template ${template}`);
  const url = server.replace(/\/postgres$/, `/${name}`);
  // Prepared, as the service's connections are: planning was a third of the server's time.
  const db = openDatabase({
    url,
    applicationName: "test",
    prepares: true,
    pipelines: true,
    onIdleError: () => {},
  });
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= db.destroy();
    return closing;
  };
  return {
    url,
    db,
    name,
    close,
    async drop() {
      await close();
      await administer(server, `drop database ${name} with (force)`);
    },
  };
}

async function administer(server: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
