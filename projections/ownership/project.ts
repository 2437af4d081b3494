import { sql } from "kysely";
import type { Session } from "../log/database.ts";
import type { FactWindow, Projection } from "../engine/projection.ts";
import { kindList } from "../log/fact-kinds.ts";
import { sendAhead } from "../log/pipelined.ts";
import { versions } from "../log/versions.ts";
import { applyErc721 } from "./apply-erc721.ts";
import { applyErc1155 } from "./apply-erc1155.ts";
import { applyRanges } from "./apply-ranges.ts";
import { applyRangesToTokens, applyTokenRanges } from "./apply-token-ranges.ts";
import { openCounterDeltas, storeCollections, storeHolders } from "./counters.ts";
import { ownershipSteps } from "./derive-all.ts";
import { applyStandards } from "./one-standard.ts";
import { ownershipTables } from "./table.ts";

/** Who owns what: ERC-721 owners, ERC-1155 balances, supplies, holders. */
export const ownershipProjection: Projection = {
  name: "ownership",
  version: versions.ownership.version,
  handles: ["erc721_transfer", "erc721_consecutive_transfer", "erc1155_transfer"],
  sample: {
    key: ["contract_id", "token_id"],
    // A token of a contract with ranges depends on facts that do not name it.
    where: sql`f.kind in ${kindList("erc721_transfer", "erc1155_transfer")} and not exists (
      select from log.fact ranged
      where ranged.kind in ${kindList("erc721_consecutive_transfer")} and ranged.contract_id = f.contract_id
    )`,
    tables: ["token", "balance"],
  },
  tables: ownershipTables,
  apply: applyTransfers,
  deriveAll: ownershipSteps,
};

async function applyTransfers(session: Session, schema: string, window: FactWindow): Promise<void> {
  const ranges = await applyRanges(session, schema, window);
  await sendAhead(session, async (ahead) => {
    await openCounterDeltas(ahead);
    await applyErc1155(ahead, schema, window);
    await applyErc721(ahead, schema, window);
    await applyRangesToTokens(ahead, schema, window, ranges);
    await applyStandards(ahead, schema, window);
  });
  await applyTokenRanges(session, schema, ranges);
  await sendAhead(session, async (ahead) => {
    await storeHolders(ahead, schema);
    await storeCollections(ahead, schema);
  });
}
