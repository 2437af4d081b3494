import { sql } from "kysely";
import { pino } from "pino";
import { type CreatedWebhook, createWebhook } from "#api/webhooks/stored-webhooks.ts";
import { openWebhookEvents } from "#api/webhooks/webhook-events.ts";
import type { ChainId } from "#chains/index.ts";
import { runJobs } from "#jobs/runner/run-jobs.ts";
import { createSignal } from "#jobs/runner/signals.ts";
import type { RetryTimes } from "#jobs/webhooks/courier.ts";
import { webhookDeliveries } from "#jobs/webhooks/deliver-webhooks.ts";
import type { WebhookFilter } from "#jobs/webhooks/read-due.ts";
import type { SenderOptions } from "#jobs/webhooks/send-message.ts";
import { type EventId, idAfterPosition } from "#projections/activity/feed-events.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import type { Database } from "#projections/log/database.ts";
import { feeRecipient } from "#test/simulation/events.ts";

export const start: EventId = idAfterPosition(-1n);

/** A few milliseconds, so that many tries fit into a test; given up as ever. */
const quickRetries: RetryTimes = { firstMs: 2, mostMs: 20, giveUpMs: 3 * 86_400_000 };

type Options = {
  readonly db: Database;
  readonly sending: SenderOptions;
  readonly retries?: RetryTimes;
  readonly now?: () => Date;
};

/** The jobs of a process that delivers. */
export type Deliverer = {
  /** The projections have advanced. */
  notify(): void;
  stop(): Promise<void>;
};

export function startDelivering(options: Options): Deliverer {
  const { db, sending, retries = quickRetries, now = () => new Date() } = options;
  const ending = new AbortController();
  const projected = createSignal();
  const logger = pino({ level: "silent" });
  const jobs = webhookDeliveries({
    ...{ db, chainIds: [1, 33139] as const, feeRecipient, projected, sending, retries },
    ...{ openEvents: openWebhookEvents, now, logger },
  });
  const running = runJobs(jobs, { logger, signal: ending.signal });
  return {
    notify: projected.notify,
    async stop() {
      ending.abort();
      await running;
    },
  };
}

let people = 0;

/** Somebody with an account. */
export async function makeAccount(db: Database): Promise<number> {
  people += 1;
  const { rows } = await sql<{ id: number }>`
    insert into access.account (email, password, created_at)
    values (${`hook${people}@example.test`}, '', now()) returning id`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error("no account was made");
  return row.id;
}

type AskedWebhook = {
  readonly url: string;
  readonly chainId?: ChainId;
  readonly delivery?: "latest" | "final";
  readonly filter?: WebhookFilter;
  readonly place?: EventId;
  readonly accountId?: number;
};

export async function makeWebhook(db: Database, asked: AskedWebhook): Promise<CreatedWebhook> {
  const { url, chainId = 33139, delivery = "latest", filter = {}, place = start } = asked;
  const accountId = asked.accountId ?? (await makeAccount(db));
  const made = await createWebhook(
    { db, clock: () => null },
    { accountId, url, chainId, delivery, filter, place },
  );
  if (isRejection(made)) throw new Error(made.message);
  return made;
}
