import { seaport } from "#abis/deployments.ts";
import { chainNameAt } from "#chains/partners.ts";
import { type ListingChange, type StoredListing, totalWei } from "../listing-store.ts";
import { symbolOf } from "../local-currencies.ts";
import { presentParameters } from "./shapes.ts";

export const eventNames: Record<ListingChange, string> = {
  listed: "item_listed",
  filled: "item_sold",
  cancelled: "item_cancelled",
  withdrawn: "order_invalidate",
  restored: "order_revalidate",
};

/** The events of a listing, in the envelope of the stream. Orders that become invalid or valid are sent by hash only. */
export function presentEvent(shown: StoredListing, slug: string, event: string) {
  const now = new Date().toISOString();
  const chain = chainNameAt("opensea", shown.chainId);
  const common = {
    collection: { slug },
    event_timestamp: now,
    order_hash: shown.orderHash,
    protocol_address: seaport["1.6"],
  };
  const isBare = event.startsWith("order_");
  const payload = isBare
    ? { ...common, chain: { name: chain }, item: {} }
    : { ...common, chain, ...itemOf(shown, chain) };
  return { event_type: event, version: 2, sent_at: now, payload };
}

function itemOf(shown: StoredListing, chain: string) {
  const { components } = shown.order;
  const nftId = `${chain}/${shown.contract}/${shown.tokenId}`;
  const iso = (seconds: bigint) => new Date(Number(seconds) * 1_000).toISOString();
  return {
    base_price: `${totalWei(shown.order)}`,
    expiration_date: iso(components.endTime),
    is_private: false,
    item: {
      chain: { name: chain },
      metadata: { animation_url: null, image_url: null, metadata_url: null, name: null },
      nft_id: nftId,
      permalink: `https://opensea.io/assets/${nftId}`,
    },
    listing_date: iso(components.startTime),
    listing_type: null,
    maker: { address: components.offerer },
    payment_token: { decimals: 18, symbol: symbolOf(shown) },
    protocol_data: { parameters: presentParameters(shown), signature: null },
    quantity: Number(shown.quantity),
    taker: null,
  };
}

/** What cannot be read, in one of several ways. */
export function garbageOf(topic: string, joinRef: string | null, turn: number): string {
  const ways = [
    "no JSON",
    "{}",
    JSON.stringify([joinRef, null, topic, "item_listed", { payload: { order_hash: "0x12" } }]),
    JSON.stringify([joinRef, null, topic, "item_cancelled", null]),
    JSON.stringify([joinRef, null, 7, "item_listed", {}]),
  ];
  return ways[turn % ways.length] ?? "";
}
