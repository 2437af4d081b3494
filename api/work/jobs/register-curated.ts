import type { Database } from "../../../projections/database.ts";
import {
  collectionRegistered,
  registryIdentity,
} from "../../../projections/facts/collection-registered.ts";
import { appendObservations } from "../../../projections/log/append.ts";
import { readCuratedEntries } from "../../../projections/reads/collections/registry-entries.ts";
import type { CuratedCollection } from "../../run/config/curated.ts";

/**
 * Appends a `collection_registered` fact for each entry of the curated file that says something else than
 * the file last said of that collection. What operators registered since then stands until the file changes.
 */
export async function registerCurated(
  db: Database,
  collections: readonly CuratedCollection[],
  recordedAt: Date,
): Promise<number> {
  const known = new Map(
    (await readCuratedEntries(db)).map((entry) => [`${entry.chainId} ${entry.primary}`, entry]),
  );
  const changed = collections.flatMap((collection) => {
    const { chainId, primary } = collection;
    const payload = entryOf(collection);
    const last = known.get(`${chainId} ${primary}`);
    if (
      last !== undefined &&
      registryIdentity(chainId, last.payload, 0n) === registryIdentity(chainId, payload, 0n)
    )
      return [];
    const replaces = last?.position ?? 0n;
    return [collectionRegistered({ chainId, primary, payload, replaces, recordedAt })];
  });
  if (changed.length === 0) return 0;
  return Number((await appendObservations(db, changed)).appended);
}

function entryOf({ slug, name, verified, primary, contracts, royalty }: CuratedCollection) {
  return {
    contracts: [...new Set([primary, ...contracts])].sort(),
    name,
    primary,
    // As PostgreSQL gives jsonb back, shorter names first: it is compared as text.
    ...(royalty && { royalty: { bps: royalty.bps, recipient: royalty.recipient } }),
    slug,
    source: "curated",
    verified,
  };
}
