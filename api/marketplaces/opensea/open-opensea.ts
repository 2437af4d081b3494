import { chainIds } from "../../../abis/deployments.ts";
import type { Partner } from "../partner.ts";
import { openTransport, type TransportOptions } from "../transport.ts";
import { fetchCollection } from "./fetch-collection.ts";
import { fetchFulfillment } from "./fetch-fulfillment.ts";
import { fetchAll, fetchListing, fetchNewest } from "./fetch-listings.ts";
import { postListing } from "./post-listing.ts";

type Options = Omit<TransportOptions, "name" | "headers"> & { key: string | null };

/** OpenSea, by its API v2. */
export function openOpensea({ key, ...options }: Options): Partner {
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
    close: transport.close,
  };
}
