import type { Database } from "../../../projections/database.ts";
import { type Rejection, reject } from "../../../projections/domain/rejection.ts";
import { type EventId, parseEventId } from "../../../projections/reads/feed/event.ts";
import { readLogHead } from "../../../projections/reads/feed/read-told-position.ts";

/** Positions that a database may be behind the one that an id came from. */
const mostBehind = 100_000n;

/** The place that an id names. One far beyond the log's end is another log's: who waited for it would wait for ever. */
export async function placeIn(
  db: Database,
  text: string,
): Promise<EventId | Rejection<"invalid_cursor">> {
  const place = parseEventId(text);
  if (place !== undefined && place.position <= (await readLogHead(db)) + mostBehind) return place;
  return reject("invalid_cursor", "This is no id of an event here: begin anew without it");
}
