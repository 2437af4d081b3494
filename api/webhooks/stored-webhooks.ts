import { sql } from "kysely";
import type { Address } from "viem";
import type { ChainId } from "#chains/index.ts";
import type { WebhookFilter } from "#jobs/webhooks/read-due.ts";
import type { DisabledBy } from "#jobs/webhooks/record-tries.ts";
import { makeWebhookSecret } from "#jobs/webhooks/signature.ts";
import type { EventId, FeedEventType } from "#projections/activity/feed-events.ts";
import { type Rejection, reject } from "#projections/domain/rejection.ts";
import type { Database } from "#projections/log/database.ts";
import { type Clock, currentTime } from "../keys/clock.ts";

export const maxWebhooks = 10;
/** For which a replaced secret signs beside the new one. */
export const secretOverlapHours = 24;

/** A webhook of an account, without its secret. */
export type Webhook = {
  readonly id: number;
  readonly accountId: number;
  readonly url: string;
  readonly chainId: ChainId;
  readonly delivery: "latest" | "final";
  readonly types: readonly FeedEventType[] | null;
  readonly collection: Address | null;
  readonly wallet: Address | null;
  readonly createdAt: Date;
  /** All events up to this place were taken, or are not for it. */
  readonly position: bigint;
  readonly ordinal: number;
  /** In a row. */
  readonly failures: number;
  readonly failingSince: Date | null;
  readonly retryAt: Date | null;
  readonly disabledAt: Date | null;
  readonly disabledBy: DisabledBy | null;
  /** Until then the secret before the present one signs too. */
  readonly formerUntil: Date | null;
};

type Storage = { readonly db: Database; readonly clock: Clock };

/** A webhook of an account; of any, for an operator, without one. */
export type WebhookSelector = { readonly id: number; readonly accountId?: number };

export type NoWebhook = Rejection<"webhook_not_found">;

export const noWebhook: NoWebhook = reject("webhook_not_found", "There is no such webhook");

type NewWebhook = {
  readonly accountId: number;
  readonly url: string;
  readonly chainId: ChainId;
  readonly delivery: "latest" | "final";
  readonly filter: WebhookFilter;
  /** Events after it are sent. */
  readonly place: EventId;
};

/** `secret` is shown once. */
export type CreatedWebhook = { readonly id: number; readonly secret: string };

/** Creates a webhook of an account, which may have ten. Concurrent requests of an account are serialized. */
export async function createWebhook(
  { db, clock }: Storage,
  { accountId, url, chainId, delivery, filter, place }: NewWebhook,
): Promise<CreatedWebhook | Rejection<"too_many_webhooks">> {
  const { type = null, collection = null, wallet = null } = filter;
  const secret = makeWebhookSecret();
  return await db.transaction().execute(async (transaction) => {
    await sql`select from access.account where id = ${accountId} for update`.execute(transaction);
    const { rows } = await sql<{ id: number }>`
      insert into access.webhook (account_id, url, chain_id, delivery, types, collection, wallet, secret, created_at,
                                  position, ordinal)
      select ${accountId}, ${url}, ${chainId}, ${delivery}, ${type}::text[], ${collection}, ${wallet}, ${secret},
             ${currentTime(clock)}, ${place.position}, ${place.ordinal}
      where (select count(*) from access.webhook where account_id = ${accountId}) < ${maxWebhooks}
      returning id`.execute(transaction);
    const [row] = rows;
    return row === undefined ? tooManyWebhooks : { id: row.id, secret };
  });
}

const tooManyWebhooks = reject(
  "too_many_webhooks",
  `An account can have at most ${maxWebhooks} webhooks. Delete one that is no longer used.`,
);

const columns = sql`
  w.id, w.account_id as "accountId", w.url, w.chain_id as "chainId", w.delivery, w.types, w.collection, w.wallet,
  w.created_at as "createdAt", w.position, w.ordinal, w.failures, w.failing_since as "failingSince",
  w.retry_at as "retryAt", w.disabled_at as "disabledAt", w.disabled_by as "disabledBy",
  w.former_until as "formerUntil"`;

const isChosen = ({ id, accountId }: WebhookSelector) =>
  accountId === undefined ? sql`w.id = ${id}` : sql`w.id = ${id} and w.account_id = ${accountId}`;

/** Those of an account, or of all, the oldest first. */
export async function readWebhooks(
  db: Database,
  accountId: number | null = null,
): Promise<Webhook[]> {
  const { rows } = await sql<Webhook>`
    select ${columns} from access.webhook w
    where ${accountId}::int is null or w.account_id = ${accountId} order by w.id`.execute(db);
  return rows;
}

export async function readWebhook(
  db: Database,
  which: WebhookSelector,
): Promise<Webhook | NoWebhook> {
  const { rows } = await sql<Webhook>`
    select ${columns} from access.webhook w where ${isChosen(which)}`.execute(db);
  return rows[0] ?? noWebhook;
}

