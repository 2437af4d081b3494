import { type RawBuilder, sql } from "kysely";
import { stringify } from "#ops/reports/present-fact.ts";
import type { CollectionRow } from "#projections/collections/read-collection-row.ts";
import { readCollectionKeys, readCollections } from "#projections/collections/read-collections.ts";
import type { Database } from "#projections/log/database.ts";
import { chainId } from "./collections.ts";

/** More than a market has. */
const limit = 100_000;

/** Rows of Ponder's table of collections, with what our list tells of each, in the order of its ranking by holders. */
export async function selectCollections(db: Database): Promise<RawBuilder<unknown>> {
  const { keys } = await readCollectionKeys(
    db,
    { chainId, search: null, verified: null },
    { sort: "holders", direction: "desc", period: "24h", excludesWash: false },
    { limit, offset: 0, after: null },
  );
  const ids = keys.map(({ collectionId }) => collectionId);
  const found = new Map(
    (await readCollections(db, ids, new Date())).map((row) => [row.collectionId, row]),
  );
  const rows = ids.flatMap((id) => found.get(id) ?? []);
  const text = stringify(rows.map(storedRow));
  return sql`
    (address, supply, holders, sales, volume, last_sale_at, place, slug, name, symbol, description, standard, image, banner,
     website, twitter, discord, is_verified, contracts, royalty, listed, floor, floor_buyable, best_offer, day_sales,
     floor_change, created_at, updated_at)
    select * from json_to_recordset(${text}::json) as row (
      address text, supply int, holders int, sales int, volume numeric, last_sale_at numeric, place int, slug text,
      name text, symbol text, description text, standard int, image text, banner text, website text, twitter text,
      discord text, is_verified boolean, contracts json, royalty json, listed int, floor json, floor_buyable json,
      best_offer json, day_sales json, floor_change json, created_at numeric, updated_at numeric)`;
}

function storedRow(row: CollectionRow, place: number) {
  const { address, slug, name, symbol, description, standard, image, banner, website } = row;
  const { twitter, discord, contracts, royalty, floor, floorBuyable, bestOffer } = row;
  const { "24h": day, all } = row.salesFigures;
  const seconds = (at: Date | null) => at && Math.floor(at.getTime() / 1_000);
  return {
    ...{
      address,
      slug,
      name,
      symbol,
      description,
      standard,
      image,
      banner,
      website,
      twitter,
      discord,
    },
    ...{ contracts, royalty, floor, place, is_verified: row.verified, listed: Number(row.listed) },
    ...{ floor_buyable: floorBuyable, best_offer: bestOffer, last_sale_at: null },
    ...{ supply: Number(row.supply), holders: Number(row.holders) },
    ...{ sales: Number(all.sales), volume: all.wei },
    day_sales: day,
    floor_change: row.change,
    created_at: seconds(row.createdAt),
    updated_at: seconds(row.updatedAt),
  };
}
