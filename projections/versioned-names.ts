import { PostgresQueryCompiler, type RawNode, type SchemableIdentifierNode } from "kysely";
import { schemaOf, versions } from "./versions.ts";

/** A table of a projection as SQL names it, for those whose schema has another name in this release. */
const renamed = Object.entries(versions)
  .filter(([name]) => schemaOf(name) !== name)
  .map(([name, { tables }]) => `${name}(?=\\.(?:${tables.join("|")})\\b)`);
const pattern =
  renamed.length === 0 ? null : new RegExp(`(?<![\\w.])(?:${renamed.join("|")})`, "g");

/** The texts of a statement in the source are the same array each time. */
const known = new WeakMap<readonly string[], readonly string[]>();

/** SQL for a connection that does not compile statements, with the schemas of this release's versions. */
export const inVersions = (text: string): string =>
  pattern === null ? text : text.replace(pattern, schemaOf);

/**
 * SQL names a table of a projection as `listings.listing`; this puts the schema of this release's version there: in texts of
 * the source and in `sql.table`, not in values and `sql.id`.
 */
export class VersionedNames extends PostgresQueryCompiler {
  protected override visitRaw(node: RawNode): void {
    super.visitRaw(pattern === null ? node : { ...node, sqlFragments: versioned(node) });
  }

  protected override visitSchemableIdentifier(node: SchemableIdentifierNode): void {
    const { schema, identifier } = node;
    const name = schema && inVersions(`${schema.name}.${identifier.name}`).split(".")[0];
    super.visitSchemableIdentifier(
      schema === undefined || name === undefined || name === schema.name
        ? node
        : { ...node, schema: { ...schema, name } },
    );
  }
}

function versioned({ sqlFragments }: RawNode): readonly string[] {
  const before = known.get(sqlFragments);
  if (before !== undefined) return before;
  if (!sqlFragments.some((text) => text.includes("."))) return sqlFragments;
  const texts = sqlFragments.map(inVersions);
  known.set(sqlFragments, texts);
  return texts;
}
