import { sql } from "kysely";
import type { Database } from "../../../projections/database.ts";
import { isRejection, type Rejection, reject } from "../../../projections/domain/rejection.ts";
import type { Refused } from "../http/route.ts";
import { endingOf, hashKey, isSecret, makeKey } from "../keys/key-text.ts";
import { type Clock, timeOf } from "./clock.ts";
import { emailOf } from "./email.ts";
import { openThrottle } from "./throttle.ts";

/** A token of the account API as it is given out once: opaque, 30 days, revocable. */
type IssuedToken = { readonly token: string; readonly expiresAt: Date };

/** Tokens for which an e-mail address and a client key are exchanged. */
export type BearerTokens = {
  /** One refusal whichever of the two is wrong; too many tries of an address or an account end in `rate_limited`. */
  issue(
    login: { readonly email: string; readonly clientKey: string },
    address: string,
  ): Promise<IssuedToken | Refused<"invalid_credentials" | "rate_limited">>;
  /** The account a token stands for; null where it is unknown, expired or revoked. Looked up for every request. */
  check(token: string): Promise<{ readonly accountId: number } | null>;
};

const bearerTokenDays = 30;

/** A use that comes sooner after the last one is not written down. */
const noticedSeconds = 60;

type BearerTokensOptions = { readonly db: Database; readonly clock?: Clock };

export function openBearerTokens({ db, clock = () => null }: BearerTokensOptions): BearerTokens {
  const throttle = openThrottle(db, clock);
  return {
    async issue({ email, clientKey }, address) {
      const known = emailOf(email);
      const account = isRejection(known) ? "" : known;
      const tries = [
        ["login address", address],
        ["login account", account],
      ] as const;
      const refused = await throttle.take(...tries);
      if (refused !== null) return refused;
      const accountId = await findClient(db, account, clientKey);
      if (accountId === null) return wrong;
      await throttle.giveBack(...tries);
      return (
        (await throttle.take(["tokens account", `${accountId}`])) ??
        (await exchange(db, clock, clientKey, address)) ??
        wrong
      );
    },
    async check(token) {
      return isSecret("bearer", token) ? await useToken(db, clock, token) : null;
    },
  };
}

const wrong: Rejection<"invalid_credentials"> = reject(
  "invalid_credentials",
  "No account has this e-mail address and this client key",
);

/** The account that both belong to, by one statement whatever is wrong with them. */
async function findClient(db: Database, email: string, clientKey: string): Promise<number | null> {
  const { rows } = await sql<{ accountId: number }>`
    select a.id as "accountId" from access.client_key k join access.account a on a.id = k.account_id
    where k.hash = ${hashKey(clientKey)} and k.revoked_at is null
      and a.email = ${email} and a.suspended_at is null`.execute(db);
  return rows[0]?.accountId ?? null;
}

/** Holds the client key meanwhile: who revokes it waits, and then ends this token too. Null: it was revoked just now. */
async function exchange(
  db: Database,
  clock: Clock,
  clientKey: string,
  address: string,
): Promise<IssuedToken | null> {
  const token = makeKey("bearer");
  const { rows } = await sql<{ expiresAt: Date }>`
    with used as (
      update access.client_key set last_used_at = ${timeOf(clock)}
      where hash = ${hashKey(clientKey)} and revoked_at is null
      returning account_id, last_used_at as at
    )
    insert into access.bearer_token (hash, account_id, ending, created_at, created_from, expires_at)
    select ${hashKey(token)}, account_id, ${endingOf(token)}, at, ${address},
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
): Promise<{ readonly accountId: number } | null> {
  const { rows } = await sql<{ accountId: number }>`
    with found as materialized (
      select t.id, t.account_id, t.last_used_at, clock.at
      from (select ${timeOf(clock)} as at) clock, access.bearer_token t
           join access.account a on a.id = t.account_id
      where t.hash = ${hashKey(token)} and t.revoked_at is null and t.expires_at > clock.at
        and a.suspended_at is null
    ),
    noticed as (
      update access.bearer_token t set last_used_at = found.at from found
      where t.id = found.id
        and (found.last_used_at is null
             or found.last_used_at <= found.at - make_interval(secs => ${noticedSeconds}))
    )
    select account_id as "accountId" from found`.execute(db);
  return rows[0] ?? null;
}

/** What is kept of a token. */
export type KeptToken = {
  readonly id: number;
  /** Its last characters. */
  readonly ending: string;
  readonly createdAt: Date;
  readonly createdFrom: string;
  readonly expiresAt: Date;
  readonly lastUsedAt: Date | null;
};

/** Tokens of an account that work, the newest first, and how many there are in all. */
export async function readTokens(
  db: Database,
  accountId: number,
  clock: Clock,
  most = 20,
): Promise<{ readonly tokens: KeptToken[]; readonly total: number }> {
  const { rows } = await sql<KeptToken & { total: number }>`
    select id, ending, created_at as "createdAt", created_from as "createdFrom",
           expires_at as "expiresAt", last_used_at as "lastUsedAt", count(*) over ()::int as total
    from access.bearer_token
    where account_id = ${accountId} and revoked_at is null and expires_at > ${timeOf(clock)}
    order by id desc limit ${most}`.execute(db);
  return { tokens: rows.map(({ total, ...token }) => token), total: rows[0]?.total ?? 0 };
}

/** Ends one token of an account. Returns whether there was such a one. */
export async function revokeToken(db: Database, accountId: number, id: number): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update access.bearer_token set revoked_at = now()
    where id = ${id} and account_id = ${accountId} and revoked_at is null`.execute(db);
  return numAffectedRows === 1n;
}
