import { z } from "zod";
import { isTaken } from "#jobs/webhooks/send-message.ts";
import { formatEventId } from "#projections/activity/feed-events.ts";
import { eventType } from "../feed/event.ts";
import { address, chainIdValue, time } from "../v1/wire.ts";
import { type LoggedTry, secretOverlapHours, type Webhook } from "./stored-webhooks.ts";

const webhookId = z.string().meta({ description: "Number of the webhook." });

const fields = {
  webhookId,
  url: z.string(),
  chainId: chainIdValue,
  delivery: z.enum(["latest", "final"]),
  types: z.array(eventType).nullable().meta({
    description: "null: all but those of the order book, which are sent where they are named.",
  }),
  collection: address.nullable().meta({ description: "null: of all." }),
  wallet: address.nullable().meta({ description: "null: of all." }),
  after: z.string().meta({
    description: "An event id: all events up to it were taken, or are not for this webhook.",
  }),
  createdAt: time,
  isEnabled: z.boolean(),
  disabledBy: z.enum(["owner", "operator", "failures", "gone"]).nullable().meta({
    description:
      "Who disabled it: its owner, an operator, three days without success, or the receiver, which answered 410. null: it is enabled.",
  }),
  disabledAt: time.nullable(),
  failures: z
    .int()
    .min(0)
    .meta({ description: "In a row, of the event after `after`; 0: the last one was taken." }),
  failingSince: time.nullable(),
  retryAt: time.nullable().meta({ description: "When that event is sent again." }),
  formerSecretUntil: time
    .nullable()
    .meta({ description: "Until then the secret before the present one signs too." }),
};

export const WebhookState = z.object(fields).meta({ id: "Webhook" });

const secret = z.string().meta({
  description: "`whsec_` and base64, as libraries of Standard Webhooks take it. Shown once.",
});

export const NewWebhook = z.object({ ...fields, secret }).meta({ id: "NewWebhook" });

export const NewSecret = z
  .object({
    webhookId,
    secret,
    formerSecretUntil: time.meta({
      description: `Deliveries are signed with both until then, ${secretOverlapHours} hours from now.`,
    }),
  })
  .meta({ id: "NewWebhookSecret" });

export const WebhookDelivery = z
  .object({
    deliveryId: z.string(),
    eventId: z.string().meta({ description: "`webhook-id` of the request." }),
    type: z.string().meta({ description: "Of the event; `test` of a test." }),
    at: time,
    attempt: z.int().min(1).meta({ description: "1: the first of its event." }),
    isTaken: z.boolean().meta({ description: "It was answered with 2xx." }),
    status: z.int().nullable().meta({ description: "Of the answer; null: there was none." }),
    failure: z.string().nullable().meta({ description: "Why there was no answer." }),
    durationMs: z.int().min(0),
  })
  .meta({ id: "WebhookDelivery" });

const timeOf = (at: Date | null) => at?.toISOString() ?? null;

export function presentWebhook(webhook: Webhook): z.output<typeof WebhookState> {
  const { id, url, chainId, delivery, types, collection, wallet, disabledBy, failures } = webhook;
  return {
    webhookId: String(id),
    ...{ url, chainId, delivery, collection, wallet },
    types: types && [...types],
    after: formatEventId(webhook),
    createdAt: webhook.createdAt.toISOString(),
    isEnabled: webhook.disabledAt === null,
    disabledBy,
    disabledAt: timeOf(webhook.disabledAt),
    failures,
    failingSince: timeOf(webhook.failingSince),
    retryAt: timeOf(webhook.retryAt),
    formerSecretUntil: timeOf(webhook.formerUntil),
  };
}

export function presentTry(tried: LoggedTry): z.output<typeof WebhookDelivery> {
  const { id, eventId, type, at, attempt, status, failure, durationMs } = tried;
  return {
    deliveryId: String(id),
    ...{ eventId, type, attempt, status, failure, durationMs },
    at: at.toISOString(),
    isTaken: isTaken(tried),
  };
}
