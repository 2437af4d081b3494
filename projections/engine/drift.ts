import { sql } from "kysely";
import type { Database, Session } from "../log/database.ts";
import { schemaOf } from "../log/versions.ts";
import { createTarget, dropTarget } from "./checkpoint.ts";
import type { Projection } from "./projection.ts";

class RolledBack extends Error {}

/** For people: how a projection's tables differ from those that this version creates, in columns, types, keys and indexes. */
export async function findDrift(db: Database, projection: Projection): Promise<string[]> {
  const scratch = `${schemaOf(projection.name)}_drift`;
  const differences: string[] = [];
  const compare = async (session: Session): Promise<never> => {
    await dropTarget(session, scratch);
    await createTarget(session, { projection, schema: scratch });
    const [made, stored] = [
      await describe(session, scratch),
      await describe(session, schemaOf(projection.name)),
    ];
    differences.push(
      ...made.filter((one) => !stored.includes(one)).map((one) => `lacks ${one}`),
      ...stored.filter((one) => !made.includes(one)).map((one) => `has ${one} too many`),
    );
    throw new RolledBack();
  };
  await db
    .transaction()
    .execute(compare)
    .catch((error: unknown) => {
      if (!(error instanceof RolledBack)) throw error;
    });
  return differences;
}

async function describe(session: Session, schema: string): Promise<string[]> {
  const { rows } = await sql<{ part: string }>`
    select format('%s.%s %s%s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
                  case when a.attnotnull then ' not null' else '' end) as part
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace = to_regnamespace(quote_ident(${schema})) and c.relkind = 'r'
      and a.attnum > 0 and not a.attisdropped
    union all
    select format('index on %s%s', t.relname, substring(pg_get_indexdef(i.indexrelid) from ' USING .*'))
    from pg_index i join pg_class t on t.oid = i.indrelid
    where t.relnamespace = to_regnamespace(quote_ident(${schema}))
    order by 1`.execute(session);
  return rows.map(({ part }) => part);
}
