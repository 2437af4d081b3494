import { sql } from "kysely";
import type { Database } from "#projections/log/database.ts";
import type { AccountContext } from "./account-context.ts";
import type { Owner } from "./account-keys.ts";
import { deletedMail } from "./mail.ts";

/**
 * Everything that is stored of an account, by table, and the column that says which rows are newest. Left out are
 * secrets: hashes, the password and the secret of the second factor.
 */
const ownTables = {
  account: [sql`select id, email, canonical_email, is_alias, created_at, suspended_at`, "id"],
  session: [sql`select id, created_at, seen_at, authenticated_at, address, agent`, "id"],
  link: [sql`select created_at, expires_at`, "created_at"],
  key: [
    sql`select id, type, name, ending, per_minute, created_at, created_from, share, expires_at, revoked_at, replaced_at,
                  replaces, scopes, networks::text[], last_used_at`,
    "id",
  ],
  usage: [sql`select key_id, day::text, requests::text`, "access.usage.day"],
  key_request: [
    sql`select id::text, key_id, at, method, path, query, status, code, request_id, duration_ms`,
    "access.key_request.id",
  ],
  client_key: [sql`select id, ending, created_at, revoked_at, last_used_at`, "id"],
  bearer_token: [
    sql`select id, ending, created_at, created_from, expires_at, revoked_at, last_used_at`,
    "id",
  ],
  webhook: [
    sql`select id, url, chain_id, delivery, types, collection, wallet, created_at, revision, position::text, ordinal,
               failures, failing_since, retry_at, disabled_at, disabled_by, reported_at, former_until`,
    "id",
  ],
  webhook_delivery: [
    sql`select id::text, webhook_id, event_id, type, at, attempt, status, failure, duration_ms`,
    "access.webhook_delivery.id",
  ],
  wallet: [sql`select id, address, chain_id, created_at`, "id"],
  place: [sql`select network, first_at, last_at`, "last_at"],
  second_factor: [sql`select created_at, confirmed_at, last_step::text`, "created_at"],
  passkey: [
    sql`select id, credential_id, encode(public_key, 'base64') as public_key, counter::text, transports, name, created_at, last_used_at`,
    "id",
  ],
  pending_sign_in: [sql`select expires_at`, "expires_at"],
} as const;

type OwnTable = keyof typeof ownTables;

const keysOf = (accountId: number) =>
  sql`key_id in (select id from access.key where account_id = ${accountId})`;

function isOwn(table: OwnTable, { accountId, email }: Owner) {
  if (table === "account") return sql`id = ${accountId}`;
  if (table === "link") return sql`email = ${email}`;
  if (table === "usage" || table === "key_request") return keysOf(accountId);
  if (table === "webhook_delivery")
    return sql`webhook_id in (select id from access.webhook where account_id = ${accountId})`;
  return sql`account_id = ${accountId}`;
}

/** Rows of each table in an export, the newest. */
export const maxExportedRows = 10_000;

/** What is held of an account: the newest rows of each table, which of them have more, and the time of the export. */
export async function exportAccount(db: Database, owner: Owner): Promise<Record<string, unknown>> {
  return await db
    .transaction()
    .setIsolationLevel("repeatable read")
    .execute(async (transaction) => {
      const held: Record<string, unknown> = { exportedAt: new Date() };
      const cut: string[] = [];
      for (const [table, [selected, newest]] of Object.entries(ownTables)) {
        const where = isOwn(table as OwnTable, owner);
        const { rows } = await sql`
          ${selected} from access.${sql.ref(table)} where ${where}
          order by ${sql.ref(newest)} desc limit ${maxExportedRows + 1}`.execute(transaction);
        if (rows.length > maxExportedRows) cut.push(table);
        held[table] = rows.slice(0, maxExportedRows);
      }
      const { rows } = await sql<{ left: number }>`
        select count(*)::int as left from access.recovery_code
        where account_id = ${owner.accountId}`.execute(transaction);
      return { ...held, cut, recovery_codes_left: rows[0]?.left ?? 0 };
    });
}

/** Deletes an account with everything that is stored of it. Its keys, tokens, sessions and streams end at once. */
export async function deleteAccount(
  { db, mailer, baseUrl }: Pick<AccountContext, "db" | "mailer" | "baseUrl">,
  { accountId, email }: Owner,
): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    await sql`delete from access.link where email = ${email}`.execute(transaction);
    await sql`delete from access.minute where caller in (${`account ${accountId}`}, ${`keys of account ${accountId}`})`.execute(
      transaction,
    );
    await sql`delete from access.account where id = ${accountId}`.execute(transaction);
  });
  mailer.send(deletedMail({ to: email, baseUrl }));
}
