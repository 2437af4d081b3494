import { sql } from "kysely";
import type { Session } from "../log/database.ts";
import type { Relation } from "../engine/projection.ts";
import { openScratchTable } from "../engine/scratch.ts";

/** The tokens whose listings a window changed, by the schema of the listings, in a table of the session. */
export const changedToken = sql`pg_temp.changed_listing_token`;

/** Makes the table. */
export async function openChangedTokens(session: Session): Promise<void> {
  const columns = "schema text, contract_id integer, token_id numeric(78,0)";
  await openScratchTable(session, "changed_listing_token", columns);
}

/** The rows that are stored there for one schema. */
export const changedTokensOf = (schema: string): Relation =>
  sql`(select contract_id, token_id from ${changedToken} where schema = ${schema})`;
