import { z } from "zod";
import { type ChainId, chainById } from "#chains/index.ts";
import type { Database } from "#projections/log/database.ts";
import { readPriceAt } from "#projections/prices/read-prices.ts";
import type { CollectionParts, CollectionRow } from "#projections/collections/read-collection-row.ts";
import { type CollectionKey, readCollections } from "#projections/collections/read-collections.ts";
import { writeOnce } from "#api/http/answer.ts";
import { cursorInteger } from "#api/http/page.ts";
import { versionCache } from "#api/http/reads/cache.ts";

/** Digits: a sum of wei is unbounded; an id is an integer column. */
export const rankingKey = z
  .tuple([cursorInteger(100), cursorInteger(9)])
  .transform(([sortKey, id]): CollectionKey => ({ sortKey, collectionId: Number(id) }));

export const keyOfRanked = ({ sortKey, collectionId }: CollectionKey) => [sortKey, collectionId];

type Viewing<View> = {
  readonly chainId: ChainId;
  readonly now: Date;
  readonly parts?: CollectionParts;
  /** What `present` depends on in addition to the row and the coin's price. */
  readonly variant: string;
  readonly present: (row: CollectionRow, coinPriceE8: bigint | null) => View;
};

/** A view holds for all requests to the same data until an order of its collection ends or begins. */
type Kept<View> = { readonly view: View; readonly untilSecond: bigint | null };

/** Views of collections in the order of the keys. Those that were made of the same data before are not made again. */
export async function viewRanked<View extends object>(
  db: Database,
  keys: readonly CollectionKey[],
  { chainId, now, parts, variant, present }: Viewing<View>,
): Promise<View[]> {
  const known = versionCache(db);
  const coinPriceE8 = await readPriceOnce(db, chainId, now);
  const nameOf = (collectionId: number) =>
    `view of collection ${collectionId} ${coinPriceE8} ${variant}`;
  const views = new Map<number, View>();
  for (const { collectionId } of keys) {
    const kept = known.get<Kept<View>>(nameOf(collectionId));
    if (kept !== undefined && isCurrent(kept, now)) views.set(collectionId, kept.view);
  }
  const others = keys.map(({ collectionId }) => collectionId).filter((id) => !views.has(id));
  const rows = others.length === 0 ? [] : await readCollections(db, others, now, parts);
  for (const row of rows) {
    const made = { view: present(row, coinPriceE8), untilSecond: row.nextChangeAt };
    views.set(row.collectionId, made.view);
    if (!isCurrent(made, now)) continue;
    writeOnce(made.view);
    known.set(nameOf(row.collectionId), made);
  }
  return keys.flatMap(({ collectionId }) => views.get(collectionId) ?? []);
}

function isCurrent({ untilSecond }: Kept<unknown>, now: Date): boolean {
  return untilSecond === null || now.getTime() < Number(untilSecond) * 1_000;
}

async function readPriceOnce(db: Database, chainId: ChainId, at: Date): Promise<bigint | null> {
  const known = versionCache(db);
  const name = `price ${chainById(chainId).coin} ${at.getTime()}`;
  const found = known.get<{ priceE8: bigint | null }>(name);
  if (found !== undefined) return found.priceE8;
  const priceE8 = await readPriceAt(db, chainById(chainId).coin, at);
  known.set(name, { priceE8 });
  return priceE8;
}
