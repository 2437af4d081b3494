import { sql } from "kysely";
import type { Projection } from "../engine/projection.ts";
import { holdsAny } from "../engine/window.ts";
import type { FactKind } from "../log/fact-kind.ts";
import { kindList } from "../log/fact-kind-sql.ts";
import { foldCreatorFees } from "./creator-fees.ts";
import { deriveCollections, deriveMembers } from "./derive.ts";
import { discovering, foldDescriptions, foldDiscoveries, foldRegistrations } from "./facts.ts";
import { deriveRegistry } from "./registry.ts";
import { tables } from "./tables.ts";

/** What people browse: contracts seen trading or moving, and the registry's families of them. */
export const collectionsProjection: Projection = {
  name: "collections",
  version: 4,
  handles: [...discovering, "collection_registered", "contract_described", "creator_fee_read"],
  sample: {
    key: ["contract_id"],
    where: sql`log_index is null or kind in ${kindList("erc721_transfer", "erc721_consecutive_transfer", "erc1155_transfer")}`,
    tables: ["first_transfer", "description"],
  },
  tables,
  async apply(session, schema, window) {
    const { kinds } = window;
    const holds = (...some: FactKind[]) => kinds === undefined || holdsAny(kinds, some);
    if (holds("creator_fee_read")) await foldCreatorFees(session, schema, window);
    const described = holds("contract_described")
      ? await foldDescriptions(session, schema, window)
      : [];
    const discovered = holds(...discovering) ? await foldDiscoveries(session, schema, window) : [];
    const registry =
      holds("collection_registered") && (await foldRegistrations(session, schema, window))
        ? await deriveRegistry(session, schema)
        : { contracts: [], collections: [] };

    const contracts = [...new Set([...described, ...discovered, ...registry.contracts])];
    const touched = await deriveMembers(session, schema, contracts);
    await deriveCollections(session, schema, [
      ...new Set([...contracts, ...touched, ...registry.collections]),
    ]);
  },
};
