import { createHash } from "node:crypto";
import {
  PostgresQueryCompiler,
  type RawBuilder,
  type RawNode,
  type SchemableIdentifierNode,
  sql,
} from "kysely";

/** What a projection's name in SQL stands for. */
type Versioned = {
  /** Raised when derived rows or tables would differ: the new version is derived into a schema of its own. */
  readonly version: number;
  /** The version in the schema that is named like the projection: the first one. Never changed. */
  readonly first: number;
  /** Versions of the projections that it reads. Where one of them is raised, raise this one too: its rows are of those. */
  readonly reads?: Readonly<Record<string, number>>;
};

const definitions = {
  sales: { version: 16, first: 12 },
  ownership: { version: 4, first: 3 },
  activity: { version: 6, first: 4 },
  metadata: { version: 7, first: 3, reads: { ownership: 4 } },
  collections: { version: 8, first: 6 },
  coin_prices: { version: 1, first: 1 },
  listings: { version: 11, first: 7, reads: { ownership: 4 } },
  bids: { version: 10, first: 4, reads: { ownership: 4 } },
  floors: { version: 2, first: 2 },
  collection_stats: {
    version: 19,
    first: 6,
    reads: {
      ...{ ownership: 4, collections: 8, coin_prices: 1, sales: 16 },
      ...{ listings: 11, bids: 10, floors: 2 },
    },
  },
  traits: { version: 13, first: 6, reads: { metadata: 7, ownership: 4, listings: 11 } },
  cross_listings: { version: 1, first: 1 },
} satisfies Record<string, Versioned>;

type ProjectionName = keyof typeof definitions;

/** Of every projection of this release. */
export const versions: Readonly<Record<ProjectionName, Versioned>> = definitions;

const schemas = new Map(
  Object.entries(versions).map(([name, { version, first }]) => [
    name,
    version === first ? name : `${name}_v${version}`,
  ]),
);

/** The same for releases with the same versions. */
export const releaseId = createHash("sha256")
  .update([...schemas.values()].join())
  .digest("hex")
  .slice(0, 8);

/** The role of the process that projects for a release, in `ops.projecting_lease`. */
export const projectingRole = (release: string): string => `projections ${release}`;

/** The schema of this release's tables of a projection, which also names their checkpoint. */
export const schemaOf = (name: string): string => schemas.get(name) ?? name;

/** The projection that has its tables in a schema of this release; otherwise the schema's own name. */
export const projectionIn = (schema: string): string =>
  [...schemas].find(([, one]) => one === schema)?.[0] ?? schema;

/** Whether a schema is that of a projection's tables in this release. */
export const isServed = (schema: string): boolean => [...schemas.values()].includes(schema);

/** Whether a schema is, or may have been, that of a projection's tables in some release. */
export const isVersionOf = (schema: string, name: string): boolean =>
  schema === name ||
  (schema.startsWith(`${name}_v`) && /^\d+$/.test(schema.slice(name.length + 2)));

/** The same as `schemaOf`, of a name that SQL has read. */
export const schemaNameOf = (name: RawBuilder<unknown>): RawBuilder<string> =>
  sql<string>`coalesce(${JSON.stringify(Object.fromEntries(schemas))}::jsonb ->> ${name}, ${name})`;

/** A table of a projection as SQL names it: no alias in SQL is named like a projection. */
const renamed = [...schemas].flatMap(([name, schema]) => (schema === name ? [] : [name]));
const pattern =
  renamed.length === 0 ? null : new RegExp(`(?<![\\w.])(?:${renamed.join("|")})(?=\\.[a-z_])`, "g");

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
    const { schema } = node;
    super.visitSchemableIdentifier(
      schema === undefined ? node : { ...node, schema: { ...schema, name: schemaOf(schema.name) } },
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
