import { sql } from "kysely";
import type { Projection } from "#projections/engine/projection.ts";
import { kindList } from "#projections/log/fact-kinds.ts";
import { tables } from "./tables.ts";

const transferKinds = ["erc721_transfer", "erc1155_transfer"] as const;

/** The number of NFT transfers of each contract. */
export const transferCountsProjection: Projection = {
  name: "transfer_counts",
  version: 1,
  handles: transferKinds,
  tables,
  async apply(session, schema, window) {
    const contract = sql.table(`${schema}.contract`);
    await sql`
      insert into ${contract} as c (contract_id, transfers)
      select contract_id, sum(weight) from ${window.changes}
      where kind in ${kindList(...transferKinds)} group by contract_id
      on conflict (contract_id) do update set transfers = c.transfers + excluded.transfers`.execute(
      session,
    );
    await sql`delete from ${contract} where transfers = 0`.execute(session);
  },
};
