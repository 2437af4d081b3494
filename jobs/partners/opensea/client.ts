import { chainsKnownTo } from "#chains/partners.ts";
import type { Partner } from "../partner.ts";
import type { PartnerDefinition } from "../partner-definition.ts";
import { openTransport, type TransportOptions } from "../transport.ts";
import { fetchFulfillment } from "./fulfillment.ts";
import {
  fetchAll,
  fetchCollection,
  fetchEntry,
  fetchNewest,
  fetchOpenSeaListing,
} from "./listings.ts";
import { postListing } from "./post-listing.ts";
import { openStream, type StreamOptions } from "./stream.ts";

export const opensea: PartnerDefinition = {
  api: "OpenSea (API v2)",
  exampleUrl: "https://api.opensea.io",
  exampleStreamUrl: "wss://stream-api.opensea.io/socket/websocket",
  open: ({ streamUrl, ...config }, timeouts) => {
    const stream = streamUrl === undefined ? undefined : { url: streamUrl };
    return openOpensea({ ...config, stream, timeouts });
  },
};

type Options = Omit<TransportOptions, "name" | "headers"> & {
  key: string | null;
  stream?: Omit<StreamOptions, "key"> | undefined;
};

/** OpenSea's API v2 and, if configured, its Stream API. */
export function openOpensea({ key, stream, ...options }: Options): Partner {
  const headers: Record<string, string> = key === null ? {} : { "x-api-key": key };
  const transport = openTransport({ ...options, name: "OpenSea", marketplace: "opensea", headers });
  return {
    name: "opensea",
    chainIds: chainsKnownTo("opensea"),
    fetchCollection: (...collection) => fetchCollection(transport, ...collection),
    fetchListings: (chainId, collection, { order, cursor }) => {
      const fetchPage = order === "newest" ? fetchNewest : fetchAll;
      return fetchPage(transport, { ...collection, chainId }, cursor);
    },
    fetchListing: (chainId, orderHash) => fetchOpenSeaListing(transport, chainId, orderHash),
    fetchFulfillment: (chainId, request) => fetchFulfillment(transport, chainId, request),
    postListing: (chainId, order) => postListing(transport, chainId, order),
    ...(stream === undefined
      ? {}
      : {
          stream: {
            connect: (listener) => openStream({ ...stream, key }, listener),
            fetchStreamed: (order, creators) => fetchEntry(transport, order, creators),
          },
        }),
    close: transport.close,
  };
}
