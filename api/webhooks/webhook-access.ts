import { z } from "zod";
import { isRejection, type Rejection, reject } from "#projections/domain/rejection.ts";
import type { WebhookOwners } from "../accounts/account-context.ts";
import type { UsedKey } from "../http/limit.ts";
import type { Context } from "../v1/context.ts";
import type { OwnWebhook } from "./own-webhooks.ts";
import { type NoWebhook, noWebhook } from "./stored-webhooks.ts";

/** Codes of every endpoint of webhooks. */
export const ownerRefusals = {
  unsupported_chain: 422,
  key_required: 401,
  account_required: 403,
} as const;

/** The same of those about one webhook. */
export const webhookRefusals = { ...ownerRefusals, webhook_not_found: 404 } as const;

type NoOwner = Rejection<"key_required" | "account_required">;

const noKey = reject(
  "key_required",
  "Webhooks belong to an account: send one of its keys in the header X-API-Key",
);
const noAccount = reject(
  "account_required",
  "This key belongs to no account: webhooks need a permanent key, which accounts create at /developers",
);

/** The account of a request's key, and what its webhooks are managed with. */
export function ownerOf(
  { key }: { readonly key: UsedKey | null },
  { webhooks }: Context,
): { readonly owners: WebhookOwners; readonly accountId: number } | NoOwner {
  if (key === null || webhooks === undefined) return noKey;
  const { accountId } = key;
  return accountId === null ? noAccount : { owners: webhooks, accountId };
}

export const webhookParams = z.object({
  webhookId: z.string().max(100).meta({ description: "`webhookId` of the webhook." }),
});

type AskedInput = {
  readonly key: UsedKey | null;
  readonly params: z.output<typeof webhookParams>;
};

/** The webhook of a request, if it could be one of the account's. */
export function ownWebhookOf(
  { key, params }: AskedInput,
  context: Context,
): { readonly owners: WebhookOwners; readonly which: OwnWebhook } | NoOwner | NoWebhook {
  const owner = ownerOf({ key }, context);
  if (isRejection(owner)) return owner;
  const { owners, accountId } = owner;
  const id = parseWebhookId(params.webhookId);
  return id === null ? noWebhook : { owners, which: { id, accountId } };
}

/** Null: no webhook has such a number. */
const parseWebhookId = (text: string): number | null =>
  /^[1-9]\d{0,8}$/.test(text) ? Number(text) : null;
