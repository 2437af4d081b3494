import { sql } from "kysely";
import { z } from "zod";
import { hashKey, lastCharacters, makeKey } from "#api/keys/key-text.ts";
import { openDatabase } from "#projections/log/database.ts";

/** An account with a client key in a database, and how to remove it. */
export type FuzzAccount = { login: { email: string; client_key: string }; remove(): Promise<void> };

export async function makeAccount(databaseUrl: string): Promise<FuzzAccount> {
  const db = openDatabase({ url: databaseUrl, applicationName: "fuzz", onIdleError: () => {} });
  const login = { email: `fuzz-${Date.now()}@example.test`, client_key: makeKey("client") };
  await sql`
    with account as (
      insert into access.account (email, password, created_at) values (${login.email}, 'none', now()) returning id
    )
    insert into access.client_key (hash, account_id, ending, created_at)
    select ${hashKey(login.client_key)}, id, ${lastCharacters(login.client_key)}, now() from account`.execute(
    db,
  );
  return {
    login,
    async remove() {
      await sql`delete from access.account where email = ${login.email}`.execute(db);
      await db.destroy();
    },
  };
}

/** A bearer token of the account. */
export async function logIn(url: string, { login }: FuzzAccount): Promise<string> {
  const response = await fetch(`${url}/apechain/api/auth/login`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(login),
  });
  const Answer = z.object({ data: z.object({ token: z.string() }) });
  return Answer.parse(await response.json()).data.token;
}
