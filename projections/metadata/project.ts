import type { Projection } from "../engine/projection.ts";
import { readKinds } from "../engine/window.ts";
import { metadataSteps } from "./derive-all.ts";
import { foldFetched } from "./fold.ts";
import { derivePending } from "./pending.ts";
import { tables } from "./table.ts";

/** What tokens and contracts say of themselves, as it was last fetched, and what is to be fetched. */
export const metadataProjection: Projection = {
  name: "metadata",
  version: 1,
  folds: [
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
    where: "kind in (92, 94)",
    tables: ["token"],
  },
  tables,
  async apply(session, schema, _window, known) {
    const kinds = known ?? (await readKinds(session));
    await foldFetched(session, schema, kinds);
    await derivePending(session, schema);
  },
  deriveAll: metadataSteps,
};
