import type { Address } from "viem";
import { type AskedWebhook, addWebhook } from "#api/webhooks/own-webhooks.ts";
import {
  type CreatedWebhook,
  maxWebhooks,
  readWebhooks,
  type Webhook,
} from "#api/webhooks/stored-webhooks.ts";
import { type ChainId, chainById } from "#chains/index.ts";
import { eventTypes, type FeedEventType } from "#projections/activity/feed-events.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import { type Html, html } from "../kit/html.ts";
import { alert, choice, field, notice, secretPanel, timeTag } from "./form.ts";
import {
  type Developers,
  type DeveloperVisit,
  developerLayout,
  isAnswer,
  refusalReply,
  type SignedIn,
  type SignedInHandler,
} from "./layout.ts";

const done: ReadonlyMap<string, string> = new Map([
  ["deleted", "The webhook is deleted. Nothing is sent to it any more."],
]);

export const showWebhooks: SignedInHandler = async (developers, visit, signedIn) => ({
  page: await webhooksPage(developers, signedIn, { done: done.get(visit.parameter("done")) }),
});

export const submitWebhook: SignedInHandler = async (developers, visit, signedIn) => {
  const typed = typedIn(visit);
  const page = (state: WebhooksState) => webhooksPage(developers, signedIn, { typed, ...state });
  const asked = parseTyped(typed, developers.chains);
  if ("wrong" in asked) return { page: await page({ wrong: asked.wrong }), status: 422 };
  const made = await addWebhook(developers.accounts, signedIn.session.accountId, asked.webhook);
  if (!isRejection(made)) return { page: await webhooksPage(developers, signedIn, { made }) };
  const { rejected, message } = made;
  const state = rejected === "bad_webhook_url" ? { wrong: { url: message } } : { message };
  return refusalReply(made, await page(state));
};

const names = ["url", "chain", "delivery", "types", "collection", "wallet"] as const;
type Typed = Readonly<Record<(typeof names)[number], string>>;
/** What is wrong with a field. */
type Wrong = Readonly<Partial<Record<(typeof names)[number], string>>>;

function typedIn({ field: typed }: DeveloperVisit): Typed {
  const [url = "", chain = "", delivery = "", types = "", collection = "", wallet = ""] = names.map(
    (name) => typed(name).trim(),
  );
  return { url, chain, delivery, types, collection, wallet };
}

const nothingTyped: Typed = {
  ...{ url: "", chain: "", delivery: "", types: "", collection: "", wallet: "" },
};

function parseTyped(
  { url, chain, delivery, types, collection, wallet }: Typed,
  chains: readonly ChainId[],
): { readonly webhook: AskedWebhook } | { readonly wrong: Wrong } {
  const chainId = chains.find((id) => String(id) === chain);
  if (chainId === undefined) return { wrong: { chain: "Choose one of these chains" } };
  const words = types.split(/[\s,]+/).filter((word) => word !== "");
  const unknown = words.find((word) => !isEventType(word));
  if (unknown !== undefined)
    return { wrong: { types: `“${unknown.slice(0, 50)}” is no type of an event` } };
  const known = [...new Set(words.filter(isEventType))];
  const notAddress = "An address is 0x and 40 hexadecimal digits";
  if (!isAddressOrNothing(collection)) return { wrong: { collection: notAddress } };
  if (!isAddressOrNothing(wallet)) return { wrong: { wallet: notAddress } };
  const filter = {
    type: known.length === 0 ? undefined : known,
    collection: addressOf(collection),
    wallet: addressOf(wallet),
  };
  return { webhook: { url, chainId, delivery: delivery === "final" ? "final" : "latest", filter } };
}

const isEventType = (word: string): word is FeedEventType =>
  eventTypes.some((type) => type === word);
const isAddressOrNothing = (text: string) => text === "" || /^0x[0-9a-fA-F]{40}$/.test(text);
const addressOf = (text: string) => (text === "" ? undefined : (text.toLowerCase() as Address));

type WebhooksState = {
  readonly done?: string | undefined;
  readonly message?: string;
  /** What was refused, and why. */
  readonly typed?: Typed;
  readonly wrong?: Wrong;
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
  { typed = nothingTyped, wrong = {} }: WebhooksState,
): Html {
  const filterField = (name: "types" | "collection" | "wallet", label: string, hint: string) =>
    field({
      name,
      label,
      hint,
      value: typed[name],
      autocomplete: "off",
      error: wrong[name],
      isOptional: true,
    });
  return html`<form class="card stack" method="post" action="/developers/new-webhook" novalidate>
<input type="hidden" name="form" value="${formToken}">
${field({ name: "url", label: "Address", value: typed.url, autocomplete: "off", error: wrong.url, hint: "https, on the public internet." })}
${choice({ name: "chain", label: "Chain", chosen: typed.chain, error: wrong.chain, choices: chains.map((id) => [String(id), chainById(id).name]) })}
${choice({
  name: "delivery",
  label: "When",
  chosen: typed.delivery,
  choices: [
    ["latest", "At once; reorgs retract them"],
    ["final", "Once they are final"],
  ],
})}
${filterField("types", "Types of events", `Empty: all but those of the order book. Any of ${eventTypes.join(", ")}.`)}
${filterField("collection", "Contract", "Empty: all collections.")}
${filterField("wallet", "Wallet", "Empty: all wallets.")}
<button class="primary">Create webhook</button>
</form>`;
}
