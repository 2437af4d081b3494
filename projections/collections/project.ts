import { sql } from "kysely";
import { holdsAny } from "../engine/fact-window.ts";
import type { Projection } from "../engine/projection.ts";
import type { FactKind } from "../log/fact-kind.ts";
import { kindList } from "../log/fact-kind-sql.ts";
import {
  applyDescriptions,
  applyFirstTransfers,
  applyRegistrations,
  transferKinds,
} from "./apply-facts.ts";
import { applyCreatorFees } from "./creator-fees.ts";
import { deriveCollections, deriveContracts } from "./derive-collections.ts";
import { deriveRegistry } from "./registry.ts";
import { applyStatedRoyalties } from "./stated-royalties.ts";
import { tables } from "./tables.ts";
import { deriveWords } from "./words.ts";

/** Collections: NFT contracts with transfers, grouped by the registry. */
export const collectionsProjection: Projection = {
  name: "collections",
  version: 6,
  handles: [
    ...transferKinds,
    "collection_registered",
    "contract_described",
    "creator_fee_read",
    "royalty_stated",
  ],
  sample: {
    key: ["contract_id"],
    where: sql`log_index is null or kind in ${kindList("erc721_transfer", "erc721_consecutive_transfer", "erc1155_transfer")}`,
    tables: ["first_transfer", "description", "stated_royalty"],
  },
  tables,
  async apply(session, schema, window) {
    const { kinds } = window;
    const holds = (...some: FactKind[]) => kinds === undefined || holdsAny(kinds, some);
    if (holds("creator_fee_read")) await applyCreatorFees(session, schema, window);
    const described = holds("contract_described")
      ? await applyDescriptions(session, schema, window)
      : [];
    const stated = holds("royalty_stated")
      ? await applyStatedRoyalties(session, schema, window)
      : [];
    const transferred = holds(...transferKinds)
      ? await applyFirstTransfers(session, schema, window)
      : [];
    const registry =
      holds("collection_registered") && (await applyRegistrations(session, schema, window))
        ? await deriveRegistry(session, schema)
        : { contracts: [], collections: [] };

    const contracts = [
      ...new Set([...described, ...stated, ...transferred, ...registry.contracts]),
    ];
    const affected = await deriveContracts(session, schema, contracts);
    const collections = [...new Set([...contracts, ...affected, ...registry.collections])];
    if (collections.length === 0) return;
    await deriveCollections(session, schema, collections);
    await deriveWords(session, schema, collections);
  },
};
