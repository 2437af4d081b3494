import { cutNumbered } from "#api/http/page.ts";
import { changeWebhook, type OwnWebhook, replaceSecret } from "#api/webhooks/own-webhooks.ts";
import {
  type CreatedWebhook,
  deleteWebhook,
  type LoggedTry,
  readTries,
  readWebhook,
  secretOverlapHours,
  type Webhook,
} from "#api/webhooks/stored-webhooks.ts";
import { sendTest } from "#api/webhooks/test-webhook.ts";
import { type ChainId, chainById } from "#chains/index.ts";
import { maxTries, tryDays } from "#jobs/webhooks/record-tries.ts";
import { isTaken } from "#jobs/webhooks/send-message.ts";
import { formatEventId } from "#projections/activity/feed-events.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import { type Html, html } from "../kit/html.ts";
import { alert, buttonForm, confirmForm, field, notice, secondTag, timeTag } from "./form.ts";
import { beforeOf, rowIdOf } from "./key.ts";
import {
  type Developers,
  type DeveloperVisit,
  developerLayout,
  type Reply,
  refusalPage,
  refusalReply,
  type SignedIn,
  type SignedInHandler,
} from "./layout.ts";
import {
  parseWebhook,
  type TypedWebhook,
  typedOf,
  typedWebhook,
  type WrongWebhook,
  webhookFilterFields,
  webhookReceiverFields,
} from "./webhook-form.ts";
import { eventsInWords, webhookSecret, webhookState } from "./webhooks.ts";

const pageSize = 50;

const done: ReadonlyMap<string, string> = new Map([
  ["enabled", "The webhook is enabled: it goes on from where it was."],
  ["disabled", "The webhook is disabled. Its place is kept."],
  ["changed", "The webhook is changed: what comes next is sent so."],
  ["replay", "Events after that one are being sent again."],
]);

export const showWebhook: SignedInHandler = (developers, visit, signedIn) =>
  webhookReply(developers, visit, signedIn, { done: done.get(visit.parameter("done")) });

export const submitWebhookTest: SignedInHandler = async (developers, visit, signedIn) => {
  const tried = await sendTest(developers.accounts, whichOf(visit, signedIn));
  if (isRejection(tried)) return refused(developers, visit, signedIn, tried);
  const { status, failure, durationMs } = tried;
  const how = status === null ? `was not answered: ${failure}` : `was answered with ${status}`;
  const message = `The test ${how}, after ${durationMs} ms.`;
  return webhookReply(
    developers,
    visit,
    signedIn,
    isTaken(tried) ? { done: message } : { message },
  );
};

export const submitWebhookReplay: SignedInHandler = async (developers, visit, signedIn) => {
  const after = visit.field("after").trim();
  const changed = await changeWebhook(developers.accounts, whichOf(visit, signedIn), { after });
  if (!isRejection(changed)) return doneAt(visit, "replay");
  const badAfter = "This is no id of an event, such as 8127-1";
  const state = changed.rejected === "invalid_cursor" ? { after, badAfter } : undefined;
  return refused(developers, visit, signedIn, changed, state);
};

export const submitWebhookChange: SignedInHandler = async (developers, visit, signedIn) => {
  const typed = typedWebhook(visit);
  const asked = parseWebhook(typed, developers.chains);
  if ("wrong" in asked) {
    const reply = await webhookReply(developers, visit, signedIn, { typed, wrong: asked.wrong });
    return { status: 422, ...reply };
  }
  const { url, chainId, filter } = asked.webhook;
  const { type: types = null, collection = null, wallet = null } = filter;
  const changes = { url, chainId, types, collection, wallet };
  const changed = await changeWebhook(developers.accounts, whichOf(visit, signedIn), changes);
  if (!isRejection(changed)) return doneAt(visit, "changed");
  const { rejected, message } = changed;
  const state = rejected === "bad_webhook_url" ? { wrong: { url: message } } : { message };
  return refused(developers, visit, signedIn, changed, { typed, ...state });
};

const submitState =
  (isEnabled: boolean): SignedInHandler =>
  async (developers, visit, signedIn) => {
    const which = whichOf(visit, signedIn);
    const changed = await changeWebhook(developers.accounts, which, { isEnabled });
    if (isRejection(changed)) return refused(developers, visit, signedIn, changed);
    return doneAt(visit, isEnabled ? "enabled" : "disabled");
  };

