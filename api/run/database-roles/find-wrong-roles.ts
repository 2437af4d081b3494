import { sql } from "kysely";
import type { Session } from "../../../projections/database.ts";
import { type DatabaseRoles, processRoles } from "./database-roles.ts";
import {
  type RoleFacts,
  readAnalystRoles,
  readDefaults,
  readFunctionRights,
  readRoleFacts,
} from "./read-rights.ts";
import { ownerFunctions } from "./rights.ts";
import { type DefaultRight, wantedDefaults, wantedOf } from "./wanted-rights.ts";

/** A right that a role lacks or has too many. */
export type WrongRight = {
  role: string;
  finding: string;
  /** What corrects it; none where an administrator has to decide. */
  statements: string[];
  /** Rights of a role that does not exist cannot be read, and a superuser has all. */
  hidesRights?: boolean;
};

/** The roles themselves: whether they exist, what they may do by attributes and memberships, and on the database. */
export async function findWrongRoles(
  session: Session,
  roles: DatabaseRoles,
): Promise<WrongRight[]> {
  const names = processRoles(roles);
  const all = [roles.owner, ...names];
  const analysts = await readAnalystRoles(session);
  const facts = await readRoleFacts(session, all, [...all, ...analysts]);
  const database = await readDatabaseName(session);
  const missing = facts.filter(({ exists }) => !exists);
  if (missing.length > 0) {
    return missing.map(({ role }) => ({
      role,
      finding: "does not exist",
      statements: [],
      hidesRights: true,
    }));
  }
  return facts.flatMap((one) => [
    ...(one.role === roles.owner
      ? wrongMemberships(one.role, one.memberOf, names)
      : wrongProcessRole(one, all)),
    ...(one.role === roles.jobs ? wrongMemberships(one.role, one.memberOf, analysts) : []),
    ...(one.role === roles.owner ? [] : wrongOnDatabase(one, roles, database)),
  ]);
}

async function readDatabaseName(session: Session): Promise<string> {
  const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(session);
  return rows[0]?.name ?? "";
}

function wrongMemberships(
  role: string,
  memberOf: readonly string[],
  wanted: readonly string[],
): WrongRight[] {
  return wanted
    .filter((one) => one !== role && !memberOf.includes(one))
    .map((one) => ({
      role,
      finding: `is not a member of ${one}`,
      statements: [`grant "${one}" to "${role}"`],
    }));
}

function wrongProcessRole({ role, isMighty, memberOf }: RoleFacts, all: readonly string[]) {
  const attributes = "nosuperuser nocreatedb nocreaterole noreplication nobypassrls";
  const found: WrongRight[] = isMighty
    ? [
        {
          role,
          finding: "is a superuser, or may create roles or databases, replicate or bypass security",
          statements: [`alter role "${role}" ${attributes}`],
          hidesRights: true,
        },
      ]
    : [];
  const others = isMighty ? [] : memberOf.filter((one) => all.includes(one));
  return [
    ...found,
    ...others.map((one) => ({
      role,
      finding: `is a member of ${one}`,
      statements: [`revoke "${one}" from "${role}"`],
    })),
  ];
}

function wrongOnDatabase(
  { role, isMighty, onDatabase }: RoleFacts,
  roles: DatabaseRoles,
  database: string,
): WrongRight[] {
  const wanted = wantedOf(roles, role, "database");
  const found = wanted
    .filter((one) => !onDatabase.includes(one))
    .map((one) => ({
      role,
      finding: `may not use ${one} on the database`,
      statements: [`grant ${one} on database "${database}" to "${role}"`],
    }));
  const extra = isMighty ? [] : onDatabase.filter((one) => !wanted.includes(one));
  return [
    ...found,
    ...extra.map((one) => ({
      role,
      finding: `may use ${one} on the database`,
      statements: [
        // What everybody has is taken from everybody, and given to those who need it.
        ...processRoles(roles)
          .filter((other) => wantedOf(roles, other, "database").includes(one))
          .map((other) => `grant ${one} on database "${database}" to "${other}"`),
        `revoke ${one} on database "${database}" from "${role}", public`,
      ],
    })),
  ];
}

/** Functions that write the log, and those of PostgreSQL that the analysts' sake may have taken from the public. */
export async function findWrongFunctions(
  session: Session,
  roles: DatabaseRoles,
): Promise<WrongRight[]> {
  const names = processRoles(roles);
  const system = [
    ...new Set([
      ...ownerFunctions,
      ...names.flatMap((role) => wantedOf(roles, role, "systemFunctions")),
    ]),
  ];
  const has = await readFunctionRights(session, [roles.owner, ...names], system);
  const signatures = new Map(has.map(({ name, signature }) => [name, signature]));
  const missing = (role: string, wanted: readonly string[]) =>
    wanted
      .filter((name) => !has.some((one) => one.role === role && one.name === name))
      .map((name): WrongRight => {
        const signature = signatures.get(name) ?? `pg_catalog.${name}`;
        return {
          role,
          finding: `may not call ${signature}`,
          statements: [`grant execute on function ${signature} to "${role}"`],
        };
      });
  const extra = has
    .filter(({ role, name }) => role !== roles.owner && !system.includes(name))
    .filter(({ role, name }) => !wantedOf(roles, role, "functions").includes(name))
    .map(({ role, signature }) => ({
      role,
      finding: `may call ${signature}`,
      statements: [`revoke execute on function ${signature} from "${role}", public`],
    }));
  return [
    ...missing(roles.owner, ownerFunctions),
    ...names.flatMap((role) => [
      ...missing(role, wantedOf(roles, role, "functions")),
      ...missing(role, wantedOf(roles, role, "systemFunctions")),
    ]),
    ...extra,
  ];
}

/** Rights on what is created later. */
export async function findWrongDefaults(
  session: Session,
  roles: DatabaseRoles,
): Promise<WrongRight[]> {
  const has = (await readDefaults(session)).map(keyOf);
  return wantedDefaults(roles)
    .filter((one) => !has.includes(keyOf(one)))
    .map(({ creator, grantee, privilege, objects, schema }) => ({
      role: grantee,
      finding: `may not ${privilege.toLowerCase()} what ${creator} will create`,
      statements: [
        `alter default privileges for role "${creator}"${schema === null ? "" : ` in schema "${schema}"`} ` +
          `grant ${privilege} on ${objects === "n" ? "schemas" : "tables"} to "${grantee}"`,
      ],
    }));
}

const keyOf = ({ creator, grantee, privilege, objects, schema }: DefaultRight): string =>
  [creator, grantee, privilege, objects, schema ?? ""].join(" ");
