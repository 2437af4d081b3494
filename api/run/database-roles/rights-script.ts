import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type DatabaseRoles, processNames } from "./database-roles.ts";

const script = readFileSync(join(import.meta.dirname, "roles.sql"), "utf8");
const userNames = new RegExp(
  ["'service_(owner|…)'", "\\bservice_(owner|…)\\b"]
    .join("|")
    .replaceAll("…", processNames.join("|")),
  "g",
);
/** Users and owners, which come before migrations; rights name tables, which come after them. */
const startOfRights = "-- 2. Rights";

/** `roles.sql` with the names of these roles. */
export function rightsScript(roles: DatabaseRoles): string {
  const odd = Object.values(roles).find((name) => !/^[\p{L}\p{N}_.@-]+$/u.test(name));
  if (odd !== undefined) throw new Error(`database user "${odd}": expected letters and digits`);
  return script.replace(
    userNames,
    (_, literal?: keyof DatabaseRoles, name?: keyof DatabaseRoles) =>
      literal === undefined ? `"${roles[name ?? "owner"]}"` : `'${roles[literal]}'`,
  );
}

/** Its statements, each of which a connection may prepare; `owners`: those that give tables to their owners alone. */
export function rightsStatements(roles: DatabaseRoles, part: "all" | "owners"): string[] {
  const script = rightsScript(roles);
  const text = part === "all" ? script : (script.split(startOfRights)[0] ?? "");
  // What is within a block is indented.
  return text
    .split(/;\n(?! |begin|exception|end )/)
    .filter((one) => one.replace(/--.*$/gm, "").trim() !== "");
}

export type GrantedRight = {
  role: string;
  privilege: string;
  /** What it is on. `tables` and `schemas`: what `creator` will create. */
  kind: string;
  name: string | null;
  creator: string | null;
};

const grantStatement =
  /(?:alter default privileges for role ([^;]+?)(?: in schema ([^;]+?))? )?grant ([a-z, ]+) on (?:(all tables in schema|schemas?|tables|function|database) )?((?:(?! to )[^;'])*?) ?to ([^;']+)[;']/g;

/** The rights that the script grants by name. */
export function grantedRights(roles: DatabaseRoles): GrantedRight[] {
  const text = rightsScript(roles).replace(/--.*$/gm, "").replace(/\s+/g, " ");
  return [...text.matchAll(grantStatement)].flatMap(
    ([, makers, within, privileges, kind = "table", objects = "", grantees]) => {
      const names =
        kind === "function" ? (objects.match(/[\w.]+\(.*?\)/g) ?? []) : listOf(within ?? objects);
      const places = names.length === 0 ? [null] : names;
      const creators = makers === undefined ? [null] : listOf(makers);
      return listOf(grantees).flatMap((role) =>
        listOf(privileges).flatMap((privilege) =>
          places.flatMap((name) =>
            creators.map((creator) => ({ role, privilege, kind, name, creator })),
          ),
        ),
      );
    },
  );
}

const listOf = (text = ""): string[] =>
  text.split(",").flatMap((one) => one.replaceAll('"', "").trim() || []);
