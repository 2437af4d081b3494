import { randomBytes } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sql } from "kysely";
import { z } from "zod";
import { type Database, openDatabase } from "../../../projections/database.ts";
import { scramVerifier } from "../../../projections/reads/analytics/scram-verifier.ts";
import { applyOwners } from "./apply-rights.ts";
import { type DatabaseRoles, processNames } from "./database-roles.ts";

/** The roles of an embedded database. */
const embeddedRoles: DatabaseRoles = {
  owner: "service_owner",
  indexer: "service_indexer",
  projector: "service_projector",
  jobs: "service_jobs",
  api: "service_api",
  console: "service_console",
};

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
    await createRoles(db, roles, passwords);
    await applyOwners(db, roles);
  } finally {
    await db.destroy();
  }
  const addressOf = (process: keyof DatabaseRoles) => {
    const url = new URL(adminUrl);
    url.username = roles[process];
    url.password = passwords[process];
    return url.href;
  };
  return {
    owner: addressOf("owner"),
    indexer: addressOf("indexer"),
    projector: addressOf("projector"),
    jobs: addressOf("jobs"),
    api: addressOf("api"),
    console: addressOf("console"),
  };
}

/** The passwords that an earlier start made, or new ones. */
function keepPasswords(dataDir: string): Passwords {
  const file = join(dataDir, "postgres.roles.json");
  try {
    return Passwords.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    const made = () => randomBytes(24).toString("hex");
    const passwords = {
      owner: made(),
      indexer: made(),
      projector: made(),
      jobs: made(),
      api: made(),
      console: made(),
    };
    writeFileSync(`${file}.new`, JSON.stringify(passwords), { mode: 0o600 });
    renameSync(`${file}.new`, file);
    return passwords;
  }
}

async function createRoles(
  db: Database,
  roles: DatabaseRoles,
  passwords: Passwords,
): Promise<void> {
  const attributes = "login nosuperuser nocreatedb nocreaterole noreplication nobypassrls";
  await db.transaction().execute(async (session) => {
    for (const process of ["owner", ...processNames] as const) {
      const role = roles[process];
      const { rows } = await sql`select from pg_roles where rolname = ${role}`.execute(session);
      const verb = rows.length === 0 ? "create" : "alter";
      const password = scramVerifier(passwords[process]);
      await sql.raw(`${verb} role "${role}" ${attributes} password '${password}'`).execute(session);
      if (process !== "owner") {
        await sql`grant ${sql.id(role)} to ${sql.id(roles.owner)}`.execute(session);
      }
    }
    const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(
      session,
    );
    await sql`alter database ${sql.id(rows[0]?.name ?? "")} owner to ${sql.id(roles.owner)}`.execute(
      session,
    );
    // What `op doctor` and the console say of transactions and statements of others.
    const readers = sql.join([roles.owner, roles.console].map((role) => sql.id(role)));
    await sql`grant pg_read_all_stats to ${readers}`.execute(session);
    for (const process of ["indexer", "projector"] as const) {
      await sql`
        grant create on database ${sql.id(rows[0]?.name ?? "")} to ${sql.id(roles[process])}`.execute(
        session,
      );
    }
  });
}