/** A change of a webhook ends what is being delivered by its last revision; null: done. */
async function change(
  db: Database,
  which: WebhookSelector,
  assignments: ReturnType<typeof sql>,
): Promise<NoWebhook | null> {
  const { numAffectedRows } = await sql`
    update access.webhook w set revision = revision + 1, ${assignments} where ${isChosen(which)}`.execute(
    db,
  );
  return numAffectedRows === 1n ? null : noWebhook;
}

/**
 * Stops deliveries. The place is kept: events are sent from there once it is enabled again. What an operator disabled its
 * owner cannot enable.
 */
export const disableWebhook = (
  { db, clock }: Storage,
  which: WebhookSelector,
  by: DisabledBy,
): Promise<NoWebhook | null> => change(db, which, disabled(clock, by));

const disabled = (clock: Clock, by: DisabledBy) =>
  sql`disabled_at = coalesce(disabled_at, ${currentTime(clock)}),
      disabled_by = ${by === "operator" ? sql`'operator'` : sql`coalesce(disabled_by, ${by})`}`;

const asNew = sql`failures = 0, failing_since = null, retry_at = null`;

/** Delivers again, at once, from where it was. */
export const enableWebhook = (
  { db }: Pick<Storage, "db">,
  which: WebhookSelector,
): Promise<NoWebhook | null> =>
  change(db, which, sql`disabled_by = null, disabled_at = null, reported_at = null, ${asNew}`);

/** What an owner changes; null: no such filter. `place`: events after it are sent, again where they were sent before. */
export type WebhookChanges = {
  readonly url?: string | undefined;
  readonly chainId?: ChainId | undefined;
  readonly types?: readonly FeedEventType[] | null | undefined;
  readonly collection?: Address | null | undefined;
  readonly wallet?: Address | null | undefined;
  readonly place?: EventId | undefined;
  readonly isEnabled?: boolean | undefined;
};

const ofOperator = sql`disabled_by = 'operator'`;
const enabled = sql`disabled_by = case when ${ofOperator} then disabled_by end,
  disabled_at = case when ${ofOperator} then disabled_at end,
  reported_at = case when ${ofOperator} then reported_at end`;

/** Changes a webhook of an account as its owner asks. It is tried again at once. */
export async function updateWebhook(
  { db, clock }: Storage,
  which: WebhookSelector,
  { url, chainId, types, collection, wallet, place, isEnabled }: WebhookChanges,
): Promise<NoWebhook | null> {
  const assignments = [
    asNew,
    url !== undefined && sql`url = ${url}`,
    chainId !== undefined && sql`chain_id = ${chainId}`,
    types !== undefined && sql`types = ${types}::text[]`,
    collection !== undefined && sql`collection = ${collection}`,
    wallet !== undefined && sql`wallet = ${wallet}`,
    place !== undefined && sql`position = ${place.position}, ordinal = ${place.ordinal}`,
    isEnabled === true && enabled,
    isEnabled === false && disabled(clock, "owner"),
  ].filter((one) => one !== false);
  return await change(db, which, sql.join(assignments));
}

/** A new secret, with which the last one signs for a day. Done twice within it, the first of the three ends. */
export async function rotateSecret(
  { db, clock }: Storage,
  which: WebhookSelector,
): Promise<CreatedWebhook | NoWebhook> {
  const secret = makeWebhookSecret();
  const refused = await change(
    db,
    which,
    sql`former_secret = secret, secret = ${secret},
        former_until = ${currentTime(clock)} + make_interval(hours => ${secretOverlapHours})`,
  );
  return refused ?? { id: which.id, secret };
}

/** Deletes a webhook with its log. */
export async function deleteWebhook(
  db: Database,
  which: WebhookSelector,
): Promise<NoWebhook | null> {
  const { numAffectedRows } = await sql`
    delete from access.webhook w where ${isChosen(which)}`.execute(db);
  return numAffectedRows === 1n ? null : noWebhook;
}

/** A try to deliver an event. */
export type LoggedTry = {
  readonly id: bigint;
  readonly eventId: string;
  readonly type: string;
  readonly at: Date;
  /** 1: the first of its event. */
  readonly attempt: number;
  /** Of the answer; null: there was none. */
  readonly status: number | null;
  readonly failure: string | null;
  readonly durationMs: number;
};

/** The newest tries of a webhook, before the one with the id `before`. */
export async function readTries(
  db: Database,
  webhookId: number,
  { before, limit }: { readonly before: bigint | null; readonly limit: number },
): Promise<LoggedTry[]> {
  const { rows } = await sql<LoggedTry>`
    select id, event_id as "eventId", type, at, attempt, status, failure, duration_ms as "durationMs"
    from access.webhook_delivery
    where webhook_id = ${webhookId} and (${before}::bigint is null or id < ${before})
    order by id desc limit ${limit}`.execute(db);
  return rows;
}
