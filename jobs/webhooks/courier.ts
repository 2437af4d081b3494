import type { EventId } from "#projections/activity/feed-events.ts";
import { backOffMs, sleep } from "../runner/back-off.ts";
import { createSignal, type Signal } from "../runner/signals.ts";
import type { DueWebhook, WebhookFilter } from "./read-due.ts";
import type { TriedEvent, TryRecorder, WebhookProgress } from "./record-tries.ts";
import { isTaken, type Sender, type Try } from "./send-message.ts";
import { secretsAt, type WebhookMessage } from "./signature.ts";

/** An event as receivers get it. */
export type WebhookEvent = TriedEvent & WebhookMessage & { readonly place: EventId };

/** Events that match, in their order, and the place up to which they are complete. */
type WebhookEventPage = {
  readonly events: readonly WebhookEvent[];
  readonly reached: EventId;
};

/** The events of one chain and delivery: what is new is read once for all webhooks. */
export type WebhookEvents = {
  /** Notifies the signal of new events until the returned function is called. */
  join(news: Signal): () => void;
  /** What comes next after a place. `reached` is the place itself while nothing has come. */
  readAfter(place: EventId, filter: WebhookFilter): Promise<WebhookEventPage>;
  /** Call this when the projections have advanced. */
  notify(): void;
  /** Settles once the signal is aborted and nothing is read any more. */
  readonly stopped: Promise<void>;
};

/** When a failed delivery is tried again, and for how long. */
export type RetryTimes = {
  /** The first pause; each further one is twice as long. */
  readonly firstMs: number;
  readonly mostMs: number;
  /** After so long without success the webhook is disabled. */
  readonly giveUpMs: number;
};

export const usualRetries: RetryTimes = {
  firstMs: 1_000,
  mostMs: 3_600_000,
  giveUpMs: 3 * 86_400_000,
};

/** What all webhooks of a process share. */
export type CourierParts = {
  readonly source: WebhookEvents;
  readonly sender: Sender;
  readonly recorder: TryRecorder;
  readonly retries: RetryTimes;
  readonly now: () => Date;
};

/** Events passed over until the place behind them is stored: what a restart would read again. */
const passedPositions = 1_000n;
const gone = 410;

/** One webhook while it is delivered to: its events one after the other, each again until it is taken. */
export async function deliverTo(
  webhook: DueWebhook,
  parts: CourierParts,
  signal: AbortSignal,
): Promise<void> {
  const { source, now } = parts;
  const news = createSignal();
  const leave = source.join(news);
  let { progress } = webhook;
  let reading = progress.place;
  try {
    while (!signal.aborted) {
      await pause(progress, now(), signal);
      if (signal.aborted) return;
      const page = await source.readAfter(reading, webhook.filter);
      const { reached } = page;
      const isEnd = reached.position === reading.position && reached.ordinal === reading.ordinal;
      const taken = await deliverPage({ ...webhook, progress }, page, parts, signal);
      if (taken === null) return;
      progress = taken.progress;
      reading = taken.isWhole ? reached : progress.place;
      if (isEnd) await news.wait(Number.POSITIVE_INFINITY, signal);
    }
  } finally {
    leave();
  }
}

async function pause({ retryAt }: WebhookProgress, now: Date, signal: AbortSignal): Promise<void> {
  if (retryAt !== null && retryAt > now) await sleep(retryAt.getTime() - now.getTime(), signal);
}

/** How far it came; null: the webhook is somebody else's now, disabled or changed, or the signal is aborted. */
async function deliverPage(
  webhook: DueWebhook,
  { events, reached }: WebhookEventPage,
  parts: CourierParts,
  signal: AbortSignal,
): Promise<{ progress: WebhookProgress; isWhole: boolean } | null> {
  const { recorder } = parts;
  const { id: webhookId, revision } = webhook;
  let { progress } = webhook;
  for (const event of events) {
    const tried = await tryEvent({ ...webhook, progress }, event, parts, signal);
    if (tried === null) return null;
    progress = tried;
    // A pause may be long: the page is read again after it, and not held meanwhile.
    if (progress.failures > 0) return { progress, isWhole: false };
  }
  if (reached.position - progress.place.position >= passedPositions) {
    progress = { ...progress, place: reached };
    if (!(await recorder.record({ webhookId, revision, progress }))) return null;
  }
  return { progress, isWhole: true };
}

async function tryEvent(
  webhook: DueWebhook,
  event: WebhookEvent,
  { sender, recorder, retries, now }: CourierParts,
  signal: AbortSignal,
): Promise<WebhookProgress | null> {
  const { id, type, place } = event;
  const receiver = { url: webhook.url, secrets: secretsAt(webhook, now()) };
  const result = await sender.send(receiver, event, signal).catch((error: unknown) => {
    if (signal.aborted) return null;
    throw error;
  });
  if (result === null) return null;
  const attempt = webhook.progress.failures + 1;
  const progress = progressAfter(webhook.progress, place, result, retries);
  const { id: webhookId, revision } = webhook;
  const entry = { webhookId, revision, progress, tried: { id, type, ...result, attempt } };
  const isCurrent = await recorder.record(entry);
  return isCurrent && progress.disabledBy === null ? progress : null;
}

/** What a try makes of a webhook's progress. */
function progressAfter(
  before: WebhookProgress,
  place: EventId,
  result: Try,
  retries: RetryTimes,
): WebhookProgress {
  if (isTaken(result))
    return { place, failures: 0, failingSince: null, retryAt: null, disabledBy: null };
  const failures = before.failures + 1;
  const failingSince = before.failingSince ?? result.at;
  const endedAt = result.at.getTime() + result.durationMs;
  const pauseMs = Math.max(
    backOffMs(failures, retries),
    Math.min(result.retryAfterMs ?? 0, retries.mostMs),
  );
  const isOver = endedAt - failingSince.getTime() >= retries.giveUpMs;
  const endOfTries = isOver ? "failures" : null;
  const disabledBy = result.status === gone ? "gone" : endOfTries;
  const retryAt = new Date(endedAt + pauseMs);
  return { place: before.place, failures, failingSince, retryAt, disabledBy };
}
