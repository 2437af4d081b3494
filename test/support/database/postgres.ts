import pg from "pg";
import { inject } from "vitest";
import { type Database, openDatabase } from "../../../projections/database.ts";

export type TestDatabase = {
  url: string;
  db: Database;
  /** Closes `db`, throws out whoever is still connected, and removes the database. */
  drop(): Promise<void>;
};

let created = 0;

/** An empty, migrated database of its own for a test file, on the run's server or on one with a database `template`. */
export async function createDatabase(server = inject("postgresUrl")): Promise<TestDatabase> {
  created += 1;
  const name = `test_${process.pid}_${created}`;
  await administer(server, `create database ${name} template template`);
  const url = server.replace(/\/postgres$/, `/${name}`);
  // Prepared, as the service's connections are: planning was a third of the server's time.
  const db = openDatabase({ url, applicationName: "test", prepares: true, onIdleError: () => {} });
  return {
    url,
    db,
    async drop() {
      await db.destroy();
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
