import { createHmac, randomBytes } from "node:crypto";

const prefix = "whsec_";

/** A secret of Standard Webhooks: 256 random bits. */
export const makeWebhookSecret = (): string => `${prefix}${randomBytes(32).toString("base64")}`;

/** What a webhook is signed with; `formerSecret` beside the other until that time. */
export type WebhookSecrets = {
  readonly secret: string;
  readonly formerSecret: string | null;
  readonly formerUntil: Date | null;
};

export function secretsAt({ secret, formerSecret, formerUntil }: WebhookSecrets, at: Date) {
  if (formerSecret === null || formerUntil === null || formerUntil <= at) return [secret];
  return [secret, formerSecret];
}

/** What is sent: the same event has the same id and body in every try. */
export type WebhookMessage = { readonly id: string; readonly body: Buffer };

/** The headers of Standard Webhooks 1.0; one signature for each secret, as two are valid while one replaces the other. */
export function signedHeaders(
  { id, body }: WebhookMessage,
  secrets: readonly string[],
  at: Date,
): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1_000));
  const signatures = secrets.map((secret) => signatureOf(secret, `${id}.${timestamp}.`, body));
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": signatures.join(" "),
  };
}

function signatureOf(secret: string, start: string, body: Buffer): string {
  const key = Buffer.from(secret.slice(prefix.length), "base64");
  return `v1,${createHmac("sha256", key).update(start).update(body).digest("base64")}`;
}
