import { sql } from "kysely";
import { isRejection, type Rejection, reject } from "#projections/domain/rejection.ts";
import type { Database } from "#projections/log/database.ts";
import type { Refused } from "../http/route.ts";
import { type Clock, currentTime } from "../keys/clock.ts";
import { hashKey, isSecret, lastCharacters, makeKey } from "../keys/key-text.ts";
import type { CredentialUse } from "./places.ts";
import { parseEmail } from "./stored-accounts.ts";
import { openThrottle } from "./throttle.ts";

/** A token of the account API, shown only once: opaque, valid for 30 days, revocable. */
type IssuedToken = { readonly token: string; readonly expiresAt: Date };

/** Issues bearer tokens for an e-mail address and a client key. */
export type BearerTokens = {
  /** The same rejection whichever of the two is wrong; too many attempts are `rate_limited`. */
  issue(
    login: { readonly email: string; readonly clientKey: string },
    address: string,
  ): Promise<IssuedToken | Refused<"invalid_credentials" | "rate_limited">>;
  /** The account of a token; null if the token is unknown, expired or revoked. Read on every request. */
  check(token: string): Promise<{ readonly id: number; readonly accountId: number } | null>;
};

const bearerTokenDays = 30;

/** `last_used_at` is written at most this often. */
const lastUsedResolutionSeconds = 60;

type BearerTokensOptions = {
  readonly db: Database;
  readonly clock?: Clock;
  /** Called when a client key was exchanged for a token. */
  readonly onUse?: (use: CredentialUse) => void;
};

export function openBearerTokens(options: BearerTokensOptions): BearerTokens {
  const { db, clock = () => null, onUse } = options;
  const throttle = openThrottle(db, clock);
  return {
    async issue({ email, clientKey }, address) {
      const known = parseEmail(email);
      const accountId = await findClient(db, isRejection(known) ? "" : known, clientKey);
      // A client key cannot be guessed: failures count for the address alone, and nobody can lock an account's programs out.
      if (accountId === null) {
        return (await throttle.countAttempts(["login address", address])) ?? invalidCredentials;
      }
      const refused = await throttle.countAttempts(["tokens account", `${accountId}`]);
      if (refused !== null) return refused;
      const issued = await issueToken(db, clock, clientKey, address);
      if (issued === null) return invalidCredentials;
      onUse?.({ accountId, address, credential: "the client key" });
      return issued;
    },
    async check(token) {
      return isSecret("bearer", token) ? await useToken(db, clock, token) : null;
    },
  };
}

const invalidCredentials: Rejection<"invalid_credentials"> = reject(
  "invalid_credentials",
  "No account has this e-mail address and this client key",
);

/** The account of both credentials; the same statement whichever is wrong. */
async function findClient(db: Database, email: string, clientKey: string): Promise<number | null> {
  const { rows } = await sql<{ accountId: number }>`
    select a.id as "accountId" from access.client_key k join access.account a on a.id = k.account_id
    where k.hash = ${hashKey(clientKey)} and k.revoked_at is null
      and a.email = ${email} and a.suspended_at is null`.execute(db);
  return rows[0]?.accountId ?? null;
}

/** Locks the client key, so that a concurrent revocation also revokes this token. Null: the key was just revoked. */
async function issueToken(
  db: Database,
  clock: Clock,
  clientKey: string,
  address: string,
): Promise<IssuedToken | null> {
  const token = makeKey("bearer");
  const { rows } = await sql<{ expiresAt: Date }>`
    with used as (
      update access.client_key set last_used_at = ${currentTime(clock)}
      where hash = ${hashKey(clientKey)} and revoked_at is null
      returning account_id, last_used_at as at
    )
    insert into access.bearer_token (hash, account_id, ending, created_at, created_from, expires_at)
    select ${hashKey(token)}, account_id, ${lastCharacters(token)}, at, ${address},
           at + make_interval(days => ${bearerTokenDays})
    from used
    returning expires_at as "expiresAt"`.execute(db);
  const [row] = rows;
  return row === undefined ? null : { token, expiresAt: row.expiresAt };
}

async function useToken(
  db: Database,
  clock: Clock,
  token: string,
): Promise<{ readonly id: number; readonly accountId: number } | null> {
  const { rows } = await sql<{ id: number; accountId: number }>`
    with found as materialized (
      select t.id, t.account_id, t.last_used_at, clock.at
      from (select ${currentTime(clock)} as at) clock, access.bearer_token t
           join access.account a on a.id = t.account_id
      where t.hash = ${hashKey(token)} and t.revoked_at is null and t.expires_at > clock.at
        and a.suspended_at is null
    ),
    noticed as (
      update access.bearer_token t set last_used_at = found.at from found
      where t.id = found.id
        and (found.last_used_at is null
             or found.last_used_at <= found.at - make_interval(secs => ${lastUsedResolutionSeconds}))
    )
    select id, account_id as "accountId" from found`.execute(db);
  return rows[0] ?? null;
}

/** A stored token, without its secret. */
export type StoredToken = {
  readonly id: number;
  /** Its last characters. */
  readonly ending: string;
  readonly createdAt: Date;
  readonly createdFrom: string;
  readonly expiresAt: Date;
  readonly lastUsedAt: Date | null;
};

/** The newest valid tokens of an account, and the total number. */
export async function readBearerTokens(
  db: Database,
  accountId: number,
  clock: Clock,
  limit = 20,
): Promise<{ readonly tokens: StoredToken[]; readonly total: number }> {
  const { rows } = await sql<StoredToken & { total: number }>`
    select id, ending, created_at as "createdAt", created_from as "createdFrom",
           expires_at as "expiresAt", last_used_at as "lastUsedAt", count(*) over ()::int as total
    from access.bearer_token
    where account_id = ${accountId} and revoked_at is null and expires_at > ${currentTime(clock)}
    order by id desc limit ${limit}`.execute(db);
  return { tokens: rows.map(({ total, ...token }) => token), total: rows[0]?.total ?? 0 };
}

/** Revokes a token of an account. Returns whether it existed. */
export async function revokeToken(db: Database, accountId: number, id: number): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update access.bearer_token set revoked_at = now()
    where id = ${id} and account_id = ${accountId} and revoked_at is null`.execute(db);
  return numAffectedRows === 1n;
}
