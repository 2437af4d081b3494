import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { sql } from "kysely";
import type { WebhookOwners } from "#api/accounts/account-context.ts";
import { openThrottle } from "#api/accounts/throttle.ts";
import type { Scope } from "#api/http/limit.ts";
import { createPermanentKey } from "#api/keys/stored-keys.ts";
import { createWebhook } from "#api/webhooks/stored-webhooks.ts";
import { idAfterPosition } from "#projections/activity/feed-events.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import { type Database, openDatabase } from "#projections/log/database.ts";
import { makeAccount } from "./nft-data-fixture.ts";

/** Whoever takes every webhook. */
export type TakingReceiver = {
  readonly origin: string;
  readonly url: string;
  close(): Promise<void>;
};

export async function openTakingReceiver(): Promise<TakingReceiver> {
  const server = createServer((request, response) => {
    request.resume().once("end", () => response.writeHead(204).end());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    url: `${origin}/order-book`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

const clock = () => null;

export const webhookOwners = (db: Database, origin: string): WebhookOwners => ({
  ...{ db, clock },
  throttle: openThrottle(db, clock),
  webhookOrigins: [origin],
});

/** Webhooks of an account, by their numbers; one is there to be deleted. */
export type KnownWebhooks = { readonly url: string; readonly id: string; readonly spare: string };

export async function makeKnownWebhooks(
  db: Database,
  accountId: number,
  { url }: Pick<TakingReceiver, "url">,
): Promise<KnownWebhooks> {
  const place = idAfterPosition(0n);
  const asked = { accountId, url, chainId: 1, delivery: "latest", filter: {}, place } as const;
  const ids: string[] = [];
  for (let made = 0; made < 2; made += 1) {
    const webhook = await createWebhook({ db, clock }, asked);
    if (isRejection(webhook)) throw new Error(webhook.message);
    ids.push(String(webhook.id));
  }
  const [id = "", spare = ""] = ids;
  return { url, id, spare };
}

/** The number of an account. */
export async function accountIdOf(db: Database, email: string): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    select id from access.account where email = ${email}`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error(`${email} has no account`);
  return row.id;
}

/** A key for one thing, of a new account of a service. */
export async function makeScopedKey(databaseUrl: string, scope: Scope): Promise<string> {
  const db = openDatabase({ url: databaseUrl, applicationName: "key", onIdleError: () => {} });
  try {
    const { email } = await makeAccount(db);
    const accountId = await accountIdOf(db, email);
    const terms = { scopes: [scope], expiresAt: null, networks: null };
    const asked = { name: "receiver", perMinute: null, accountId, terms };
    return (await createPermanentKey(db, asked)).key;
  } finally {
    await db.destroy();
  }
}
