import { numberedChains } from "../chains/texts.ts";
import { events } from "./feed/events.ts";
import { describeRoutes, thisDocument } from "./http/openapi.ts";
import { describedFor, operatorAt } from "./reference/described.ts";
import { listActivity, tokenActivity } from "./v1/activity.ts";
import { getKey, giveInstantKey, listKeyRequests } from "./v1/auth.ts";
import { collection, listCollections } from "./v1/collections/collections.ts";
import { depth } from "./v1/collections/depth.ts";
import { collectionDiff } from "./v1/collections/diff.ts";
import { floorHistory, floorLines } from "./v1/collections/floors.ts";
import { holderDistribution, holders } from "./v1/collections/holders.ts";
import {
  collectionBanner,
  collectionImage,
  tokenAnimation,
  tokenDocument,
  tokenImage,
} from "./v1/collections/media.ts";
import { refreshToken } from "./v1/collections/refresh-token.ts";
import { token } from "./v1/collections/token.ts";
import { tokenHolders, tokenOwnership } from "./v1/collections/token-ownership.ts";
import { tokens } from "./v1/collections/tokens.ts";
import { traits } from "./v1/collections/traits.ts";
import type { V1Route } from "./v1/context.ts";
import { cryptoHistory } from "./v1/crypto-history.ts";
import { resolveEns } from "./v1/ens.ts";
import { acceptData, bestAcceptData } from "./v1/orders/accept-data.ts";
import { bidRequirements } from "./v1/orders/bid-requirements.ts";
import { bestBids, bid, listBids } from "./v1/orders/bids.ts";
import { buyData, buyDataBulk } from "./v1/orders/buy-data.ts";
import { walletExposure } from "./v1/orders/exposure.ts";
import { listingRequirements } from "./v1/orders/listing-requirements.ts";
import { listing, listListings } from "./v1/orders/listings.ts";
import { orderParams } from "./v1/orders/params.ts";
import { askCancel, askComponents, bidCancel, bidComponents } from "./v1/orders/signed-order.ts";
import { submitAsk, submitBid } from "./v1/orders/submit.ts";
import { submitAsks, submitBids } from "./v1/orders/submit-bulk.ts";
import { sweep } from "./v1/orders/sweep.ts";
import { askSync, bidSync } from "./v1/orders/sync.ts";
import { walletOffers } from "./v1/orders/wallet-offers.ts";
import { listSales, sale } from "./v1/sales.ts";
import { search } from "./v1/search.ts";
import { createKeyByWallet, createSiweNonce } from "./v1/siwe.ts";
import {
  createSnapshot,
  getSnapshot,
  snapshotCsv,
  snapshotHolders,
  snapshotProof,
} from "./v1/snapshots/snapshots.ts";
import { status } from "./v1/status.ts";
import { transaction } from "./v1/transaction.ts";
import { walletDiff } from "./v1/wallet-diff.ts";
import { walletSummary } from "./v1/wallet-summary.ts";
import { walletTokens } from "./v1/wallet-tokens.ts";
import {
  changeAccountWebhook,
  createAccountWebhook,
  deleteAccountWebhook,
  getAccountWebhook,
  listAccountWebhooks,
} from "./webhooks/manage-webhooks.ts";
import {
  listWebhookDeliveries,
  rotateWebhookSecret,
  testAccountWebhook,
} from "./webhooks/use-webhook.ts";

/** Every endpoint, in the order they are documented. */
export const routes: readonly V1Route[] = [
  giveInstantKey,
  createSiweNonce,
  createKeyByWallet,
  getKey,
  listKeyRequests,
  search,
  listCollections,
  collection,
  collectionImage,
  collectionBanner,
  tokens,
  token,
  tokenOwnership,
  tokenHolders,
  refreshToken,
  tokenImage,
  tokenAnimation,
  tokenDocument,
  tokenActivity,
  traits,
  holders,
  holderDistribution,
  collectionDiff,
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
  walletSummary,
  walletDiff,
  walletOffers,
  walletExposure,
  createSnapshot,
  getSnapshot,
  snapshotHolders,
  snapshotCsv,
  snapshotProof,
  events,
  createAccountWebhook,
  listAccountWebhooks,
  getAccountWebhook,
  changeAccountWebhook,
  rotateWebhookSecret,
  testAccountWebhook,
  listWebhookDeliveries,
  deleteAccountWebhook,
  listListings,
  listing,
  buyData,
  buyDataBulk,
  sweep,
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
  const info = { ...document.info, contact: operatorAt(baseUrl) };
  return { ...document, info, servers: [{ url: baseUrl }] };
}

function describe(routes: readonly V1Route[]) {
  const info = {
    title: "Order book of record",
    version: interfaceVersion,
    description:
      `Collections, tokens and sales of ${numberedChains}. ` +
      "Amounts in wei and token ids are decimal strings; addresses are lower case; times are UTC. " +
      "The `message` of a refusal is its `error` again. " +
      "Answers that count against a limit have `RateLimit` and `X-RateLimit-Remaining`.",
    baseUrl: "",
  };
  const document = describeRoutes(routes, info, { "/v1/openapi.json": thisDocument });
  return describedFor(document, "v1");
}
