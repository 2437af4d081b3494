import type { ChainId } from "#chains/index.ts";
import type { WebhookFilter } from "#jobs/webhooks/read-due.ts";
import { receiverRefusal } from "#jobs/webhooks/send-message.ts";
import { type EventId, idAfterPosition } from "#projections/activity/feed-events.ts";
import { readFeedPosition } from "#projections/activity/read-feed.ts";
import { isRejection, type Rejection, reject } from "#projections/domain/rejection.ts";
import type { Database } from "#projections/log/database.ts";
import type { WebhookOwners } from "../accounts/account-context.ts";
import type { TooMany } from "../accounts/throttle.ts";
import { resolveEventId } from "../feed/events.ts";
import {
  type CreatedWebhook,
  createWebhook,
  type NoWebhook,
  readWebhook,
  rotateSecret,
  updateWebhook,
  type Webhook,
  type WebhookChanges,
} from "./stored-webhooks.ts";

/** A webhook of an account. */
export type OwnWebhook = { readonly id: number; readonly accountId: number };

type BadUrl = Rejection<"bad_webhook_url">;
type BadPlace = Rejection<"invalid_cursor">;

/** What an account asks for. `after`: events after that one are sent; without it those from now on. */
export type AskedWebhook = {
  readonly url: string;
  readonly chainId: ChainId;
  readonly delivery: "latest" | "final";
  readonly filter: WebhookFilter;
  readonly after?: string | undefined;
};

const maxUrlLength = 2_000;

/** The address as it is requested: without its fragment. */
function parseReceiver(text: string, allowedOrigins: readonly string[]): string | BadUrl {
  const url = URL.parse(text.trim());
  if (url === null) return reject("bad_webhook_url", "The address is no URL");
  url.hash = "";
  if (url.href.length > maxUrlLength)
    return reject("bad_webhook_url", `The address is longer than ${maxUrlLength} characters`);
  const refusal = receiverRefusal(url, allowedOrigins);
  if (refusal === null) return url.href;
  const wanted = "events are sent to https addresses on the public internet";
  return reject("bad_webhook_url", `${refusal}: ${wanted}, at port 443 or 8443`);
}

/** Creates a webhook. Its secret is shown once. */
export async function addWebhook(
  context: WebhookOwners,
  accountId: number,
  asked: AskedWebhook,
): Promise<CreatedWebhook | BadUrl | BadPlace | Rejection<"too_many_webhooks"> | TooMany> {
  const { db, throttle, webhookOrigins } = context;
  const url = parseReceiver(asked.url, webhookOrigins);
  if (isRejection(url)) return url;
  const place = await placeOf(db, asked);
  if (isRejection(place)) return place;
  const refused = await throttle.countAttempts(["webhooks account", `${accountId}`]);
  if (refused !== null) return refused;
  const { chainId, delivery, filter } = asked;
  return await createWebhook(context, { accountId, url, chainId, delivery, filter, place });
}

/** Of `latest` delivery whatever the webhook's is: what became final since is sent as soon as its block is. */
async function placeOf(
  db: Database,
  { chainId, after }: Pick<AskedWebhook, "chainId" | "after">,
): Promise<EventId | BadPlace> {
  if (after !== undefined) return await resolveEventId(db, after);
  return idAfterPosition(await readFeedPosition({ db, chainIds: [chainId], delivery: "latest" }));
}

type AskedChanges = Omit<WebhookChanges, "place"> & { readonly after?: string | undefined };

/** Changes a webhook; with `after` it sends the events after that one, again where they were sent before. */
export async function changeWebhook(
  context: WebhookOwners,
  which: OwnWebhook,
  { after, ...changes }: AskedChanges,
): Promise<Webhook | NoWebhook | BadUrl | BadPlace | Rejection<"disabled_by_operator"> | TooMany> {
  const { db, webhookOrigins } = context;
  const known = await readWebhook(db, which);
  if (isRejection(known)) return known;
  if (changes.isEnabled === true && known.disabledBy === "operator") return ofOperator;
  const url = changes.url === undefined ? undefined : parseReceiver(changes.url, webhookOrigins);
  if (isRejection(url)) return url;
  const place = after === undefined ? undefined : await replayPlace(context, which, after);
  if (isRejection(place)) return place;
  const refused = await updateWebhook(context, which, { ...changes, url, place });
  return refused ?? (await readWebhook(db, which));
}

const ofOperator: Rejection<"disabled_by_operator"> = reject(
  "disabled_by_operator",
  "An operator of this service disabled the webhook: ask them",
);

async function replayPlace(
  { db, throttle }: WebhookOwners,
  { accountId }: OwnWebhook,
  after: string,
): Promise<EventId | BadPlace | TooMany> {
  const place = await resolveEventId(db, after);
  if (isRejection(place)) return place;
  return (await throttle.countAttempts(["webhooks account", `${accountId}`])) ?? place;
}

/** A new secret, with which the last one signs for a day. */
export async function replaceSecret(
  context: WebhookOwners,
  which: OwnWebhook,
): Promise<CreatedWebhook | NoWebhook | TooMany> {
  const { throttle } = context;
  const refused = await throttle.countAttempts(["webhooks account", `${which.accountId}`]);
  return refused ?? (await rotateSecret(context, which));
}
