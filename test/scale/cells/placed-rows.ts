import { sql } from "kysely";
import type { Database } from "../../../projections/database.ts";
import { blockIdRange } from "../../../projections/log/block-id.ts";
import { type Browser, password } from "../../integration/accounts/accounts-fixture.ts";
import { until } from "../../support/database/pipeline.ts";

/** Makes an account; without a mail server the service's output has the link that is mailed. */
export async function signUp(browser: Browser, output: readonly string[]): Promise<void> {
  await browser.post("/developers/sign-up", { email: "someone@example.test" });
  const link = await until("the link", async () =>
    output.flatMap((line) => /"link":"([^"]+)"/.exec(line)?.[1] ?? []).at(-1),
  );
  await browser.post("/developers/confirm", {
    link: new URL(link).searchParams.get("link") ?? "",
    password,
  });
}

/** Whether a log has facts of a chain's blocks after a position. */
export async function hasFacts(db: Database, chainId: number, after: number): Promise<boolean> {
  const { from, to } = blockIdRange(chainId);
  const { rows } = await sql<{ has: boolean }>`
    select exists (
      select from log.fact where block_id >= ${from} and block_id < ${to} and position > ${after}) as has`.execute(
    db,
  );
  return rows[0]?.has === true;
}

/** The tables of accounts, keys and limits, and how many rows each has. */
export async function rowsOfAccess(db: Database): Promise<Map<string, bigint>> {
  const { rows: tables } = await sql<{ name: string }>`
    select relname as name from pg_class
    where relnamespace = 'access'::regnamespace and relkind = 'r' order by relname`.execute(db);
  const counts = new Map<string, bigint>();
  for (const { name } of tables) {
    const { rows } = await sql<{ count: bigint }>`
      select count(*) as count from ${sql.table(`access.${name}`)}`.execute(db);
    counts.set(name, rows[0]?.count ?? 0n);
  }
  return counts;
}
