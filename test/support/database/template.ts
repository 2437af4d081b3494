import pg from "pg";
import { zeroAddress } from "viem";
import { migrate } from "#ops/postgres/migrate.ts";
import { allProjections } from "#projections/all.ts";
import { bindViews, bindViewsIfStale } from "#projections/analytics/bind-views.ts";
import { prepareProjections } from "#projections/engine/rebuild.ts";
import { type Database, openDatabase } from "#projections/log/database.ts";

/** Databases of which tests' databases are copies: migrated and empty, and the same with the tables of every projection. */
export type Template = "template" | "projected";

/** Makes the templates; a copy costs a tenth of what the tables of every projection do. */
export async function makeTemplates(url: string): Promise<void> {
  await fill(url, "template", "template1", migrate);
  await fill(url, "projected", "template", async (db) => {
    const projections = allProjections({ feeRecipient: zeroAddress });
    await prepareProjections(db, projections, () => {}, bindViews);
    await db.transaction().execute(bindViewsIfStale);
  });
}

async function fill(
  url: string,
  name: Template,
  from: string,
  work: (db: Database) => Promise<void>,
): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`create database ${name} template ${from}`);
  await client.end();
  const db = openDatabase({
    url: url.replace(/\/postgres$/, `/${name}`),
    applicationName: "template",
    onIdleError: () => {},
  });
  await work(db);
  await db.destroy();
}
