import { sql } from "kysely";
import type { Session } from "../log/database.ts";
import type { FactWindow, Step } from "../engine/projection.ts";
import { deriveAllChanges } from "./changes.ts";
import { deriveAllFetched } from "./fetched-metadata.ts";
import { mayHaveUri } from "./pending-fetches.ts";
import { deriveAllPendingRanges } from "./pending-ranges.ts";

/** A single step: pending is what `ownership` holds in the snapshot without what was fetched. */
export const metadataSteps: readonly Step[] = [{ name: "metadata", derive: deriveMetadata }];

async function deriveMetadata(session: Session, schema: string, window: FactWindow): Promise<void> {
  await deriveAllFetched(session, schema, window);
  for (const table of ["token", "contract"]) {
    await sql`analyze ${sql.id(schema, table)}`.execute(session);
  }
  await deriveAllChanges(session, schema, window);
  await insertPending(session, schema);
  await deriveAllPendingRanges(session, schema);
}

/** From the owners only, without facts. A token id may be held in both standards at once. */
async function insertPending(session: Session, schema: string): Promise<void> {
  await sql`
    insert into ${sql.table(`${schema}.pending_token`)} (chain_id, contract_id, token_id)
    select k.chain_id, o.contract_id, o.token_id
    from ownership.token o join log.contract k using (contract_id)
    where ${mayHaveUri("o")} and not exists (
      select from ${sql.table(`${schema}.token`)} t
      where t.contract_id = o.contract_id and t.token_id = o.token_id
    ) and (o.standard = 721 or not exists (
      select from ownership.token same
      where same.contract_id = o.contract_id and same.token_id = o.token_id and same.standard = 721 and ${mayHaveUri("same")}
    ))`.execute(session);
  await sql`
    insert into ${sql.table(`${schema}.pending_contract`)} (chain_id, contract_id)
    select k.chain_id, o.contract_id
    from ownership.collection o join log.contract k using (contract_id)
    where not exists (
      select from ${sql.table(`${schema}.contract`)} c where c.contract_id = o.contract_id
    )`.execute(session);
}
