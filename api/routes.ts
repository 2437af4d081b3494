import { listActivity } from "./serve/v1/activity/list.ts";
import { tokenActivity } from "./serve/v1/activity/token-activity.ts";
import { getKey, listKeyRequests } from "./serve/v1/auth/key.ts";
import { giveInstantKey } from "./serve/v1/auth/keys.ts";
import { acceptData } from "./serve/v1/bids/accept-data.ts";
import { bestBids } from "./serve/v1/bids/best.ts";
import { bestAcceptData } from "./serve/v1/bids/best-accept-data.ts";
import { bid } from "./serve/v1/bids/bid.ts";
import { listBids } from "./serve/v1/bids/list.ts";
import { bidRequirements } from "./serve/v1/bids/requirements.ts";
import { collection } from "./serve/v1/collections/collection.ts";
import { depth } from "./serve/v1/collections/depth.ts";
import { floorHistory } from "./serve/v1/collections/floor-history.ts";
import { floorLines } from "./serve/v1/collections/floor-lines.ts";
import { holderDistribution } from "./serve/v1/collections/holder-distribution.ts";
import { holders } from "./serve/v1/collections/holders.ts";
import { listCollections } from "./serve/v1/collections/list.ts";
import { collectionBanner, collectionImage, tokenAnimation, tokenDocument, tokenImage } from "./serve/v1/collections/media.ts";
import { refreshToken } from "./serve/v1/collections/refresh-token.ts";
import { token } from "./serve/v1/collections/token.ts";
import { tokens } from "./serve/v1/collections/tokens.ts";
import { traits } from "./serve/v1/collections/traits.ts";
import { cryptoHistory } from "./serve/v1/crypto-history.ts";
import { resolveEns } from "./serve/v1/ens.ts";
import { events } from "./feed/events.ts";
import { buyData } from "./serve/v1/listings/buy-data.ts";
import { buyDataBulk } from "./serve/v1/listings/buy-data-bulk.ts";
import { listListings } from "./serve/v1/listings/list.ts";
import { listing } from "./serve/v1/listings/listing.ts";
import { listingRequirements } from "./serve/v1/listings/requirements.ts";
import { askCancel, bidCancel } from "./serve/v1/orders/cancel.ts";
import { askComponents, bidComponents } from "./serve/v1/orders/components.ts";
import { orderParams } from "./serve/v1/orders/params.ts";
import { submitAsk, submitBid } from "./serve/v1/orders/submit.ts";
import { submitAsks, submitBids } from "./serve/v1/orders/submit-bulk.ts";
import { askSync, bidSync } from "./serve/v1/orders/sync.ts";
import type { V1Route } from "./serve/v1/routing/context.ts";
import { listSales } from "./serve/v1/sales/list.ts";
import { sale } from "./serve/v1/sales/sale.ts";
import { search } from "./serve/v1/search/search.ts";
import { status } from "./serve/v1/status.ts";
import { transaction } from "./serve/v1/transactions/transaction.ts";
import { walletExposure } from "./serve/v1/wallets/exposure.ts";
import { walletTokens } from "./serve/v1/wallets/tokens.ts";
import { numberedChains } from "../chains/texts.ts";
import { describeRoutes, thisDocument } from "./http/openapi.ts";
import { withExamples } from "./reference/examples.ts";

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

/** Version of the HTTP interface, not of the package. */
const interfaceVersion = "2.0.0";

/** What is the same under any address: making it takes a sixth of a second. */
const made = new WeakMap<readonly V1Route[], ReturnType<typeof describe>>();

/** The OpenAPI document of `/v1`. */
export function describeV1(baseUrl: string, routes: readonly V1Route[]) {
  const document = made.get(routes) ?? describe(routes);
  made.set(routes, document);
  return { ...document, servers: [{ url: baseUrl }] };
}

function describe(routes: readonly V1Route[]) {
  const info = {
    title: "NFT market data and order book",
    version: interfaceVersion,
    description:
      `Collections, tokens and sales of ${numberedChains}. ` +
      "Amounts in wei and token ids are decimal strings; addresses are lower case; times are UTC.",
    baseUrl: "",
  };
  const document = describeRoutes(routes, info, { "/v1/openapi.json": thisDocument });
  return withExamples(document, "v1");
}
