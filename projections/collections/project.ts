import { sql } from "kysely";
import type { Session } from "../log/database.ts";
import { holdsAny } from "../engine/fact-window.ts";
import type { FactWindow, Projection } from "../engine/projection.ts";
import { type FactKind, kindList } from "../log/fact-kinds.ts";
import { versions } from "../log/versions.ts";
import { addAllFirstTransfers, applyDescriptions, applyFirstTransfers, applyRegistrations, transferKinds } from "./apply-facts.ts";
import { applyCreatorFees } from "./creator-fees.ts";
import { deriveCollections, deriveContracts } from "./derive-collections.ts";
import { deriveRegistry } from "./registry.ts";
import { applyStatedRoyalties, updateRoyaltyStates } from "./stated-royalties.ts";
import { tables } from "./tables.ts";
import { deriveWords } from "./words.ts";

/** Collections: NFT contracts with transfers, grouped by the registry. */
export const collectionsProjection: Projection = {
  name: "collections",
  version: versions.collections.version,
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

    const contracts = [...new Set([...described, ...transferred, ...registry.contracts])];
    const affected = await deriveContracts(session, schema, contracts);
    // After them: what they have derived is right already, and is not written twice.
    await updateRoyaltyStates(session, schema, stated);
    const collections = [...new Set([...contracts, ...affected, ...registry.collections])];
    if (collections.length === 0) return;
    await deriveCollections(session, schema, collections);
    await deriveWords(session, schema, collections);
  },
  keepsIndexes: true,
  deriveAll: [
    { name: "observations", derive: deriveObservations },
    { name: "first transfers", derive: addAllFirstTransfers },
    { name: "contracts", derive: deriveAllContracts },
    { name: "collections", derive: deriveAllCollections },
  ],
};

/** What is stated of contracts and collections, and the registry. */
async function deriveObservations(session: Session, schema: string, window: FactWindow) {
  await applyCreatorFees(session, schema, window);
  await applyDescriptions(session, schema, window);
  await applyStatedRoyalties(session, schema, window);
  if (await applyRegistrations(session, schema, window)) await deriveRegistry(session, schema);
}

async function deriveAllContracts(session: Session, schema: string): Promise<void> {
  await deriveContracts(session, schema, await readNamed(session, schema));
}

async function deriveAllCollections(session: Session, schema: string): Promise<void> {
  const collections = await readNamed(session, schema);
  await deriveCollections(session, schema, collections);
  await deriveWords(session, schema, collections);
}

/** Every contract that a fact or the registry names. A collection is one of them. */
async function readNamed(session: Session, schema: string): Promise<number[]> {
  const table = (name: string) => sql.table(`${schema}.${name}`);
  const { rows } = await sql<{ contract_id: number }>`
    select contract_id from ${table("first_transfer")}
    union select contract_id from ${table("description")}
    union select contract_id from ${table("stated_royalty")}
    union select collection_id from ${table("registry_collection")}
    union
    select k.contract_id
    from ${table("registry_contract")} r join log.contract k on k.chain_id = r.chain_id and k.address = r.address
  `.execute(session);
  return rows.map((row) => row.contract_id);
}
