import { z } from "zod";
import { maxTries, tryDays } from "#jobs/webhooks/record-tries.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import { cutNumbered, numberedFields, numberedMeta } from "../http/page.ts";
import { route } from "../v1/context.ts";
import { optionalChainId } from "../v1/parameters.ts";
import { ofWebhooks } from "./manage-webhooks.ts";
import { replaceSecret } from "./own-webhooks.ts";
import { NewSecret, presentTry, WebhookDelivery } from "./present-webhook.ts";
import { readTries, readWebhook } from "./stored-webhooks.ts";
import { sendTest } from "./test-webhook.ts";
import { ownWebhookOf, webhookParams, webhookRefusals } from "./webhook-access.ts";

const useRefusals = { ...webhookRefusals, bad_structure: 422, rate_limited: 429 } as const;

export const rotateWebhookSecret = route(
  {
    ...ofWebhooks,
    method: "post",
    path: "/v1/webhooks/{webhookId}/rotate-secret",
    operationId: "rotateWebhookSecret",
    summary:
      "A new secret; the last one signs beside it for a day. Done twice within it, the first of the three ends",
    params: webhookParams,
    data: NewSecret,
    successes: { 201: "A new secret" },
    refuses: useRefusals,
  },
  async (input, context) => {
    const own = ownWebhookOf(input, context);
    if (isRejection(own)) return own;
    const made = await replaceSecret(own.owners, own.which);
    if (isRejection(made)) return made;
    const webhook = await readWebhook(own.owners.db, own.which);
    if (isRejection(webhook)) return webhook;
    const { formerUntil } = webhook;
    if (formerUntil === null) throw new Error("a replaced secret has no end");
    const { id, secret } = made;
    const formerSecretUntil = formerUntil.toISOString();
    return { data: { webhookId: String(id), secret, formerSecretUntil } };
  },
);

export const testAccountWebhook = route(
  {
    ...ofWebhooks,
    method: "post",
    path: "/v1/webhooks/{webhookId}/test",
    operationId: "testWebhook",
    loadClass: "lists",
    summary:
      "Sends a message of type `test` at once, signed as deliveries are, and tells how it was answered, within ten seconds",
    params: webhookParams,
    data: WebhookDelivery,
    refuses: useRefusals,
  },
  async (input, context) => {
    const own = ownWebhookOf(input, context);
    if (isRejection(own)) return own;
    const tried = await sendTest(own.owners, own.which);
    return isRejection(tried) ? tried : { data: presentTry(tried) };
  },
);

export const listWebhookDeliveries = route(
  {
    ...ofWebhooks,
    method: "get",
    path: "/v1/webhooks/{webhookId}/deliveries",
    operationId: "listWebhookDeliveries",
    summary: `The newest ${maxTries.toLocaleString("en")} tries of ${tryDays} days with status and latency, newest first`,
    params: webhookParams,
    query: z.object({ chainId: optionalChainId, ...numberedFields }),
    data: z.array(WebhookDelivery),
    meta: numberedMeta.meta({ id: "WebhookDeliveryMeta" }),
    refuses: { ...webhookRefusals, invalid_parameters: 422 },
  },
  async ({ query: { before = null, per_page }, ...input }, context) => {
    const own = ownWebhookOf(input, context);
    if (isRejection(own)) return own;
    const webhook = await readWebhook(own.owners.db, own.which);
    if (isRejection(webhook)) return webhook;
    const rows = await readTries(own.owners.db, webhook.id, { before, limit: per_page + 1 });
    const { shown, next } = cutNumbered(rows, per_page);
    return { data: shown.map(presentTry), meta: { per_page, next } };
  },
);
