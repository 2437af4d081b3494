import { z } from "zod";
import type { Scope } from "#api/http/limit.ts";
import { createPermanentKey } from "#api/keys/stored-keys.ts";
import type { Database } from "#projections/log/database.ts";
import { type ApiClient, documentedAt } from "#test/support/http/openapi.ts";
import { type Desk, openDesk } from "../accounts/accounts-fixture.ts";
import { makeAccount } from "./delivering.ts";

/** An API with accounts; each answer is validated against its document. */
export type WebhookDesk = ApiClient & { readonly desk: Desk };

export async function openWebhookDesk(
  databaseUrl: string,
  origins: readonly string[],
): Promise<WebhookDesk> {
  const desk = await openDesk({ databaseUrl, webhookOrigins: origins });
  const api = await documentedAt(desk.url, { base: "", path: "/v1/openapi.json" });
  return { ...api, desk, close: desk.close };
}

const Body = z.looseObject({
  code: z.string().optional(),
  data: z.unknown().optional(),
  meta: z.unknown().optional(),
});

type Told = {
  readonly status: number;
  readonly code: string | undefined;
  readonly data: unknown;
  readonly meta: unknown;
  readonly headers: Headers;
};

/** Who manages webhooks with a key of an account. */
export type Owner = {
  readonly accountId: number;
  get(path: string): Promise<Told>;
  post(path: string, body?: unknown): Promise<Told>;
};

export function callerWith(api: ApiClient, key: string | undefined): Omit<Owner, "accountId"> {
  const headers: Record<string, string> = key === undefined ? {} : { "x-api-key": key };
  const told = async (asked: ReturnType<ApiClient["get"]>): Promise<Told> => {
    const { status, body, headers: answered } = await asked;
    const { code, data, meta } = Body.parse(body);
    return { status, code, data, meta, headers: answered };
  };
  return {
    get: (path) => told(api.get(path, headers)),
    post: (path, body) => told(api.post(path, body, headers)),
  };
}

const perMinute = 1_000_000;

export async function openOwner(
  db: Database,
  api: ApiClient,
  scopes: readonly Scope[] | null = ["webhooks"],
): Promise<Owner> {
  const accountId = await makeAccount(db);
  const terms = { scopes, expiresAt: null, networks: null };
  const { key } = await createPermanentKey(db, { name: "bot", perMinute, accountId, terms });
  return { accountId, ...callerWith(api, key) };
}
