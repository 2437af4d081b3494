import type { z } from "zod";
import { isRejection, reject } from "#projections/domain/rejection.ts";
import type { PartnerListing } from "#projections/partners/partner-listing.ts";
import type { ListingPage, PartnerFailure, SkippedEntry } from "./partner.ts";
import { firstIssue } from "./partner-order-schema.ts";
import type { PartnerResponse } from "./send-request.ts";

/** The parsed body; null for the statuses in `refusals`. A body that does not match the schema is a partner failure. */
export function parseResponse<Schema extends z.ZodType>(
  response: PartnerResponse | PartnerFailure,
  schema: Schema,
  refusals: readonly number[] = [404],
): z.output<Schema> | null | PartnerFailure {
  if (isRejection(response)) return response;
  if (refusals.includes(response.status)) return null;
  if (response.status >= 400) return reject("upstream_error", `HTTP ${response.status}`);
  const parsed = schema.safeParse(response.body);
  if (parsed.success) return parsed.data;
  const { path, message } = firstIssue(parsed.error);
  return reject("upstream_error", `Unexpected response: ${path} ${message}`);
}

/** Parses entry by entry, so that an invalid one does not affect the others. */
export function parseEntries(
  entries: readonly unknown[],
  parseEntry: (entry: unknown) => PartnerListing | SkippedEntry,
): Pick<ListingPage, "listings" | "skipped"> {
  const listings: PartnerListing[] = [];
  const skipped: SkippedEntry[] = [];
  for (const entry of entries) {
    const parsed = parseEntry(entry);
    if ("reason" in parsed) skipped.push(parsed);
    else listings.push(parsed);
  }
  return { listings, skipped };
}
