import type { Session } from "../../../projections/database.ts";
import { type DatabaseRoles, processRoles } from "./database-roles.ts";
import {
  findWrongDefaults,
  findWrongFunctions,
  findWrongRoles,
  type WrongRight,
} from "./find-wrong-roles.ts";
import { readOwners, readSchemaRights, readTableRights, type TableRights } from "./read-rights.ts";
import { changing, classOf, type Privilege } from "./rights.ts";
import { wantedOnSchema, wantedOnTable } from "./wanted-rights.ts";

/** What differs from the least rights of each role, in the order in which the statements are to be run. */
export async function findWrongRights(
  session: Session,
  roles: DatabaseRoles,
  projections: readonly string[],
): Promise<WrongRight[]> {
  const wrongRoles = await findWrongRoles(session, roles);
  if (wrongRoles.some(({ hidesRights }) => hidesRights)) return wrongRoles;
  return [
    ...wrongRoles,
    ...(await findWrongOwners(session, roles, projections)),
    ...(await findWrongSchemas(session, roles, projections)),
    ...(await findWrongTables(session, roles, projections)),
    ...(await findWrongFunctions(session, roles)),
    ...(await findWrongDefaults(session, roles)),
  ];
}

export async function findWrongOwners(
  session: Session,
  roles: DatabaseRoles,
  projections: readonly string[],
): Promise<WrongRight[]> {
  const isService = (owner: string) => Object.values(roles).includes(owner);
  return (await readOwners(session)).flatMap(({ schema, kind, name, owner }) => {
    const ownerClass = classOf(schema, projections)?.owner;
    if (ownerClass === undefined || owner === roles[ownerClass]) return [];
    // A lock is its creator's.
    if (schema === "locks" && kind === "table" && isService(owner)) return [];
    const role = roles[ownerClass];
    return [
      {
        role,
        finding: `does not own ${kind} ${name}, which is ${owner}'s`,
        statements: [`alter ${kind} ${name} owner to "${role}"`],
      },
    ];
  });
}

async function findWrongSchemas(
  session: Session,
  roles: DatabaseRoles,
  projections: readonly string[],
): Promise<WrongRight[]> {
  const all = await readSchemaRights(session, processRoles(roles));
  return all.flatMap(({ schema, owner, role, has }) => {
    if (owner === role) return [];
    const wanted: string[] = wantedOnSchema(roles, role, schema, projections);
    const missing = wanted.filter((one) => !has.includes(one));
    const extra = has.includes("CREATE") && !wanted.includes("CREATE") ? ["CREATE"] : [];
    return wrong(role, `schema "${schema}"`, { missing, extra });
  });
}

async function findWrongTables(
  session: Session,
  roles: DatabaseRoles,
  projections: readonly string[],
): Promise<WrongRight[]> {
  const owners = await readOwners(session);
  const schemas = owners
    .filter(({ kind, schema }) => kind === "schema" && classOf(schema, projections) !== undefined)
    .map(({ schema }) => schema);
  const all = await readTableRights(session, processRoles(roles), schemas);
  return all.flatMap((table) => wrongOnTable(roles, table, projections));
}

function wrongOnTable(
  roles: DatabaseRoles,
  { schema, name, owner, role, has }: TableRights,
  projections: readonly string[],
): WrongRight[] {
  if (owner === role) return [];
  const wanted = wantedOnTable(roles, role, { schema, name }, projections);
  const guarded: Privilege[] = schema === "access" ? [...changing, "SELECT"] : changing;
  return wrong(role, `"${schema}"."${name}"`, {
    missing: wanted.filter((one) => !has.includes(one)),
    extra: has.filter((one) => guarded.includes(one) && !wanted.includes(one)),
  });
}

function wrong(
  role: string,
  subject: string,
  { missing, extra }: { missing: readonly string[]; extra: readonly string[] },
): WrongRight[] {
  const words = (list: readonly string[]) => list.join(", ").toLowerCase();
  const found: WrongRight[] = [];
  if (missing.length > 0) {
    found.push({
      role,
      finding: `may not ${words(missing)} on ${subject}`,
      statements: [`grant ${words(missing)} on ${subject} to "${role}"`],
    });
  }
  if (extra.length > 0) {
    found.push({
      role,
      finding: `may ${words(extra)} on ${subject}`,
      statements: [`revoke ${words(extra)} on ${subject} from "${role}", public`],
    });
  }
  return found;
}
