import type { Express, RequestHandler } from "express";
import { chainById } from "#chains/index.ts";
import { type ApiProfile, bareEnvelope } from "../http/api-profile.ts";
import { type Limiter, limitRequests } from "../http/limit.ts";
import { mountRoutes } from "../http/mount.ts";
import type { Route } from "../http/route.ts";
import type { Context } from "../v1/context.ts";
import {
  attributeSummary,
  contractMetadata,
  contractMetadataBatch,
  contractSearch,
  floorPrice,
  isHolder,
  rarity,
} from "./contracts.ts";
import { contractsOfOwner, nftsOfOwner, ownersOfContract } from "./owners.ts";
import type { AlchemyContext } from "./route.ts";
import { nftSales } from "./sales.ts";
import { nftMetadata, nftMetadataBatch, nftsOfContract, ownersOfNft } from "./tokens.ts";
import { assetTransfers } from "./transfers.ts";

/** The calls of Alchemy's NFT API v3 that are answered. */
const calls: readonly Route<AlchemyContext>[] = [
  nftSales,
  floorPrice,
  attributeSummary,
  rarity,
  isHolder,
  ownersOfContract,
  ownersOfNft,
  nftsOfOwner,
  contractsOfOwner,
  nftsOfContract,
  nftMetadata,
  nftMetadataBatch,
  contractMetadata,
  contractMetadataBatch,
  contractSearch,
];

/** Paths of a chain there: its NFT API, and its node's JSON-RPC. */
const places = { "nft/v3": [...calls, assetTransfers], v2: [assetTransfers] };

/** The key with which Alchemy's own examples call: none. */
const noKey = "demo";

/** A key is a segment of the path there; here it counts as one in `X-API-Key`. */
const keyOfPath: RequestHandler<{ key: string }> = (request, _response, next) => {
  const { key } = request.params;
  delete request.headers["x-api-key"];
  if (key !== noKey) request.headers["x-api-key"] = key;
  next();
};

type Options = {
  readonly baseUrl: string;
  readonly limiter: Limiter | undefined;
  readonly profile: Omit<ApiProfile, "envelope" | "prefix">;
};

/** Mounts the calls of every served chain at `/<its name there>/nft/v3/<key>/<call>`, and `/<its name there>/v2/<key>`. */
export function mountAlchemy(
  app: Express,
  context: Context,
  { baseUrl, limiter, profile }: Options,
) {
  for (const chainId of context.chains) {
    const { alchemyName } = chainById(chainId);
    if (alchemyName === null) continue;
    for (const [place, answered] of Object.entries(places)) {
      const at = `/${alchemyName}/${place}`;
      app.use(`${at}/:key`, keyOfPath);
      if (limiter !== undefined) app.use(at, limitRequests(limiter));
      mountRoutes(app, answered, { ...context, chainId }, baseUrl, {
        ...profile,
        envelope: bareEnvelope,
        prefix: `${at}/{key}`,
      });
    }
  }
}
