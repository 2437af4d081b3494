import { sql } from "kysely";
import type { Session } from "../log/database.ts";
import type { Relation } from "./projection.ts";

/** Does work on a relation of facts without some of them: a view of the session, or the relation itself for none. */
export async function withoutFacts(
  session: Session,
  excluded: readonly bigint[],
  facts: Relation,
  work: (included: Relation) => Promise<void>,
  view = "included_fact",
): Promise<void> {
  if (excluded.length === 0) return await work(facts);
  const included = sql.id("pg_temp", view);
  await sql`
    create temporary view ${sql.id(view)} as
    select * from ${facts} where position <> all (${sql.lit(`{${excluded.join()}}`)}::bigint[])`.execute(
    session,
  );
  await work(included);
  await sql`drop view ${included}`.execute(session);
}
