import { sql } from "kysely";
import type { EventId } from "#projections/activity/feed-events.ts";
import type { Database } from "#projections/log/database.ts";
import { shareWhileBusy } from "../runner/share-while-busy.ts";
import type { Try } from "./send-message.ts";

/** Who disabled a webhook: its owner, an operator, three days of failures, or its receiver (410). */
export type DisabledBy = "owner" | "operator" | "failures" | "gone";

/** How far a webhook is. */
export type WebhookProgress = {
  /** All events up to it were taken, or are not for this webhook. */
  readonly place: EventId;
  /** In a row, of the event after that. */
  readonly failures: number;
  readonly failingSince: Date | null;
  readonly retryAt: Date | null;
  readonly disabledBy: DisabledBy | null;
};

/** The event of a try, for the log of deliveries. */
export type TriedEvent = { readonly id: string; readonly type: string };

type Entry = {
  readonly webhookId: number;
  /** The revision by which it was delivered. */
  readonly revision: number;
  readonly progress: WebhookProgress;
  /** Absent: events were passed over that are not for it. */
  readonly tried?: TriedEvent & Try & { readonly attempt: number };
};

export type TryRecorder = {
  /** Settles once it is stored, to whether the webhook still is as it was: of that revision, and not disabled. */
  record(entry: Entry): Promise<boolean>;
};

/** Of one statement. */
const maxEntries = 1_000;

/**
 * Stores what became of deliveries. Those that end while a statement runs share the next one, so that a webhook's next
 * event is sent only once its last one is stored, and thousands a second cost few statements.
 */
export function openTryRecorder(db: Database): TryRecorder {
  const write = async (entries: readonly Entry[]): Promise<boolean[]> => {
    const current = await storeEntries(db, entries);
    return entries.map(({ webhookId }) => current.has(webhookId));
  };
  return { record: shareWhileBusy(write, { mostWeight: maxEntries }) };
}

function rowOf({ webhookId, revision, progress, tried }: Entry) {
  const { place, failures, failingSince, retryAt, disabledBy } = progress;
  return {
    webhook_id: webhookId,
    revision,
    position: String(place.position),
    ordinal: place.ordinal,
    failures,
    failing_since: failingSince,
    retry_at: retryAt,
    disabled_by: disabledBy,
    event_id: tried?.id ?? null,
    type: tried?.type ?? null,
    at: tried?.at ?? null,
    attempt: tried?.attempt ?? null,
    status: tried?.status ?? null,
    failure: tried?.failure ?? null,
    duration_ms: tried?.durationMs ?? null,
  };
}

/**
 * Moves webhooks and logs tries, in one statement. A place only moves forward within a revision: one that another process
 * stored is as true. Rows are locked in one order, and those of a deleted webhook are left out.
 */
async function storeEntries(db: Database, entries: readonly Entry[]): Promise<Set<number>> {
  const { rows } = await sql<{ id: number }>`
    with entry as materialized (
      select * from jsonb_to_recordset(${JSON.stringify(entries.map(rowOf))}::jsonb) as e (
        webhook_id int, revision int, position bigint, ordinal int, failures int, failing_since timestamptz,
        retry_at timestamptz, disabled_by text, event_id text, type text, at timestamptz, attempt int,
        status smallint, failure text, duration_ms int)
    ),
    locked as materialized (
      select id from access.webhook where id in (select webhook_id from entry) order by id for no key update
    ),
    logged as (
      insert into access.webhook_delivery (webhook_id, event_id, type, at, attempt, status, failure, duration_ms)
      select webhook_id, event_id, type, at, attempt, status, failure, duration_ms
      from entry join locked on locked.id = entry.webhook_id where event_id is not null
    )
    update access.webhook w set
      position = e.position, ordinal = e.ordinal, failures = e.failures, failing_since = e.failing_since,
      retry_at = e.retry_at, disabled_by = e.disabled_by,
      disabled_at = case when e.disabled_by is not null then e.at end
    from entry e join locked on locked.id = e.webhook_id
    where w.id = e.webhook_id and w.revision = e.revision and w.disabled_at is null
      and (e.position, e.ordinal) >= (w.position, w.ordinal)
    returning w.id`.execute(db);
  return new Set(rows.map(({ id }) => id));
}

/** Tries kept of each webhook, and for how long. */
export const maxTries = 1_000;
export const tryDays = 7;

/** Deletes the tries of each webhook that are too old or too many. */
export async function trimTries(db: Database, now: Date): Promise<void> {
  await sql`
    delete from access.webhook_delivery where id in (
      select id from access.webhook_delivery
      where at < least(now(), ${now}::timestamptz) - make_interval(days => ${tryDays}) limit 20000)`.execute(
    db,
  );
  await sql`
    delete from access.webhook_delivery d
    using access.webhook w cross join lateral (
      select n.id from access.webhook_delivery n where n.webhook_id = w.id order by n.id desc
      offset ${maxTries} limit 1) beyond
    where d.webhook_id = w.id and d.id <= beyond.id`.execute(db);
}
