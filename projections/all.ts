import { type Address, zeroAddress } from "viem";
import { activityProjection } from "./activity/activity.ts";
import { collectionStatsProjection } from "./collections/collection-stats.ts";
import { collectionsProjection } from "./collections/collections.ts";
import { floorsProjection } from "./collections/floors.ts";
import type { Projection } from "./engine/projection.ts";
import { metadataProjection } from "./metadata/metadata.ts";
import { bidsProjection } from "./orders/bids.ts";
import { listingsProjection } from "./orders/listings.ts";
import { crossListingsProjection } from "./partners/cross-listings.ts";
import { coinPricesProjection } from "./prices/coin-prices.ts";
import { salesProjection } from "./sales/sales.ts";
import { ownershipProjection } from "./tokens/ownership.ts";
import { traitsProjection } from "./traits/traits.ts";

/** Every projection, after those whose tables it reads; of several that may begin, the longest to derive first. */
export function allProjections(options: { feeRecipient: Address }): Projection[] {
  const sales = salesProjection(options);
  return [
    sales,
    ownershipProjection,
    activityProjection,
    metadataProjection,
    collectionsProjection,
    coinPricesProjection,
    listingsProjection,
    bidsProjection,
    floorsProjection,
    collectionStatsProjection([
      ownershipProjection,
      collectionsProjection,
      coinPricesProjection,
      sales,
      listingsProjection,
      bidsProjection,
      floorsProjection,
    ]),
    traitsProjection({
      metadata: metadataProjection,
      ownership: ownershipProjection,
      listings: listingsProjection,
    }),
    crossListingsProjection,
  ];
}

/** Their versions in this release by name, which also names their checkpoints. */
export const projectionVersions: ReadonlyMap<string, number> = new Map(
  allProjections({ feeRecipient: zeroAddress }).map(({ name, version }) => [name, version]),
);

export const projectionNames: readonly string[] = [...projectionVersions.keys()];
