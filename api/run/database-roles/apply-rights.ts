import { createHash } from "node:crypto";
import { sql } from "kysely";
import type { Database, Session } from "#projections/log/database.ts";
import type { DatabaseRoles } from "./database-roles.ts";
import { findWrongRights, type WrongRight } from "./find-wrong-rights.ts";
import { rightsScript, rightsStatements } from "./rights-script.ts";

const LOCK_TIMEOUT_MS = 10_000;

/**
 * Gives each role its rights and takes others from it, unless that was done and nothing differs since. Returns what the
 * session's role could not correct.
 */
export async function applyRights(db: Database, roles: DatabaseRoles): Promise<WrongRight[]> {
  const digest = createHash("sha256").update(rightsScript(roles)).digest("hex");
  const isApplied = (await readDigest(db)) === digest;
  if (isApplied && (await findWrongRights(db, roles)).length === 0) return [];
  // Rights on an object are its owner's to give: owners come first, and stay where the rest is an administrator's.
  await inTransaction(db, rightsStatements(roles, "owners"));
  await inTransaction(db, [
    ...rightsStatements(roles, "all"),
    `comment on table ops.service_role is '${digest}'`,
  ]).catch((error: Error & { code?: string }) => {
    if (error.code !== "42501") throw error;
  });
  return await findWrongRights(db, roles);
}

/** Of the script that was applied last. */
async function readDigest(session: Session): Promise<string | null> {
  const { rows } = await sql<{ digest: string | null }>`
    select obj_description('ops.service_role'::regclass) as digest`.execute(session);
  return rows[0]?.digest ?? null;
}

/** Two that grant at once would fail. */
async function inTransaction(db: Database, statements: readonly string[]): Promise<void> {
  await db.transaction().execute(async (session) => {
    await sql.raw(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`).execute(session);
    await sql`lock table ops.service_role in share row exclusive mode`.execute(session);
    for (const one of statements) await sql.raw(one).execute(session);
  });
}
