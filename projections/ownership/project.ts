import { sql } from "kysely";
import type { Session } from "../database.ts";
import type { FactWindow, Projection } from "../engine/projection.ts";
import { kindList } from "../log/fact-kind-sql.ts";
import { applyErc721 } from "./apply-erc721.ts";
import { applyErc1155 } from "./apply-erc1155.ts";
import { openCounterDeltas, storeCollections, storeHolders } from "./counters.ts";
import { ownershipSteps } from "./derive-all.ts";
import { ownershipTables } from "./table.ts";

/** Who owns what: ERC-721 owners, ERC-1155 balances, supplies, holders. */
export const ownershipProjection: Projection = {
  name: "ownership",
  version: 2,
  handles: ["erc721_transfer", "erc721_consecutive_transfer", "erc1155_transfer"],
  sample: {
    key: ["contract_id", "token_id"],
    where: sql`kind in ${kindList("erc721_transfer", "erc1155_transfer")}`,
    tables: ["token", "balance"],
  },
  tables: ownershipTables,
  apply: applyTransfers,
  deriveAll: ownershipSteps,
};

async function applyTransfers(session: Session, schema: string, window: FactWindow): Promise<void> {
  await openCounterDeltas(session);
  await applyErc721(session, schema, window);
  await applyErc1155(session, schema, window);
  await storeHolders(session, schema);
  await storeCollections(session, schema);
}
