import type { z } from "zod";
import { isRejection, reject } from "../../../projections/domain/rejection.ts";
import type { PartnerListing } from "../../../projections/facts/partner-listing.ts";
import type { Answer } from "./attempt.ts";
import { firstIssue } from "./order-schema.ts";
import type { ListingPage, PartnerFailure, Skipped } from "./partner.ts";

/** What an answer says; null for the statuses that `refusals` names. What does not parse is the partner's fault. */
export function parseAnswer<Schema extends z.ZodType>(
  answer: Answer | PartnerFailure,
  schema: Schema,
  refusals: readonly number[] = [404],
): z.output<Schema> | null | PartnerFailure {
  if (isRejection(answer)) return answer;
  if (refusals.includes(answer.status)) return null;
  if (answer.status >= 400) return reject("upstream_error", `HTTP ${answer.status}`);
  const parsed = schema.safeParse(answer.body);
  if (parsed.success) return parsed.data;
  const { path, message } = firstIssue(parsed.error);
  return reject(
    "upstream_error",
    `The answer is not what the partner publishes: ${path} ${message}`,
  );
}

/** Reads entry by entry: one that cannot be read costs no other. Paths say where in the list it stood. */
export function readEntries(
  entries: readonly unknown[],
  readEntry: (entry: unknown) => PartnerListing | Skipped,
): Pick<ListingPage, "listings" | "skipped"> {
  const listings: PartnerListing[] = [];
  const skipped: Skipped[] = [];
  for (const entry of entries) {
    const read = readEntry(entry);
    if ("reason" in read) skipped.push(read);
    else listings.push(read);
  }
  return { listings, skipped };
}
