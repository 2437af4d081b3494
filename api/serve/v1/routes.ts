import { giveInstantKey } from "./auth/keys.ts";
import { acceptData } from "./bids/accept-data.ts";
import { bestBids } from "./bids/best.ts";
import { bestAcceptData } from "./bids/best-accept-data.ts";
import { bid } from "./bids/bid.ts";
import { listBids } from "./bids/list.ts";
import { bidRequirements } from "./bids/requirements.ts";
import { collection } from "./collections/collection.ts";
import { floorHistory } from "./collections/floor-history.ts";
import { listCollections } from "./collections/list.ts";
import { token } from "./collections/token.ts";
import { tokens } from "./collections/tokens.ts";
import { traits } from "./collections/traits.ts";
import type { V1Route } from "./context.ts";
import { cryptoHistory } from "./crypto-history.ts";
import { resolveEns } from "./ens.ts";
import { events } from "./events.ts";
import { buyData } from "./listings/buy-data.ts";
import { buyDataBulk } from "./listings/buy-data-bulk.ts";
import { listListings } from "./listings/list.ts";
import { listing } from "./listings/listing.ts";
import { listingRequirements } from "./listings/requirements.ts";
import { submitAsks } from "./orders/asks/bulk.ts";
import { askCancel } from "./orders/asks/cancel.ts";
import { askComponents } from "./orders/asks/components.ts";
import { submitAsk } from "./orders/asks/submit.ts";
import { askSync } from "./orders/asks/sync.ts";
import { submitBids } from "./orders/bids/bulk.ts";
import { bidCancel } from "./orders/bids/cancel.ts";
import { bidComponents } from "./orders/bids/components.ts";
import { submitBid } from "./orders/bids/submit.ts";
import { bidSync } from "./orders/bids/sync.ts";
import { orderParams } from "./orders/params.ts";
import { sales } from "./sales.ts";
import { status } from "./status.ts";

/** Every endpoint, in the order they are documented. */
export const routes: readonly V1Route[] = [
  giveInstantKey,
  listCollections,
  collection,
  tokens,
  token,
  traits,
  floorHistory,
  cryptoHistory,
  resolveEns,
  sales,
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
