import { listActivity } from "./activity/list.ts";
import { tokenActivity } from "./activity/token-activity.ts";
import { getKey, listKeyRequests } from "./auth/key.ts";
import { giveInstantKey } from "./auth/keys.ts";
import { acceptData } from "./bids/accept-data.ts";
import { bestBids } from "./bids/best.ts";
import { bestAcceptData } from "./bids/best-accept-data.ts";
import { bid } from "./bids/bid.ts";
import { listBids } from "./bids/list.ts";
import { bidRequirements } from "./bids/requirements.ts";
import { collection } from "./collections/collection.ts";
import { depth } from "./collections/depth.ts";
import { floorHistory } from "./collections/floor-history.ts";
import { floorLines } from "./collections/floor-lines.ts";
import { holderDistribution } from "./collections/holder-distribution.ts";
import { holders } from "./collections/holders.ts";
import { listCollections } from "./collections/list.ts";
import {
  collectionBanner,
  collectionImage,
  tokenAnimation,
  tokenDocument,
  tokenImage,
} from "./collections/media.ts";
import { refreshToken } from "./collections/refresh-token.ts";
import { token } from "./collections/token.ts";
import { tokens } from "./collections/tokens.ts";
import { traits } from "./collections/traits.ts";
import { cryptoHistory } from "./crypto-history.ts";
import { resolveEns } from "./ens.ts";
import { events } from "./events.ts";
import { buyData } from "./listings/buy-data.ts";
import { buyDataBulk } from "./listings/buy-data-bulk.ts";
import { listListings } from "./listings/list.ts";
import { listing } from "./listings/listing.ts";
import { listingRequirements } from "./listings/requirements.ts";
import { askCancel, bidCancel } from "./orders/cancel.ts";
import { askComponents, bidComponents } from "./orders/components.ts";
import { orderParams } from "./orders/params.ts";
import { submitAsk, submitBid } from "./orders/submit.ts";
import { submitAsks, submitBids } from "./orders/submit-bulk.ts";
import { askSync, bidSync } from "./orders/sync.ts";
import type { V1Route } from "./routing/context.ts";
import { listSales } from "./sales/list.ts";
import { sale } from "./sales/sale.ts";
import { search } from "./search/search.ts";
import { status } from "./status.ts";
import { transaction } from "./transactions/transaction.ts";
import { walletExposure } from "./wallets/exposure.ts";
import { walletTokens } from "./wallets/tokens.ts";

/** Every endpoint, in the order they are documented. */
export const routes: readonly V1Route[] = [
  giveInstantKey,
  getKey,
  listKeyRequests,
  search,
  listCollections,
  collection,
  collectionImage,
  collectionBanner,
  tokens,
  token,
  refreshToken,
  tokenImage,
  tokenAnimation,
  tokenDocument,
  tokenActivity,
  traits,
  holders,
  holderDistribution,
  depth,
  floorHistory,
  floorLines,
  cryptoHistory,
  resolveEns,
  listSales,
  sale,
  transaction,
  listActivity,
  walletTokens,
  walletExposure,
  events,
  listListings,
  listing,
  buyData,
  buyDataBulk,
  listingRequirements,
  listBids,
  bestBids,
  bestAcceptData,
  bidRequirements,
  bid,
  acceptData,
  orderParams,
  askComponents,
  askCancel,
  askSync,
  bidComponents,
  bidCancel,
  bidSync,
  submitAsk,
  submitAsks,
  submitBid,
  submitBids,
  status,
];
