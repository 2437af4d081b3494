import type { Database } from "../../../projections/database.ts";
import { type Rejection, reject } from "../../../projections/domain/rejection.ts";
import { readDetachedPosition } from "../../../projections/log/archives/detached-border.ts";
import { readLogHead } from "../../../projections/log/read-log-head.ts";
import {
  type EventId,
  formatEventId,
  idAfterPosition,
  parseEventId,
} from "../../../projections/reads/feed/event.ts";

/** Positions that a replica may be behind the database that issued an id. */
const mostBehind = 100_000n;

/**
 * Parses an event id. One far beyond the log's end was issued by another log, and waiting for it would never end. Behind one
 * that is archived some events would be left out.
 */
export async function resolveEventId(
  db: Database,
  text: string,
): Promise<EventId | Rejection<"invalid_cursor" | "events_archived">> {
  const place = parseEventId(text);
  if (place === undefined || place.position > (await readLogHead(db)) + mostBehind)
    return reject("invalid_cursor", "Unknown event id: start again without it");
  const archived = await readDetachedPosition(db);
  if (archived === 0n || place.position > archived) return place;
  const first = formatEventId(idAfterPosition(archived));
  return reject(
    "events_archived",
    `Events before ${first} are archived: start with after=${first}`,
  );
}
