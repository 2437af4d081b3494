import { type DatabaseRoles, processesOf } from "./database-roles.ts";
import { classOf, type Privilege, rightsOf } from "./rights.ts";

export type TableName = { schema: string; name: string };

/** What a role is to be granted on a table that it does not own. */
export function wantedOnTable(
  roles: DatabaseRoles,
  role: string,
  { schema, name }: TableName,
  projections: readonly string[],
): Privilege[] {
  const rights = classOf(schema, projections)?.rights ?? "";
  const wanted = processesOf(roles, role).flatMap((process) => {
    const { tables } = rightsOf[process];
    return tables[`${schema}.${name}`] ?? tables[rights] ?? [];
  });
  return [...new Set(wanted)];
}

/** What a role is to be granted on a schema that it does not own. */
export function wantedOnSchema(
  roles: DatabaseRoles,
  role: string,
  schema: string,
  projections: readonly string[],
): ("USAGE" | "CREATE")[] {
  const rights = classOf(schema, projections)?.rights ?? "";
  const processes = processesOf(roles, role).map((process) => rightsOf[process]);
  const uses = processes.some(({ tables }) =>
    Object.keys(tables).some((key) => key === rights || key.startsWith(`${schema}.`)),
  );
  const creates = processes.some((one) => one.creates.includes(schema));
  return [...(uses ? (["USAGE"] as const) : []), ...(creates ? (["CREATE"] as const) : [])];
}

type ListOf = "functions" | "systemFunctions" | "database";

/** What all processes of a role need of one kind. */
export const wantedOf = (roles: DatabaseRoles, role: string, list: ListOf): string[] => [
  ...new Set(processesOf(roles, role).flatMap((process): string[] => rightsOf[process][list])),
];

/** A right on what a role will create: tables, schemas or, in one schema, locks. */
export type DefaultRight = {
  creator: string;
  grantee: string;
  privilege: "USAGE" | "SELECT" | "UPDATE";
  /** As `pg_default_acl` has it: relations or schemas. */
  objects: "r" | "n";
  schema: string | null;
};

/** Rights on what is created while the service runs: new tables of Ponder, rebuilt projections, new locks. */
export function wantedDefaults(roles: DatabaseRoles): DefaultRight[] {
  const readBy = (creator: string, grantees: readonly string[]) =>
    grantees.flatMap((grantee): DefaultRight[] => [
      { creator, grantee, privilege: "USAGE", objects: "n", schema: null },
      { creator, grantee, privilege: "SELECT", objects: "r", schema: null },
    ]);
  const { owner, indexer, projector, jobs, api, console } = roles;
  // Whoever needs a lock first creates it.
  const lockers = [indexer, projector, jobs];
  const locks = [...new Set([owner, ...lockers])].flatMap((creator) =>
    lockers.map(
      (grantee): DefaultRight => ({
        creator,
        grantee,
        privilege: "UPDATE",
        objects: "r",
        schema: "locks",
      }),
    ),
  );
  const all = [
    ...readBy(indexer, [projector, jobs, api, console]),
    ...readBy(projector, [jobs, api, console]),
    ...locks,
  ];
  // Owners need no grant, and the owner is a member of all others.
  return all.filter(({ creator, grantee }) => grantee !== creator && grantee !== owner);
}
