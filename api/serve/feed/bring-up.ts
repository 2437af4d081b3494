import { isAfter, placeBehind } from "../../../projections/reads/feed/event.ts";
import { type FeedSource, readFeed } from "../../../projections/reads/feed/read-feed.ts";
import { frameEvent } from "./frame.ts";
import type { Gate } from "./gate.ts";
import { type Batch, batchOf, placeOf, type Reader } from "./reader.ts";
import type { Tape } from "./tape.ts";

/** What a reader is given at a time. */
const partPositions = 1_000;
const partBytes = 256 * 1_024;

/**
 * Brings a reader to the tape's end, at its own pace: what the tape no longer holds is read from the log. `onArrived`
 * is called in the moment in which nothing is left.
 */
export async function bringUp(
  reader: Reader,
  tape: Tape,
  { source, gate, onArrived }: { source: FeedSource; gate: Gate; onArrived: () => void },
): Promise<void> {
  while (!reader.outlet.isClosed) {
    const next = tape.behind(reader.place, partBytes);
    const last = next?.at(-1);
    if (next === undefined) reader.take(await gate(() => readBehind(reader, tape, source)));
    else if (last === undefined) {
      onArrived();
      return;
    } else reader.take(batchOf(next, placeOf(last.event)));
    await reader.outlet.drained();
  }
}

async function readBehind(reader: Reader, { told }: Tape, source: FeedSource): Promise<Batch> {
  const { place, wants } = reader;
  const after = place.position - 1n;
  const part = await readFeed(source, { after, upTo: told, most: partPositions });
  const chosen = part.events.filter((event) => isAfter(event, place) && wants(event));
  return batchOf(chosen.map(frameEvent), placeBehind(part.reached));
}
