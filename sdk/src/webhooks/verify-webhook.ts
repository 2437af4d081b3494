import type { components } from "../document.ts";
import type { MarketEvent } from "../feed/transport.ts";

/** A request as it came. `body`: its bytes or text, not what was parsed of it. */
export type WebhookRequest = {
  readonly headers:
    | Pick<Headers, "get">
    | Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string | Uint8Array;
};

export type VerifyWebhookOptions = {
  /** `whsec_…`; several while one replaces another. */
  readonly secret: string | readonly string[];
  /** How far the time of a request may be from now. Default 300. */
  readonly toleranceSeconds?: number;
  readonly now?: () => Date;
};

/** An event, or, of type `test`, what the test of a webhook sends. */
export type WebhookMessage = {
  /** Of the event; the same in every try. */
  readonly id: string;
  readonly timestamp: string;
} & (
  | { readonly type: MarketEvent["type"]; readonly data: MarketEvent }
  | { readonly type: "test"; readonly data: { readonly id: string; readonly webhookId: string } }
);

/** A webhook as the API tells it. */
export type Webhook = components["schemas"]["Webhook"];

/**
 * Why a request is no delivery. `no_headers`: those of Standard Webhooks are missing. `too_old`, `too_new`: its time is
 * further from now than allowed. `bad_signature`: nobody who has the secret sent it. `bad_body`: it is signed, but no
 * message. `bad_secret`: what was given as the secret is none.
 */
export type WebhookRefusal =
  | "no_headers"
  | "too_old"
  | "too_new"
  | "bad_signature"
  | "bad_body"
  | "bad_secret";

export class WebhookError extends Error {
  override readonly name = "WebhookError";
  readonly code: WebhookRefusal;

  constructor(code: WebhookRefusal, message: string) {
    super(message);
    this.code = code;
  }
}

const toleranceSeconds = 300;
const prefix = "whsec_";
const scheme = "v1,";
const algorithm = { name: "HMAC", hash: "SHA-256" };

/**
 * The message of a request, if it is signed with the secret (Standard Webhooks 1.0), and not older or newer than the
 * tolerance. Signatures are compared in constant time. Throws `WebhookError`.
 */
export async function verifyWebhook(
  { headers, body }: WebhookRequest,
  options: VerifyWebhookOptions,
): Promise<WebhookMessage> {
  const id = headerOf(headers, "webhook-id");
  const timestamp = headerOf(headers, "webhook-timestamp");
  const signatures = headerOf(headers, "webhook-signature");
  checkTime(timestamp, options);
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const content = joined(new TextEncoder().encode(`${id}.${timestamp}.`), bytes);
  const { secret } = options;
  const secrets = typeof secret === "string" ? [secret] : secret;
  const keys = await Promise.all(secrets.map(importKey));
  for (const signature of signaturesIn(signatures)) {
    for (const key of keys) {
      if (await crypto.subtle.verify(algorithm.name, key, signature, content))
        return parseMessage(id, bytes);
    }
  }
  throw new WebhookError("bad_signature", "No signature of the request is by this secret");
}

function headerOf(headers: WebhookRequest["headers"], name: string): string {
  const found =
    typeof headers.get === "function" ? headers.get(name) : fieldOf(headers as Fields, name);
  if (typeof found === "string" && found !== "") return found;
  throw new WebhookError("no_headers", `The request has no header ${name}, or has it twice`);
}

type Fields = Readonly<Record<string, string | readonly string[] | undefined>>;

function fieldOf(headers: Fields, name: string): string | undefined {
  const given = Object.keys(headers).filter((key) => key.toLowerCase() === name);
  const values = given.flatMap((key) => headers[key] ?? []);
  return values.length === 1 ? values[0] : undefined;
}

function checkTime(
  timestamp: string,
  { toleranceSeconds: allowed = toleranceSeconds, now = () => new Date() }: VerifyWebhookOptions,
): void {
  if (!/^\d{1,12}$/.test(timestamp))
    throw new WebhookError("no_headers", "webhook-timestamp is no time in seconds");
  const seconds = now().getTime() / 1_000 - Number(timestamp);
  if (seconds > allowed)
    throw new WebhookError("too_old", `It was sent more than ${allowed} seconds ago`);
  if (seconds < -allowed)
    throw new WebhookError("too_new", `It was sent ${allowed} seconds or more from now`);
}

function joined(start: Uint8Array, rest: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(start.length + rest.length);
  all.set(start);
  all.set(rest, start.length);
  return all;
}

/** Those of the one scheme that a shared secret has, whatever else is there. */
const signaturesIn = (header: string): Uint8Array<ArrayBuffer>[] =>
  header
    .split(" ")
    .filter((one) => one.startsWith(scheme))
    .flatMap((one) => fromBase64(one.slice(scheme.length)) ?? []);

async function importKey(secret: string) {
  const text = secret.startsWith(prefix) ? secret.slice(prefix.length) : secret;
  const bytes = fromBase64(text);
  if (bytes === undefined || bytes.length === 0)
    throw new WebhookError("bad_secret", "The secret is not whsec_ and base64");
  return await crypto.subtle.importKey("raw", bytes, algorithm, false, ["verify"]);
}

/** Undefined: it is none. */
function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function parseMessage(id: string, bytes: Uint8Array): WebhookMessage {
  const message = parsed(bytes);
  if (typeof message !== "object" || message === null || !("type" in message))
    throw new WebhookError("bad_body", "The body is signed, but no message");
  return { ...(message as Omit<WebhookMessage, "id">), id } as WebhookMessage;
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}
