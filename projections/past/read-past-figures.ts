import type { CollectionRow } from "../collections/read-collection-row.ts";
import type { Database } from "../log/database.ts";
import { readPastHolders } from "../tokens/read-past-holders.ts";
import type { Moment } from "./moment.ts";
import { readPastBestBid } from "./read-past-bids.ts";
import { readPastFloor } from "./read-past-listings.ts";
import { readPastSalesFigures } from "./read-past-sales.ts";

/** What a collection's row tells of trade and holders. */
export type PastFigures = Pick<
  CollectionRow,
  | "supply"
  | "holders"
  | "listed"
  | "floor"
  | "floorBuyable"
  | "bestOffer"
  | "salesFigures"
  | "change"
>;

/**
 * Figures of contracts at a moment, by the statements that derive today's. Nothing of then can be bought; floors before it are
 * not compared. Throws `TooMuchToFold`.
 */
export async function readPastFigures(
  db: Database,
  contractIds: readonly number[],
  moment: Moment,
): Promise<PastFigures> {
  // Bids on contracts of which nobody held a token are for nothing.
  const held = await readPastHolders(db, contractIds, moment.point, oneHolder);
  const [{ floor, listed }, bestBid, salesFigures] = await Promise.all([
    readPastFloor(db, moment, { contractIds, tokenId: null, maker: null }),
    readPastBestBid(db, moment, {
      contractIds: held.heldContractIds,
      tokenId: null,
    }),
    readPastSalesFigures(db, contractIds, moment),
  ]);
  return {
    ...{ supply: held.supply, holders: held.total, listed, salesFigures },
    floor: floor && {
      ...{
        priceWei: `${floor.unitPriceWei}`,
        orderHash: floor.orderHash,
        contract: floor.contract,
      },
      ...{ tokenId: `${floor.tokenId}`, marketplace: floor.marketplace, currency: floor.currency },
      isBuyable: false,
    },
    floorBuyable: null,
    bestOffer: bestBid && {
      ...{ priceWei: `${bestBid.unitPriceWei}`, sellerNetWei: `${bestBid.sellerNetWei}` },
      orderHash: bestBid.orderHash,
    },
    change: { "24h": null, "7d": null, "30d": null },
  };
}

const oneHolder = { limit: 1, after: null };
