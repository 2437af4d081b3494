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

/** An empty, migrated database of its own for a test file. */
export async function createDatabase(): Promise<TestDatabase> {
  created += 1;
  const name = `test_${process.pid}_${created}`;
  await administer(`create database ${name} template template`);
  const url = inject("postgresUrl").replace(/\/postgres$/, `/${name}`);
  // Prepared, as the service's connections are: planning was a third of the server's time.
  const db = openDatabase({ url, applicationName: "test", prepares: true, onIdleError: () => {} });
  return {
    url,
    db,
    async drop() {
      await db.destroy();
      await administer(`drop database ${name} with (force)`);
    },
  };
}

async function administer(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: inject("postgresUrl") });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