export const submitWebhookEnabling = submitState(true);
export const submitWebhookDisabling = submitState(false);

export const submitWebhookRotation: SignedInHandler = async (developers, visit, signedIn) => {
  const made = await replaceSecret(developers.accounts, whichOf(visit, signedIn));
  if (isRejection(made)) return refused(developers, visit, signedIn, made);
  return webhookReply(developers, visit, signedIn, { made });
};

export const submitWebhookDeletion: SignedInHandler = async (developers, visit, signedIn) => {
  const noWebhook = await deleteWebhook(developers.accounts.db, whichOf(visit, signedIn));
  if (noWebhook !== null) return refused(developers, visit, signedIn, noWebhook);
  return { to: "/developers/webhooks?done=deleted" };
};

const whichOf = (visit: DeveloperVisit, { session }: SignedIn): OwnWebhook => ({
  id: rowIdOf(visit),
  accountId: session.accountId,
});

const doneAt = (visit: DeveloperVisit, what: string): Reply => ({
  to: `/developers/webhooks/${rowIdOf(visit)}?done=${what}`,
});

type WebhookPageState = {
  readonly done?: string | undefined;
  readonly message?: string;
  /** A place that was refused, and why. */
  readonly after?: string;
  readonly badAfter?: string;
  /** A change that was refused, and why. */
  readonly typed?: TypedWebhook;
  readonly wrong?: WrongWebhook;
  /** The new secret, which is shown only once. */
  readonly made?: CreatedWebhook;
};

/** The page of the webhook that a request names, or that there is none. */
async function webhookReply(
  { accounts: { db }, chains }: Developers,
  visit: DeveloperVisit,
  signedIn: SignedIn,
  state: WebhookPageState,
): Promise<Reply & { readonly page: Html }> {
  const webhook = await readWebhook(db, whichOf(visit, signedIn));
  if (isRejection(webhook)) {
    const page = refusalPage("No such webhook", "It does not exist, or it was deleted.");
    return { page, status: 404 };
  }
  const slice = { before: beforeOf(visit), limit: pageSize + 1 };
  const tries = await readTries(db, webhook.id, slice);
  return { page: webhookPage(webhook, { tries, chains }, signedIn, state) };
}

type RefusedAction = Parameters<typeof refusalReply>[0];

async function refused(
  developers: Developers,
  visit: DeveloperVisit,
  signedIn: SignedIn,
  rejection: RefusedAction,
  state: WebhookPageState = { message: rejection.message },
): Promise<Reply> {
  const { page } = await webhookReply(developers, visit, signedIn, state);
  return refusalReply(rejection, page);
}

function webhookPage(
  webhook: Webhook,
  { tries, chains }: { tries: readonly LoggedTry[]; chains: readonly ChainId[] },
  signedIn: SignedIn,
  state: WebhookPageState,
): Html {
  const { id } = webhook;
  const { done, message, made } = state;
  const { shown, next } = cutNumbered(tries, pageSize);
  const kept = `The last one signs beside it for ${secretOverlapHours} hours.`;
  const body = html`<h1>Webhook ${id}</h1>
${notice(done)}${alert(message)}
<section aria-labelledby="terms">
<h2 id="terms">What is sent</h2>
${made !== undefined && webhookSecret(made, kept)}
${webhookTerms(webhook)}
<div class="actions">${actions(webhook, signedIn)}</div>
</section>
${changeSection(webhook, chains, signedIn, state)}
${replaySection(webhook, signedIn, state)}
<section aria-labelledby="deliveries">
<h2 id="deliveries">Deliveries</h2>
<p>The newest ${maxTries} tries of ${tryDays} days. Times are UTC.</p>
${shown.length === 0 ? html`<p class="empty">Nothing was sent yet.</p>` : tryTable(shown)}
${next !== null && html`<p class="below"><a href="/developers/webhooks/${id}?before=${next}">Older ones</a></p>`}
</section>
<p class="below"><a href="/developers/webhooks">Back to the webhooks</a></p>`;
  const isFormResult =
    Object.values(state).some((part) => part !== undefined) && done === undefined;
  return developerLayout({
    title: `Webhook ${id}`,
    body,
    signedIn,
    current: "webhooks",
    isFormResult,
  });
}

