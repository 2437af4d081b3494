import { idAfterPosition, isAfter } from "#projections/activity/feed-events.ts";
import { awaitPart, type PartReader } from "./feed-snapshots.ts";
import type { FrameEvent } from "./frame.ts";
import type { ReplayBuffer } from "./replay-buffer.ts";
import type { Semaphore } from "./semaphore.ts";
import { type Batch, batchOf, eventIdOf, type Subscriber } from "./subscriber.ts";

type Reading = PartReader & { frame: FrameEvent };

/** Size of one part from the buffer. */
const partBytes = 256 * 1_024;

/**
 * Sends a subscriber everything up to the end of the replay buffer, at its own pace: older events are read from the
 * log. `onCaughtUp` is called synchronously when nothing is left.
 */
export async function catchUp(
  subscriber: Subscriber,
  buffer: ReplayBuffer,
  { onCaughtUp, semaphore, ...reading }: Reading & { semaphore: Semaphore; onCaughtUp: () => void },
): Promise<void> {
  while (!subscriber.connection.isClosed) {
    const next = buffer.after(subscriber.cursor, partBytes);
    const last = next?.at(-1);
    if (next === undefined)
      subscriber.send(await semaphore(() => readOlder(subscriber, buffer, reading)));
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
  { frame, ...reader }: Reading,
): Promise<Batch> {
  const { cursor, matches } = subscriber;
  const after = cursor.position - 1n;
  const part = await awaitPart(reader, after, upTo);
  const chosen = part.events.filter((event) => isAfter(event, cursor) && matches(event));
  return batchOf(chosen.map(frame), idAfterPosition(part.reached));
}
