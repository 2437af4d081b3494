import { sql } from "kysely";
import { withKinds } from "../engine/fact-window.ts";
import type { Projection } from "../engine/projection.ts";
import { kindList } from "../log/fact-kinds.ts";
import { sendAhead } from "../log/pipelined.ts";
import { versions } from "../log/versions.ts";
import { applyChanges } from "./changes.ts";
import { metadataSteps } from "./derive-all.ts";
import { applyFetched } from "./fetched-metadata.ts";
import { derivePending } from "./pending-fetches.ts";
import { derivePendingRanges } from "./pending-ranges.ts";
import { tables } from "./tables.ts";

/** Metadata of tokens and contracts as last fetched, and what is to be fetched. */
export const metadataProjection: Projection = {
  name: "metadata",
  version: versions.metadata.version,
  handles: [
    "erc721_transfer",
    "erc721_consecutive_transfer",
    "erc1155_transfer",
    "token_metadata_fetched",
    "contract_metadata_fetched",
    "metadata_confirmed",
    "metadata_changed",
  ],
  reads: ["ownership"],
  sample: {
    key: ["contract_id", "token_id"],
    where: sql`kind in ${kindList("token_metadata_fetched", "metadata_confirmed")}`,
    tables: ["token"],
  },
  tables,
  async apply(session, schema, window) {
    const withTheirKinds = await withKinds(session, window);
    await sendAhead(session, async (ahead) => {
      await applyFetched(ahead, schema, withTheirKinds);
      await applyChanges(ahead, schema, withTheirKinds);
      await derivePending(ahead, schema, window);
    });
    await derivePendingRanges(session, schema, window);
  },
  deriveAll: metadataSteps,
};
