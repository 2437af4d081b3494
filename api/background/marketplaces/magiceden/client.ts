import { chainsKnownTo } from "#chains/partners.ts";
import type { Partner } from "../partner.ts";
import { openTransport, type TransportOptions } from "../transport.ts";
import { fetchListing, fetchListings } from "./fetch-listings.ts";

type Options = Omit<TransportOptions, "name" | "headers"> & { key: string | null };

/** Magic Eden's API v3, which returns complete orders. They are filled without further data. */
export function openMagiceden({ key, ...options }: Options): Partner {
  const headers: Record<string, string> = key === null ? {} : { authorization: `Bearer ${key}` };
  const transport = openTransport({
    ...options,
    name: "Magic Eden",
    marketplace: "magiceden",
    headers,
  });
  return {
    name: "magiceden",
    chainIds: chainsKnownTo("magiceden"),
    fetchListings: (chainId, collection, page) =>
      fetchListings(transport, { ...collection, chainId }, page),
    fetchListing: (chainId, orderHash) => fetchListing(transport, chainId, orderHash),
    close: transport.close,
  };
}
