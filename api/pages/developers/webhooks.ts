import { addWebhook } from "#api/webhooks/own-webhooks.ts";
import {
  type CreatedWebhook,
  maxWebhooks,
  readWebhooks,
  type Webhook,
} from "#api/webhooks/stored-webhooks.ts";
import { type ChainId, chainById } from "#chains/index.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import { type Html, html } from "../kit/html.ts";
import { alert, choice, notice, secretPanel, timeTag } from "./form.ts";
import {
  type Developers,
  developerLayout,
  isAnswer,
  refusalReply,
  type SignedIn,
  type SignedInHandler,
} from "./layout.ts";
import {
  nothingTyped,
  parseWebhook,
  type TypedWebhook,
  typedWebhook,
  type WrongWebhook,
  webhookFilterFields,
  webhookReceiverFields,
} from "./webhook-form.ts";

const done: ReadonlyMap<string, string> = new Map([
  ["deleted", "The webhook is deleted. Nothing is sent to it any more."],
]);

export const showWebhooks: SignedInHandler = async (developers, visit, signedIn) => ({
  page: await webhooksPage(developers, signedIn, { done: done.get(visit.parameter("done")) }),
});

export const submitWebhook: SignedInHandler = async (developers, visit, signedIn) => {
  const typed = { ...typedWebhook(visit), delivery: visit.field("delivery") };
  const page = (state: WebhooksState) => webhooksPage(developers, signedIn, { typed, ...state });
  const asked = parseWebhook(typed, developers.chains);
  if ("wrong" in asked) return { page: await page({ wrong: asked.wrong }), status: 422 };
  const delivery = typed.delivery === "final" ? "final" : "latest";
  const { accountId } = signedIn.session;
  const made = await addWebhook(developers.accounts, accountId, { ...asked.webhook, delivery });
  if (!isRejection(made)) return { page: await webhooksPage(developers, signedIn, { made }) };
  const { rejected, message } = made;
  const state = rejected === "bad_webhook_url" ? { wrong: { url: message } } : { message };
  return refusalReply(made, await page(state));
};

type WebhooksState = {
  readonly done?: string | undefined;
  readonly message?: string;
  /** What was refused, and why. */
  readonly typed?: TypedWebhook & { readonly delivery: string };
  readonly wrong?: WrongWebhook;
  /** With its secret, which is shown only once. */
  readonly made?: CreatedWebhook;
};

/** The page with an account's webhooks. */
async function webhooksPage(
  developers: Developers,
  signedIn: SignedIn,
  state: WebhooksState,
): Promise<Html> {
  const { accounts, chains } = developers;
  const webhooks = await readWebhooks(accounts.db, signedIn.session.accountId);
  const { done, message, made } = state;
  const body = html`<h1>Webhooks</h1>
${notice(done)}${alert(message)}
<section aria-labelledby="webhooks">
<h2 id="webhooks">Addresses</h2>
<p>Events are sent there as they happen, each until it is taken, signed as <a href="https://www.standardwebhooks.com">Standard Webhooks</a>. Times are UTC.</p>
${made !== undefined && webhookSecret(made)}
${webhooks.length === 0 ? html`<p class="empty">There are no webhooks yet.</p>` : webhookTable(webhooks)}
</section>
<section aria-labelledby="new-webhook">
<h2 id="new-webhook">New webhook</h2>
${webhooks.length >= maxWebhooks ? html`<p class="empty">An account can have ${maxWebhooks} webhooks. Delete one to create another.</p>` : newWebhookForm(signedIn, chains, state)}
</section>`;
  return developerLayout({
    title: "Webhooks",
    body,
    signedIn,
    current: "webhooks",
    isFormResult: isAnswer(state),
  });
}

/** Shows the new secret of a webhook, once. */
export const webhookSecret = ({ secret }: CreatedWebhook, about?: string): Html =>
  secretPanel({
    id: "new-secret",
    title: "The secret",
    secret,
    stored: "Deliveries are signed with it.",
    about: about ?? false,
    example: `const message = await verifyWebhook(\n  { headers, body },\n  { secret: "${secret}" },\n);`,
  });

const webhookTable = (webhooks: readonly Webhook[]): Html =>
  html`<table class="list">
<thead><tr><th scope="col">Address</th><th scope="col">Chain</th><th scope="col">Events</th><th scope="col">State</th></tr></thead>
<tbody>
${webhooks.map(webhookRow)}
</tbody>
</table>`;

const webhookRow = (webhook: Webhook): Html =>
  html`<tr>
<th scope="row"><a class="address" href="/developers/webhooks/${webhook.id}">${webhook.url}</a></th>
<td data-label="Chain">${chainById(webhook.chainId).name}</td>
<td data-label="Events">${eventsInWords(webhook)}</td>
<td data-label="State">${webhookState(webhook)}</td>
</tr>`;

/** Which events a webhook is sent, in words. */
export function eventsInWords({ types, delivery }: Pick<Webhook, "types" | "delivery">): string {
  const which = types === null ? "all but those of the order book" : types.join(", ");
  return delivery === "final" ? `${which}, once they are final` : which;
}

const disablers = {
  owner: "you",
  operator: "an operator",
  failures: "three days of failures",
  gone: "its answer 410",
} as const;

export function webhookState({ disabledAt, disabledBy, failures, retryAt }: Webhook): Html {
  if (disabledAt !== null)
    return html`disabled by ${disablers[disabledBy ?? "owner"]} ${timeTag(disabledAt)}`;
  if (failures > 0)
    return html`${failures} ${failures === 1 ? "failure" : "failures"}, next try ${timeTag(retryAt)}`;
  return html`delivering`;
}

function newWebhookForm(
  { formToken }: SignedIn,
  chains: readonly ChainId[],
  { typed = { ...nothingTyped, delivery: "" }, wrong = {} }: WebhooksState,
): Html {
  return html`<form class="card stack" method="post" action="/developers/new-webhook" novalidate>
<input type="hidden" name="form" value="${formToken}">
${webhookReceiverFields({ typed, wrong, chains })}
${choice({
  name: "delivery",
  label: "When",
  chosen: typed.delivery,
  choices: [
    ["latest", "At once; reorgs retract them"],
    ["final", "Once they are final"],
  ],
})}
${webhookFilterFields({ typed, wrong })}
<button class="primary">Create webhook</button>
</form>`;
}
