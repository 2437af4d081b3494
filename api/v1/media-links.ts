import { z } from "zod";
import { gatewayUrl, isInline, locate } from "#projections/domain/metadata/location.ts";
import { parseMedia } from "#projections/domain/metadata/media.ts";

/** Where links to media point. */
export type MediaLinks = {
  /** Public address of the API, which serves media that are stored inline. */
  readonly baseUrl: string;
  /** Gateways that a browser can reach, without a trailing slash. */
  readonly ipfsGateway: string;
  readonly arweaveGateway: string;
};

/** Gateways that anybody may use. */
export const defaultGateways = {
  ipfsGateway: "https://ipfs.io",
  arweaveGateway: "https://arweave.net",
} as const;

/** `isList`: rows of lists link to documents that are stored inline instead of repeating them. */
export type MediaView = MediaLinks & { readonly isList: boolean };

/** A URI as the metadata has it, and the URL that a browser loads. */
type PresentedMedia = { uri: string | null; url: string | null };

export const mediaUri = z.string().nullable().meta({
  id: "MediaUri",
  description: "As in the metadata; in lists a link to this API in place of a `data:` document.",
});
export const mediaUrl = z.string().nullable().meta({
  id: "MediaUrl",
  description:
    "The same over http(s): of `ipfs://` and `ar://` at a gateway, of a `data:` document at this API; null: none.",
});

/** `path`: where this API serves the document if it is stored inline. */
export function presentMedia(uri: string | null, path: string, view: MediaView): PresentedMedia {
  if (uri === null) return { uri, url: null };
  if (!isInline(uri)) {
    // Checked again: the log keeps what an earlier version accepted.
    return parseMedia(uri) === null ? { uri: null, url: null } : { uri, url: linkTo(uri, view) };
  }
  const url = view.baseUrl + path;
  return { uri: view.isList ? url : uri, url };
}

export function tokenPath(chainId: number, contract: string, tokenId: bigint, part: string) {
  return `/v1/collections/${contract}/tokens/${tokenId}/${part}?chainId=${chainId}`;
}

export function collectionPath(chainId: number, address: string, part: string): string {
  return `/v1/collections/${address}/${part}?chainId=${chainId}`;
}

/** Content is linked behind our gateway, also where the metadata names another, which may be closed by now. */
function linkTo(uri: string, { ipfsGateway, arweaveGateway }: MediaLinks): string | null {
  const location = locate(uri);
  if (typeof location === "string" || location.kind === "data") return null;
  const content = location.kind === "web" ? location.content : { ...location, isSure: true };
  if (content?.isSure !== true) return uri;
  const gateway = content.kind === "ipfs" ? ipfsGateway : arweaveGateway;
  return gatewayUrl(gateway, content.path)?.href ?? null;
}
