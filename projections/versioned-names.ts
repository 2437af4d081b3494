import { PostgresQueryCompiler, type RawNode } from "kysely";
import { schemaOf, versions } from "./versions.ts";

/** A table of a projection as SQL names it, for those whose schema has another name in this release. */
const renamed = Object.entries(versions)
  .filter(([name]) => schemaOf(name) !== name)
  .map(([name, { tables }]) => `${name}(?=\\.(?:${tables.join("|")})\\b)`);
const pattern =
  renamed.length === 0 ? null : new RegExp(`(?<![\\w.])(?:${renamed.join("|")})`, "g");

/** The texts of a statement in the source are the same array each time. */
const known = new WeakMap<readonly string[], readonly string[]>();

/**
 * SQL names a table of a projection as `listings.listing`; this puts the schema of this release's version there. Only
 * texts of the source are changed, no values and no names that are given as such (`sql.id`, `sql.table`).
 */
export class VersionedNames extends PostgresQueryCompiler {
  protected override visitRaw(node: RawNode): void {
    super.visitRaw(pattern === null ? node : { ...node, sqlFragments: versioned(node, pattern) });
  }
}

function versioned({ sqlFragments }: RawNode, names: RegExp): readonly string[] {
  const before = known.get(sqlFragments);
  if (before !== undefined) return before;
  if (!sqlFragments.some((text) => text.includes("."))) return sqlFragments;
  const texts = sqlFragments.map((text) => text.replace(names, schemaOf));
  known.set(sqlFragments, texts);
  return texts;
}
