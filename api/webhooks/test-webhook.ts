import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { openSender, type Try } from "#jobs/webhooks/send-message.ts";
import { secretsAt, type WebhookMessage, type WebhookSecrets } from "#jobs/webhooks/signature.ts";
import type { Database } from "#projections/log/database.ts";
import type { WebhookOwners } from "../accounts/account-context.ts";
import type { TooMany } from "../accounts/throttle.ts";
import type { OwnWebhook } from "./own-webhooks.ts";
import { type LoggedTry, type NoWebhook, noWebhook } from "./stored-webhooks.ts";

/** Shorter than a delivery's: somebody waits for it. */
const timeoutMs = 10_000;

/**
 * Sends a message of type `test` at once, beside the deliveries, also where the webhook is disabled, and logs it with them.
 * Nothing else changes by its outcome.
 */
export async function sendTest(
  { db, throttle, webhookOrigins }: WebhookOwners,
  { id, accountId }: OwnWebhook,
): Promise<LoggedTry | NoWebhook | TooMany> {
  const refused = await throttle.countAttempts(["webhooks account", `${accountId}`]);
  if (refused !== null) return refused;
  const { rows } = await sql<WebhookSecrets & { url: string }>`
    select url, secret, former_secret as "formerSecret", former_until as "formerUntil"
    from access.webhook where id = ${id} and account_id = ${accountId}`.execute(db);
  const [webhook] = rows;
  if (webhook === undefined) return noWebhook;
  const at = new Date();
  const message = testMessage(id, at);
  const sender = openSender({ timeoutMs, allowedOrigins: webhookOrigins });
  try {
    const receiver = { url: webhook.url, secrets: secretsAt(webhook, at) };
    const result = await sender.send(receiver, message, new AbortController().signal);
    return await logTest(db, id, message, result);
  } finally {
    await sender.close();
  }
}

const testType = "test";

/** Its `data` is no event: a receiver that looks for events it does not know leaves it aside. */
function testMessage(webhookId: number, at: Date): WebhookMessage {
  const id = `${testType}-${randomUUID()}`;
  const about = { type: testType, timestamp: at.toISOString() };
  const data = { id, ...about, webhookId: String(webhookId) };
  return { id, body: Buffer.from(JSON.stringify({ ...about, data })) };
}

async function logTest(
  db: Database,
  webhookId: number,
  { id: eventId }: WebhookMessage,
  { at, status, failure, durationMs }: Try,
): Promise<LoggedTry | NoWebhook> {
  const { rows } = await sql<{ id: bigint }>`
    insert into access.webhook_delivery (webhook_id, event_id, type, at, attempt, status, failure, duration_ms)
    select id, ${eventId}, ${testType}, ${at}::timestamptz, 1, ${status}::smallint, ${failure}, ${durationMs}::int
    from access.webhook where id = ${webhookId}
    returning id`.execute(db);
  const [row] = rows;
  if (row === undefined) return noWebhook;
  return { id: row.id, eventId, type: testType, at, attempt: 1, status, failure, durationMs };
}
