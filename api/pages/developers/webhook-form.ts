import type { Address } from "viem";
import type { AskedWebhook } from "#api/webhooks/own-webhooks.ts";
import type { Webhook } from "#api/webhooks/stored-webhooks.ts";
import { type ChainId, chainById } from "#chains/index.ts";
import { eventTypes, type FeedEventType } from "#projections/activity/feed-events.ts";
import { type Html, html } from "../kit/html.ts";
import { choice, field } from "./form.ts";
import type { DeveloperVisit } from "./layout.ts";

const names = ["url", "chain", "types", "collection", "wallet"] as const;

/** What is sent where, as it was typed. */
export type TypedWebhook = Readonly<Record<(typeof names)[number], string>>;
/** What is wrong with a field. */
export type WrongWebhook = Readonly<Partial<TypedWebhook>>;

export function typedWebhook({ field: typed }: Pick<DeveloperVisit, "field">): TypedWebhook {
  const [url = "", chain = "", types = "", collection = "", wallet = ""] = names.map((name) =>
    typed(name).trim(),
  );
  return { url, chain, types, collection, wallet };
}

export const nothingTyped: TypedWebhook = typedWebhook({ field: () => "" });

/** A webhook as it would be typed. */
export const typedOf = ({ url, chainId, types, collection, wallet }: Webhook): TypedWebhook => ({
  ...{ url, chain: String(chainId), types: types?.join(", ") ?? "" },
  ...{ collection: collection ?? "", wallet: wallet ?? "" },
});

type ParsedWebhook = Omit<AskedWebhook, "delivery" | "after">;

/** Its address is looked at where it is stored. */
export function parseWebhook(
  { url, chain, types, collection, wallet }: TypedWebhook,
  chains: readonly ChainId[],
): { readonly webhook: ParsedWebhook } | { readonly wrong: WrongWebhook } {
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
  return { webhook: { url, chainId, filter } };
}

const isEventType = (word: string): word is FeedEventType =>
  eventTypes.some((type) => type === word);
const isAddressOrNothing = (text: string) => text === "" || /^0x[0-9a-fA-F]{40}$/.test(text);
const addressOf = (text: string) => (text === "" ? undefined : (text.toLowerCase() as Address));

type Fields = {
  readonly typed: TypedWebhook;
  readonly wrong: WrongWebhook;
  readonly chains: readonly ChainId[];
};

/** Where events are sent. */
export const webhookReceiverFields = ({ typed, wrong, chains }: Fields): Html =>
  html`${field({ name: "url", label: "Address", value: typed.url, autocomplete: "off", error: wrong.url, hint: "https, on the public internet." })}
${choice({ name: "chain", label: "Chain", chosen: typed.chain, error: wrong.chain, choices: chains.map((id) => [String(id), chainById(id).name]) })}`;

/** Which events are sent. */
export function webhookFilterFields({ typed, wrong }: Omit<Fields, "chains">): Html {
  const one = (name: "types" | "collection" | "wallet", label: string, hint: string) =>
    field({
      ...{ name, label, hint, value: typed[name], autocomplete: "off", error: wrong[name] },
      isOptional: true,
    });
  return html`${one("types", "Types of events", `Empty: all but those of the order book. Any of ${eventTypes.join(", ")}.`)}
${one("collection", "Contract", "Empty: all collections.")}
${one("wallet", "Wallet", "Empty: all wallets.")}`;
}
