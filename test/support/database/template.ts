import pg from "pg";
import { openDatabase } from "../../../projections/database.ts";
import { migrate } from "../../../projections/log/migrate.ts";

/** Makes the database `template`, migrated and empty, of which tests' databases are copies. */
export async function makeTemplate(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("create database template");
  await client.end();
  const db = openDatabase({
    url: url.replace(/\/postgres$/, "/template"),
    applicationName: "template",
    onIdleError: () => {},
  });
  await migrate(db);
  await db.destroy();
}
