import { Webhook as StandardWebhook } from "standardwebhooks";
import { Webhook as SvixWebhook } from "svix";
import { expect } from "vitest";
import type { Delivery } from "./receivers.ts";

/** Both verifiers take the delivery, and it is what the standard says. */
export function expectVerified({ id, body, headers }: Delivery, secret: string): void {
  const read = new StandardWebhook(secret).verify(body, headers);
  expect(new SvixWebhook(secret).verify(body, headers)).toEqual(read);
  const { type, timestamp, data } = read as Record<string, unknown>;
  expect(data).toMatchObject({ id, type, timestamp });
}
