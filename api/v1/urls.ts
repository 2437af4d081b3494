import { z } from "zod";

/** Pages of the site; the path follows the API's. */
export type Site = { siteUrl: string; chainId: number };

export const collectionUrls = z.object({ collection: z.url() });
export const tokenUrls = z.object({ collection: z.url(), token: z.url() });
export const saleUrls = z.object({ collection: z.url(), token: z.url(), sale: z.url() });

export const listingUrls = tokenUrls.extend({ listing: z.url(), maker: z.url() });
export const bidUrls = collectionUrls.extend({
  token: z.url().optional().meta({ description: "Absent from bids on a whole collection." }),
  bid: z.url(),
  maker: z.url(),
});

export function presentCollectionUrls(site: Site, collection: string) {
  return { collection: page(site, "collections", collection) };
}

export function presentTokenUrls(
  site: Site,
  collection: string,
  contract: string,
  tokenId: bigint,
) {
  return {
    ...presentCollectionUrls(site, collection),
    token: page(site, "collections", contract, "tokens", String(tokenId)),
  };
}

export function presentSaleUrl(site: Site, saleId: string): string {
  return page(site, "sales", saleId);
}

export function presentListingUrl(site: Site, askId: string): string {
  return page(site, "listings", askId);
}

export function presentBidUrl(site: Site, bidId: string): string {
  return page(site, "bids", bidId);
}

export function presentMakerUrl(site: Site, maker: string): string {
  return page(site, "wallets", maker);
}

function page({ siteUrl, chainId }: Site, ...words: string[]): string {
  return `${siteUrl}/${words.map(encodeURIComponent).join("/")}?chainId=${chainId}`;
}
