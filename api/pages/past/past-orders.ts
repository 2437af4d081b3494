import { listListings } from "#api/v1/orders/listings.ts";
import type { Visit } from "../kit/visit.ts";
import { isNotCovered } from "./time-bar.ts";

type ListingsQuery = Readonly<Record<string, string | undefined>> & { readonly at: string };

/**
 * Active listings of a moment. Those of partners are known of the last 30 days alone: of an earlier moment those signed
 * here, with a note that says so.
 */
export async function activeListingsAt(read: Visit["read"], query: ListingsQuery) {
  try {
    return { answer: await read(listListings, { query }), isWithoutPartners: false };
  } catch (error) {
    if (!isNotCovered(error)) throw error;
    const own = { query: { ...query, marketplace: "native" } };
    return { answer: await read(listListings, own), isWithoutPartners: true };
  }
}

export const partnersNote = ({ isWithoutPartners }: { isWithoutPartners: boolean }): string =>
  isWithoutPartners
    ? " Listings of other marketplaces are known of the last 30 days only: these are those signed here."
    : "";
