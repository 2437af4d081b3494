import { randomBytes } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sql } from "kysely";
import { z } from "zod";
import { scramVerifier } from "#projections/analytics/roles.ts";
import { type Database, openDatabase } from "#projections/log/database.ts";
import { type DatabaseRoles, forEachRole, processNames } from "./database-roles.ts";
import { rightsStatements } from "./rights.ts";

const embeddedRoles = forEachRole((process) => `service_${process}`);

const Passwords = z.record(z.enum(["owner", ...processNames]), z.string().min(1));
type Passwords = z.output<typeof Passwords>;

/** Creates the roles, each with a password of its own that `DATA_DIR` keeps. Returns the address of each. */
export async function createEmbeddedRoles(
  adminUrl: string,
  dataDir: string,
  roles = embeddedRoles,
): Promise<DatabaseRoles> {
  const passwords = keepPasswords(dataDir);
  const db = openDatabase({
    url: adminUrl,
    applicationName: "supervisor",
    max: 1,
    onIdleError: () => {},
  });
  try {
    for (const one of rightsStatements(roles, "owners")) await sql.raw(one).execute(db);
    await setPasswords(db, roles, passwords);
  } finally {
    await db.destroy();
  }
  return forEachRole((process) => {
    const url = new URL(adminUrl);
    url.username = roles[process];
    url.password = passwords[process];
    return url.href;
  });
}

/** The passwords that an earlier start made, or new ones. */
function keepPasswords(dataDir: string): Passwords {
  const file = join(dataDir, "postgres.roles.json");
  try {
    return Passwords.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    const passwords = forEachRole(() => randomBytes(24).toString("hex"));
    writeFileSync(`${file}.new`, JSON.stringify(passwords), { mode: 0o600 });
    renameSync(`${file}.new`, file);
    return passwords;
  }
}

async function setPasswords(
  db: Database,
  roles: DatabaseRoles,
  passwords: Passwords,
): Promise<void> {
  await db.transaction().execute(async (session) => {
    for (const process of ["owner", ...processNames] as const) {
      const password = scramVerifier(passwords[process]);
      await sql.raw(`alter role "${roles[process]}" login password '${password}'`).execute(session);
    }
    const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(
      session,
    );
    await sql`alter database ${sql.id(rows[0]?.name ?? "")} owner to ${sql.id(roles.owner)}`.execute(
      session,
    );
  });
}
