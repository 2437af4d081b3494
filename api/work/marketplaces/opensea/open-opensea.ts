import { chainIds } from "../../../../abis/deployments.ts";
import type { Partner } from "../partner.ts";
import { openTransport, type TransportOptions } from "../transport.ts";
import { fetchCollection } from "./fetch-collection.ts";
import { fetchFulfillment } from "./fetch-fulfillment.ts";
import { fetchAll, fetchEntry, fetchListing, fetchNewest } from "./fetch-listings.ts";
import { openStream, type StreamOptions } from "./open-stream.ts";
import { postListing } from "./post-listing.ts";

type Options = Omit<TransportOptions, "name" | "headers"> & {
  key: string | null;
  stream?: Omit<StreamOptions, "key"> | undefined;
};

/** OpenSea, by its API v2 and, where it is named, its Stream API. */
export function openOpensea({ key, stream, ...options }: Options): Partner {
  const headers: Record<string, string> = key === null ? {} : { "x-api-key": key };
  const transport = openTransport({ ...options, name: "OpenSea", headers });
  return {
    name: "opensea",
    chainIds,
    fetchCollection: (chainId, contract) => fetchCollection(transport, chainId, contract),
    fetchListings: (chainId, collection, { order, cursor }) => {
      const fetchPage = order === "newest" ? fetchNewest : fetchAll;
      return fetchPage(transport, { ...collection, chainId }, cursor);
    },
    fetchListing: (chainId, orderHash) => fetchListing(transport, chainId, orderHash),
    fetchFulfillment: (chainId, asked) => fetchFulfillment(transport, chainId, asked),
    postListing: (chainId, order) => postListing(transport, chainId, order),
    ...(stream === undefined
      ? {}
      : {
          stream: {
            connect: (ear) => openStream({ ...stream, key }, ear),
            fetchHeard: (order, creators) => fetchEntry(transport, order, creators),
          },
        }),
    close: transport.close,
  };
}
