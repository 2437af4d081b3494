import type { Database } from "#projections/log/database.ts";
import { type Rejection, reject } from "#projections/domain/rejection.ts";
import { readLogHead } from "#projections/log/blocks.ts";
import { type EventId, parseEventId } from "#projections/activity/feed-events.ts";

/** Positions that a replica may be behind the database that issued an id. */
const mostBehind = 100_000n;

/** Parses an event id. One far beyond the log's end was issued by another log, and waiting for it would never end. */
export async function resolveEventId(
  db: Database,
  text: string,
): Promise<EventId | Rejection<"invalid_cursor">> {
  const place = parseEventId(text);
  if (place === undefined || place.position > (await readLogHead(db)) + mostBehind)
    return reject("invalid_cursor", "Unknown event id: start again without it");
  return place;
}
