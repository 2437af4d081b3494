import { idAfterPosition, isAfter } from "../../../projections/reads/feed/event.ts";
import { type FeedSource, readFeed } from "../../../projections/reads/feed/read-feed.ts";
import type { FrameEvent } from "./frame.ts";
import type { ReplayBuffer } from "./replay-buffer.ts";
import type { Semaphore } from "./semaphore.ts";
import { type Batch, batchOf, eventIdOf, type Subscriber } from "./subscriber.ts";

/** Size of one part. */
const partPositions = 1_000;
const partBytes = 256 * 1_024;

/**
 * Sends a subscriber everything up to the end of the replay buffer, at its own pace: older events are read from the
 * log. `onCaughtUp` is called synchronously when nothing is left.
 */
export async function catchUp(
  subscriber: Subscriber,
  buffer: ReplayBuffer,
  {
    source,
    frame,
    semaphore,
    onCaughtUp,
  }: { source: FeedSource; frame: FrameEvent; semaphore: Semaphore; onCaughtUp: () => void },
): Promise<void> {
  while (!subscriber.connection.isClosed) {
    const next = buffer.after(subscriber.cursor, partBytes);
    const last = next?.at(-1);
    if (next === undefined)
      subscriber.send(await semaphore(() => readOlder(subscriber, buffer, source, frame)));
    else if (last === undefined) {
      onCaughtUp();
      return;
    } else subscriber.send(batchOf(next, eventIdOf(last.event)));
    await subscriber.connection.drained();
  }
}

async function readOlder(
  subscriber: Subscriber,
  { upTo }: ReplayBuffer,
  source: FeedSource,
  frame: FrameEvent,
): Promise<Batch> {
  const { cursor, matches } = subscriber;
  const after = cursor.position - 1n;
  const part = await readFeed(source, { after, upTo, most: partPositions });
  const chosen = part.events.filter((event) => isAfter(event, cursor) && matches(event));
  return batchOf(chosen.map(frame), idAfterPosition(part.reached));
}
