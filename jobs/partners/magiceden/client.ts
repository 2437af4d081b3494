import { chainsKnownTo } from "#chains/partners.ts";
import type { Partner } from "../partner.ts";
import type { PartnerDefinition } from "../partner-definition.ts";
import { openTransport, type TransportOptions } from "../transport.ts";
import { fetchListings, fetchMagicEdenListing } from "./listings.ts";

export const magiceden: PartnerDefinition = {
  api: "Magic Eden (API v3)",
  exampleUrl: "https://api-mainnet.magiceden.dev/v3/rtp",
  open: ({ streamUrl: _, ...config }, timeouts) => openMagiceden({ ...config, timeouts }),
};

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
    fetchListing: (chainId, orderHash) => fetchMagicEdenListing(transport, chainId, orderHash),
    close: transport.close,
  };
}
