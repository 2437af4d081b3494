import type { Projection } from "../engine/projection.ts";
import { foldCreatorFees } from "./creator-fees.ts";
import { deriveCollections, deriveMembers } from "./derive.ts";
import { foldDescriptions, foldDiscoveries, foldRegistrations } from "./facts.ts";
import { deriveRegistry } from "./registry.ts";
import { tables } from "./tables.ts";

/** What people browse: contracts seen trading or moving, and the registry's families of them. */
export const collectionsProjection: Projection = {
  name: "collections",
  version: 3,
  folds: [
    "erc721_transfer",
    "erc721_consecutive_transfer",
    "erc1155_transfer",
    "collection_registered",
    "contract_described",
    "creator_fee_read",
  ],
  sample: {
    key: ["contract_id"],
    where: "log_index is null or kind in (10, 11, 12)",
    tables: ["discovery", "description"],
  },
  tables,
  async apply(session, schema, window) {
    await foldCreatorFees(session, schema);
    const described = await foldDescriptions(session, schema);
    const discovered = await foldDiscoveries(session, schema, window);
    const registryChanged = await foldRegistrations(session, schema);
    const registry = registryChanged
      ? await deriveRegistry(session, schema)
      : { contracts: [], collections: [] };

    const contracts = [...new Set([...described, ...discovered, ...registry.contracts])];
    const touched = await deriveMembers(session, schema, contracts);
    await deriveCollections(session, schema, [
      ...new Set([...contracts, ...touched, ...registry.collections]),
    ]);
  },
};
