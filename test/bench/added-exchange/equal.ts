import type { Database } from "#projections/log/database.ts";
import { schemaOf } from "#projections/log/versions.ts";
import { differenceOf, type Layout, type Place, readLayout } from "#test/simulation/contents.ts";
import { projections } from "../server.ts";

/** Columns of a fact that say when and in which order it came, not what it is. */
const ofArrival = ["position", "recorded_at"];

/** Throws unless two installations hold the same facts and the same rows of every projection. */
export async function expectEqual(one: Database, other: Database): Promise<void> {
  const differences: string[] = [];
  const compare = async (schema: string, shape: (layout: Layout) => Layout) => {
    const place = async (db: Database): Promise<Place> => {
      const layout = shape(await readLayout(db, schema));
      if (layout.size === 0) throw new Error(`${schema} has no tables`);
      return { db, schema, layout };
    };
    const difference = await differenceOf(await place(one), await place(other));
    if (difference !== null) differences.push(`${schema}:\n${difference}`);
  };
  await compare("log", (layout) => {
    const columns = layout.get("fact") ?? [];
    return new Map([["fact", columns.filter((column) => !ofArrival.includes(column))]]);
  });
  for (const { name } of projections) await compare(schemaOf(name), (layout) => layout);
  if (differences.length > 0) throw new Error(`not the same:\n${differences.join("\n")}`);
}
