import type { Express, RequestHandler } from "express";
import { chainById } from "#chains/index.ts";
import { showErrorsAsList } from "../http/answer.ts";
import { type ApiProfile, bareEnvelope } from "../http/api-profile.ts";
import { type Limiter, limitRequests } from "../http/limit.ts";
import { mountRoutes } from "../http/mount.ts";
import type { Route } from "../http/route.ts";
import type { Context } from "../v1/context.ts";
import { accountEvents, assetEvents, nftEvents, slugEvents } from "./events.ts";
import { collectionDetails, collectionStats, paymentToken, traitCounts } from "./market-data.ts";
import { accountNfts, collectionNfts, contractNfts, nft } from "./nfts.ts";
import {
  allListings,
  allOffers,
  bestListing,
  bestListings,
  bestOffer,
  orderByHash,
} from "./orders.ts";
import { fillListing, fillOffer, receiveListing, receiveOffer } from "./posts.ts";
import type { OpenSeaContext } from "./route.ts";

/** The calls of OpenSea's API v2 that are answered. */
const calls: readonly Route<OpenSeaContext>[] = [
  nft,
  collectionNfts,
  contractNfts,
  accountNfts,
  collectionDetails,
  collectionStats,
  traitCounts,
  paymentToken,
  allListings,
  bestListings,
  bestListing,
  allOffers,
  bestOffer,
  orderByHash,
  assetEvents,
  accountEvents,
  slugEvents,
  nftEvents,
  receiveListing,
  receiveOffer,
  fillListing,
  fillOffer,
];

/** Its client shows what a list named `errors` says, and nothing else of a refusal. */
const listErrors: RequestHandler = (_request, response, next) => {
  showErrorsAsList(response);
  next();
};

type Options = {
  readonly baseUrl: string;
  readonly limiter: Limiter | undefined;
  readonly profile: Omit<ApiProfile, "envelope" | "prefix">;
};

/** Mounts the calls of every served chain at `/opensea/<its name there>/api/v2/…`. */
export function mountOpenSea(
  app: Express,
  context: Context,
  { baseUrl, limiter, profile }: Options,
) {
  for (const chainId of context.chains) {
    const name = chainById(chainId).partnerNames.opensea;
    if (name === null) continue;
    const prefix = `/opensea/${name}`;
    app.use(prefix, listErrors);
    if (limiter !== undefined) app.use(prefix, limitRequests(limiter));
    const shared = { ...profile, envelope: bareEnvelope, prefix };
    mountRoutes(app, calls, { ...context, chainId }, baseUrl, shared);
  }
}
