import { sql } from "kysely";
import type { Projection } from "../engine/projection.ts";
import { withKinds } from "../engine/window.ts";
import { kindList } from "../log/fact-kind-sql.ts";
import { metadataSteps } from "./derive-all.ts";
import { foldFetched } from "./fold.ts";
import { derivePending } from "./pending.ts";
import { tables } from "./table.ts";

/** What tokens and contracts say of themselves, as it was last fetched, and what is to be fetched. */
export const metadataProjection: Projection = {
  name: "metadata",
  version: 1,
  handles: [
    "erc721_transfer",
    "erc721_consecutive_transfer",
    "erc1155_transfer",
    "token_metadata_fetched",
    "contract_metadata_fetched",
    "metadata_confirmed",
  ],
  reads: ["ownership"],
  sample: {
    key: ["contract_id", "token_id"],
    where: sql`kind in ${kindList("token_metadata_fetched", "metadata_confirmed")}`,
    tables: ["token"],
  },
  tables,
  async apply(session, schema, window) {
    await foldFetched(session, schema, await withKinds(session, window));
    await derivePending(session, schema, window);
  },
  deriveAll: metadataSteps,
};
