import { partnerNames } from "../facts/partner-listing.ts";

/** Where listings are told of, by their names on the wire. Of one order the first of these is believed. */
export const marketplaces = ["native", ...partnerNames] as const;
export type ListingMarketplace = (typeof marketplaces)[number];
