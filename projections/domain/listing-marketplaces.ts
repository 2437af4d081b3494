import { partnerNames } from "./partners.ts";

/** Marketplaces of listings by their names on the wire. When several show one order, the first of these wins. */
export const listingMarketplaces = ["native", ...partnerNames] as const;
export type ListingMarketplace = (typeof listingMarketplaces)[number];
