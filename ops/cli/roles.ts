import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { type Command, InvalidArgumentError } from "commander";
import { areViewsBound, bindViewsIfStale } from "#projections/analytics/bind-views.ts";
import { type Granted, grantRole, revokeRole } from "#projections/analytics/roles.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import type { Database } from "#projections/log/database.ts";
import type { Config } from "../config/config.ts";
import { ConfigurationError } from "../config/read-config.ts";
import {
  addressesOf,
  areSeparate,
  configuredRoles,
  type DatabaseRoles,
  readDatabaseRoles,
} from "../postgres/database-roles.ts";
import { applyRights, rightsScript } from "../postgres/rights.ts";
import { withDatabase } from "./open-database.ts";
import { type JsonFlag, print } from "./output.ts";

/** `op roles grant`, `op roles sql` */
export function addRoles(program: Command): void {
  const roles = program.command("roles").description("database users of the processes");
  roles
    .command("grant")
    .description("give each process's database user the rights that it needs, and take others")
    .action(grantRoles);
  roles
    .command("sql")
    .description("print what `op roles grant` runs, for an administrator")
    .action(printScript);
}

async function grantRoles({ json }: JsonFlag): Promise<void> {
  await withDatabase(
    "roles grant",
    async ({ db, config }) => {
      const roles = await chooseRoles(db, config);
      const remaining = await applyRights(db, roles);
      print(json, { roles, remaining }, [
        ...Object.entries(roles).map(([process, role]) => `${process}: ${role}`),
        ...remaining.map(({ role, finding }) => `${role} ${finding}`),
      ]);
      if (remaining.length === 0) return;
      process.stderr.write("this database's user may not correct all; an administrator must\n");
      process.exitCode = 1;
    },
    { as: "admin" },
  );
}

async function printScript({ json }: JsonFlag): Promise<void> {
  await withDatabase("roles sql", async ({ db, config }) => {
    const script = rightsScript(await chooseRoles(db, config)).trimEnd();
    print(json, { script }, [script]);
  });
}

async function chooseRoles(db: Database, { database }: Config): Promise<DatabaseRoles> {
  const { url } = database;
  const configured = url === null ? null : configuredRoles(addressesOf({ ...database, url }));
  if (configured !== null && areSeparate(configured)) return configured;
  const stored = await readDatabaseRoles(db);
  if (stored !== null) return stored;
  throw new ConfigurationError([
    "DATABASE_URL_API: expected a postgres:// URL of a user of its own, or another of DATABASE_URL_INDEXER, " +
      "DATABASE_URL_PROJECTOR and DATABASE_URL_JOBS. Example: DATABASE_URL_API=postgres://api:password@localhost:5432/orders",
  ]);
}

type GrantOptions = JsonFlag & { passwordFile?: string; timeout: number };

/** `op analysts grant` and `op analysts revoke` */
export function addAnalysts(program: Command): void {
  const analysts = program
    .command("analysts")
    .description("database roles that read the analytics views");
  analysts
    .command("grant")
    .description(
      "give a role read access to the views; it is created if it does not exist, with a password that is shown once",
    )
    .argument("<role>", "lower-case letters, digits and _", parseRole)
    .option("--password-file <path>", "file with the password that the role gets", parsePassword)
    .option("--timeout <seconds>", "what a transaction of the role may last", parseTimeout, 60)
    .action(grantAnalyst);
  analysts
    .command("revoke")
    .description("remove the access of a role; the role is kept")
    .argument("<role>", "name of the role", parseRole)
    .action(revoke);
}

function parseRole(text: string): string {
  if (/^[a-z_][a-z0-9_]{0,62}$/.test(text) && !/^(pg_|public$|none$)/.test(text)) return text;
  throw new InvalidArgumentError(
    "expected at most 63 lower-case letters, digits and _, not starting with pg_",
  );
}

/** Clients normalize other characters differently. */
function parsePassword(path: string): string {
  const password = readPassword(path);
  if (/^[\x21-\x7e]{8,200}$/.test(password)) return password;
  throw new InvalidArgumentError(
    "expected a file with 8 to 200 printable ASCII characters without spaces",
  );
}

function readPassword(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    throw new InvalidArgumentError("the file cannot be read");
  }
}

function parseTimeout(text: string): number {
  const seconds = Number(text);
  if (/^\d{1,5}$/.test(text) && seconds >= 1 && seconds <= 86_400) return seconds;
  throw new InvalidArgumentError("expected 1 to 86400");
}

async function grantAnalyst(
  name: string,
  { passwordFile, timeout, json }: GrantOptions,
): Promise<void> {
  const areBound = await withDatabase(
    "analysts grant",
    async ({ db }) => {
      await db.transaction().execute(bindViewsIfStale);
      return await areViewsBound(db);
    },
    { as: "projector" },
  );
  if (!areBound) {
    process.stderr.write("some tables are missing: start the projector of this version first\n");
    process.exitCode = 1;
    return;
  }
  await withDatabase(
    "analysts grant",
    async ({ db, url }) => {
      const password = passwordFile ?? null;
      const firstPassword = randomBytes(18).toString("base64url");
      const role = { name, password, firstPassword, timeoutSeconds: timeout };
      const granted = await grantRole(db, role);
      if (isRejection(granted)) {
        const { message, statements } = granted;
        const advice = statements.length === 0 ? [] : ["; an administrator must run:"];
        print(
          json,
          granted,
          statements.map((one) => `${one};`),
        );
        process.stderr.write(`${message}${advice.join("")}\n`);
        process.exitCode = 1;
        return;
      }
      const shown = password ?? (granted.wasMade ? firstPassword : null);
      printGranted(json, granted, { name, password: shown, url });
    },
    { as: "admin" },
  );
}

type Login = { name: string; password: string | null; url: string };

function printGranted(json: boolean | undefined, granted: Granted, login: Login): void {
  const { name, password } = login;
  const { wasMade, alsoSees, stillMay } = granted;
  const url = addressFor(login);
  print(json, { role: name, ...granted, url }, [
    `${name} ${wasMade ? "is created and " : ""}can read the analytics views`,
    ...(alsoSees.length === 0
      ? []
      : [`it also has access to ${alsoSees.join(", ")}, granted elsewhere`]),
    ...stillMay.map((power) => `it may still ${power}`),
    ...(password === null ? ["its password is as before; --password-file sets another"] : []),
    `psql '${url}'`,
  ]);
}

/** Complete where the password is known: the line works as it is. */
function addressFor({ name, password, url }: Login): string {
  const { host, pathname } = new URL(url);
  const login = password === null ? name : `${name}:${encodeURIComponent(password)}`;
  // A quote would end the text that a shell is given.
  return `postgresql://${login.replaceAll("'", "%27")}@${host}${pathname}`;
}

async function revoke(name: string, { json }: JsonFlag): Promise<void> {
  await withDatabase(
    "analysts revoke",
    async ({ db }) => {
      const hasChanged = await revokeRole(db, name);
      print(json, { role: name, hasChanged }, [
        `${name} ${hasChanged ? "can no longer read the views" : "could not read the views"}`,
      ]);
    },
    { as: "admin" },
  );
}