function webhookTerms(webhook: Webhook): Html {
  const { url, chainId, collection, wallet, createdAt, formerUntil } = webhook;
  const filter = (address: string | null) =>
    address === null ? "all" : html`<code>${address}</code>`;
  return html`<dl class="terms">
<dt>Address</dt><dd><code>${url}</code></dd>
<dt>Chain</dt><dd>${chainById(chainId).name}</dd>
<dt>Events</dt><dd>${eventsInWords(webhook)}</dd>
<dt>Contract</dt><dd>${filter(collection)}</dd>
<dt>Wallet</dt><dd>${filter(wallet)}</dd>
<dt>State</dt><dd>${webhookState(webhook)}</dd>
<dt>Taken up to</dt><dd><code>${formatEventId(webhook)}</code></dd>
<dt>Created</dt><dd>${timeTag(createdAt)}</dd>
${formerUntil !== null && html`<dt>Former secret</dt><dd>until ${timeTag(formerUntil)}</dd>`}
</dl>`;
}

function actions({ id, disabledAt, disabledBy }: Webhook, { formToken }: SignedIn): Html {
  const at = (action: string) => `/developers/webhooks/${id}/${action}`;
  const about = `webhook ${id}`;
  const isOperators = disabledBy === "operator";
  const change =
    disabledAt === null
      ? buttonForm(at("disable"), formToken, "Disable", { about })
      : !isOperators && buttonForm(at("enable"), formToken, "Enable", { about, kind: "primary" });
  return html`${buttonForm(at("test"), formToken, "Send a test", { about: `to ${about}` })}${change}${confirmForm(
    at("rotate"),
    formToken,
    {
      label: "Rotate the secret",
      about: `of ${about}`,
      kind: "primary",
      warning: `A new secret replaces it. Both sign for ${secretOverlapHours} hours, so that receivers can switch.`,
    },
  )}${confirmForm(at("delete"), formToken, { label: "Delete", about, warning: "Nothing is sent any more, and its log is gone." })}`;
}

/** All but the delivery, which is chosen once. */
function changeSection(
  webhook: Webhook,
  chains: readonly ChainId[],
  { formToken }: SignedIn,
  { typed = typedOf(webhook), wrong = {} }: WebhookPageState,
): Html {
  return html`<section aria-labelledby="change">
<h2 id="change">Change</h2>
<form class="card stack" method="post" action="/developers/webhooks/${webhook.id}/change" novalidate>
<input type="hidden" name="form" value="${formToken}">
${webhookReceiverFields({ typed, wrong, chains })}
${webhookFilterFields({ typed, wrong })}
<button class="primary">Change webhook</button>
</form>
</section>`;
}

function replaySection(
  webhook: Webhook,
  { formToken }: SignedIn,
  { after, badAfter }: WebhookPageState,
): Html {
  const hint = "The id of an event, as webhook-id names it. 0-0: all events that there are.";
  return html`<section aria-labelledby="replay">
<h2 id="replay">Replay</h2>
<form class="inline" method="post" action="/developers/webhooks/${webhook.id}/replay" novalidate>
<input type="hidden" name="form" value="${formToken}">
${field({ name: "after", label: "Send again what came after", value: after ?? formatEventId(webhook), autocomplete: "off", error: badAfter, hint })}
<button class="primary">Replay</button>
</form>
</section>`;
}

const tryTable = (tries: readonly LoggedTry[]): Html =>
  html`<table class="list">
<thead><tr><th scope="col">Time</th><th scope="col">Event</th><th scope="col" class="number">Try</th><th scope="col">Answer</th><th scope="col" class="number">Took</th></tr></thead>
<tbody>
${tries.map(tryRow)}
</tbody>
</table>`;

const tryRow = ({ at, eventId, type, attempt, status, failure, durationMs }: LoggedTry): Html =>
  html`<tr>
<th scope="row">${secondTag(at)}</th>
<td data-label="Event">${type} <code>${eventId}</code></td>
<td data-label="Try" class="number">${attempt}</td>
<td data-label="Answer">${status ?? failure}</td>
<td data-label="Took" class="number">${durationMs} ms</td>
</tr>`;
