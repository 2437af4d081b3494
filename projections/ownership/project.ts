import type { Session } from "../database.ts";
import type { Projection } from "../engine/projection.ts";
import { openChanges, storeCollections, storeHolders } from "./counters.ts";
import { applyErc721 } from "./erc721.ts";
import { applyErc1155 } from "./erc1155.ts";
import { ownershipTables } from "./table.ts";

/** Who owns what: ERC-721 owners, ERC-1155 balances, supplies, holders. */
export const ownershipProjection: Projection = {
  name: "ownership",
  version: 1,
  tables: ownershipTables,
  apply: async (session: Session, schema, { upTo }) => {
    await openChanges(session);
    await applyErc721(session, schema, upTo);
    await applyErc1155(session, schema);
    await storeHolders(session, schema);
    await storeCollections(session, schema);
  },
};
