import { z } from "zod";
import { eventTypes } from "#projections/activity/feed-events.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import { delivery, eventType, filterFields } from "../feed/event.ts";
import { route } from "../v1/context.ts";
import {
  bodyChainId,
  optionalChainId,
  requiredBodyChainId,
  text,
  wallet as walletAddress,
} from "../v1/parameters.ts";
import { addWebhook, changeWebhook } from "./own-webhooks.ts";
import { NewWebhook, presentWebhook, WebhookState } from "./present-webhook.ts";
import { deleteWebhook, maxWebhooks, readWebhook, readWebhooks } from "./stored-webhooks.ts";
import {
  ownerOf,
  ownerRefusals,
  ownWebhookOf,
  webhookParams,
  webhookRefusals,
} from "./webhook-access.ts";

/** What all endpoints of webhooks have in common. */
export const ofWebhooks = {
  tag: "Webhooks",
  reads: "nothing",
  scope: "webhooks",
  isPrivate: true,
} as const;

const url = text(2_000).meta({
  description:
    "Where events are sent: an https address on the public internet, port 443 or 8443, without credentials.",
});
const types = z
  .array(eventType)
  .min(1)
  .max(eventTypes.length)
  .meta({ description: "Event types, as in `GET /v1/events`: those of the order book only here." });
const filterOf = (name: "collection" | "wallet") =>
  walletAddress.meta({ description: filterFields[name].meta()?.description });
const [collection, wallet] = [filterOf("collection"), filterOf("wallet")];

const addRefusals = {
  ...ownerRefusals,
  bad_structure: 422,
  bad_webhook_url: 422,
  invalid_cursor: 422,
  too_many_webhooks: 409,
  rate_limited: 429,
} as const;

export const createAccountWebhook = route(
  {
    ...ofWebhooks,
    method: "post",
    path: "/v1/webhooks",
    operationId: "createWebhook",
    summary: `Sends events to an address, signed as Standard Webhooks 1.0; an account may have ${maxWebhooks} webhooks`,
    body: z.strictObject({
      url,
      chainId: bodyChainId,
      delivery,
      types: types.nullish(),
      collection: collection.nullish(),
      wallet: wallet.nullish(),
      after: text(40).optional().meta({
        description:
          "An event id: events after it are sent; `0-0`: all. Without it those from now on.",
      }),
    }),
    data: NewWebhook,
    successes: { 201: "A new webhook, with its secret" },
    refuses: addRefusals,
  },
  async ({ key, body }, context) => {
    const owner = ownerOf({ key }, context);
    if (isRejection(owner)) return owner;
    const { owners, accountId } = owner;
    const { chainId, delivery, after } = body;
    const filter = {
      type: body.types ? [...new Set(body.types)] : undefined,
      collection: body.collection ?? undefined,
      wallet: body.wallet ?? undefined,
    };
    const asked = { url: body.url, chainId, delivery, filter, after };
    const made = await addWebhook(owners, accountId, asked);
    if (isRejection(made)) return made;
    const { id, secret } = made;
    const webhook = await readWebhook(owners.db, { id, accountId });
    if (isRejection(webhook)) throw new Error("a webhook that was just made is gone");
    return { data: { ...presentWebhook(webhook), secret } };
  },
);

const invalid = { invalid_parameters: 422 } as const;

export const listAccountWebhooks = route(
  {
    ...ofWebhooks,
    method: "get",
    path: "/v1/webhooks",
    operationId: "listWebhooks",
    summary: "The account's webhooks, the oldest first",
    query: z.object({ chainId: optionalChainId }),
    data: z.array(WebhookState),
    refuses: { ...ownerRefusals, ...invalid },
  },
  async (input, context) => {
    const owner = ownerOf(input, context);
    if (isRejection(owner)) return owner;
    const webhooks = await readWebhooks(owner.owners.db, owner.accountId);
    return { data: webhooks.map(presentWebhook) };
  },
);

export const getAccountWebhook = route(
  {
    ...ofWebhooks,
    method: "get",
    path: "/v1/webhooks/{webhookId}",
    operationId: "getWebhook",
    summary: "A webhook: its address, its filters, and how far it is",
    params: webhookParams,
    query: z.object({ chainId: optionalChainId }),
    data: WebhookState,
    refuses: { ...webhookRefusals, ...invalid },
  },
  async (input, context) => {
    const own = ownWebhookOf(input, context);
    if (isRejection(own)) return own;
    const webhook = await readWebhook(own.owners.db, own.which);
    return isRejection(webhook) ? webhook : { data: presentWebhook(webhook) };
  },
);

export const changeAccountWebhook = route(
  {
    ...ofWebhooks,
    method: "post",
    path: "/v1/webhooks/{webhookId}",
    operationId: "changeWebhook",
    summary:
      "Changes a webhook: its address, its filters, whether it is enabled, or, for a replay, the place from which it goes on; what is not named stays",
    params: webhookParams,
    body: z.strictObject({
      url: url.optional(),
      chainId: requiredBodyChainId.optional().meta({ description: "Whose events are sent." }),
      types: types.nullish(),
      collection: collection.nullish(),
      wallet: wallet.nullish(),
      after: text(40).optional().meta({
        description:
          "An event id: the events after it are sent, again where they were sent before; `0-0`: all.",
      }),
      isEnabled: z.boolean().optional().meta({
        description: "Enabled again, a webhook goes on from its place, `after`, at once.",
      }),
    }),
    data: WebhookState,
    refuses: {
      ...webhookRefusals,
      bad_structure: 422,
      bad_webhook_url: 422,
      invalid_cursor: 422,
      disabled_by_operator: 403,
      rate_limited: 429,
    },
  },
  async ({ body, ...input }, context) => {
    const own = ownWebhookOf(input, context);
    if (isRejection(own)) return own;
    const types = body.types && [...new Set(body.types)];
    const changed = await changeWebhook(own.owners, own.which, { ...body, types });
    return isRejection(changed) ? changed : { data: presentWebhook(changed) };
  },
);

export const deleteAccountWebhook = route(
  {
    ...ofWebhooks,
    method: "post",
    path: "/v1/webhooks/{webhookId}/delete",
    operationId: "deleteWebhook",
    summary: "Deletes a webhook with its secrets and its log",
    params: webhookParams,
    data: z.object({ webhookId: z.string() }),
    refuses: { ...webhookRefusals, bad_structure: 422 },
  },
  async (input, context) => {
    const own = ownWebhookOf(input, context);
    if (isRejection(own)) return own;
    const refused = await deleteWebhook(own.owners.db, own.which);
    return refused ?? { data: { webhookId: input.params.webhookId } };
  },
);
