import { sql } from "kysely";
import type { Database, Session as DatabaseSession } from "#projections/log/database.ts";
import { accountName } from "../keys/account-name.ts";
import { type Clock, currentTime } from "../keys/clock.ts";
import { hashKey, isSecret, makeKey } from "../keys/key-text.ts";

/** A signed-in user's session. */
export type AccountSession = {
  readonly id: number;
  readonly accountId: number;
  /** Null: a wallet made the account. */
  readonly email: string | null;
  /** What the account is called: the address, else that of its first wallet. */
  readonly name: string;
  /** Milliseconds since its user last proved to be the owner. */
  readonly authenticatedMsAgo: number;
};

/** The client that signs in. */
export type Visitor = { readonly address: string; readonly agent: string };

/** Days after which a session expires: without a request, and in total. */
export const idleDays = 7;
export const maxAgeDays = 30;

/** Sessions of an account; a further one ends the one that was not seen for longest. */
const maxSessions = 50;

/** `seen_at` is written at most this often. */
const lastSeenResolutionSeconds = 60;
const maxAgentLength = 200;

/** Always issues a new token, which is stored only as a hash. */
export async function createSession(
  db: DatabaseSession,
  accountId: number,
  { address, agent }: Visitor,
  clock: Clock,
): Promise<string> {
  const token = makeKey("session");
  await sql`
    delete from access.session where id in (
      select id from access.session where account_id = ${accountId}
      order by seen_at desc, id desc offset ${maxSessions - 1})`.execute(db);
  await sql`
    insert into access.session (hash, account_id, created_at, seen_at, authenticated_at, address, agent)
    select ${hashKey(token)}, ${accountId}, at, at, at, ${address}, ${agent.slice(0, maxAgentLength)}
    from (select ${currentTime(clock)} as at) clock`.execute(db);
  return token;
}

const isValid = sql`s.seen_at > clock.at - make_interval(days => ${sql.lit(idleDays)})
  and s.created_at > clock.at - make_interval(days => ${sql.lit(maxAgeDays)})`;

/** The session of a token, if it is valid and its account is not suspended. */
export async function readSession(
  db: Database,
  token: string,
  clock: Clock,
): Promise<AccountSession | null> {
  if (!isSecret("session", token)) return null;
  const { rows } = await sql<AccountSession>`
    with found as materialized (
      select s.id, s.account_id, s.seen_at, s.authenticated_at, a.email, ${accountName} as name, clock.at
      from (select ${currentTime(clock)} as at) clock, access.session s
           join access.account a on a.id = s.account_id
      where s.hash = ${hashKey(token)} and a.suspended_at is null and ${isValid}
    ),
    noticed as (
      update access.session s set seen_at = found.at from found
      where s.id = found.id and found.seen_at <= found.at - make_interval(secs => ${lastSeenResolutionSeconds})
    )
    select id, account_id as "accountId", email, name,
           extract(epoch from at - authenticated_at)::float8 * 1000 as "authenticatedMsAgo"
    from found`.execute(db);
  return rows[0] ?? null;
}

/** A stored session. */
export type StoredSession = Visitor & {
  readonly id: number;
  readonly createdAt: Date;
  readonly seenAt: Date;
};

/** Valid sessions of an account, most recently seen first. */
export async function readSessions(
  db: Database,
  accountId: number,
  clock: Clock,
): Promise<StoredSession[]> {
  const { rows } = await sql<StoredSession>`
    select s.id, s.address, s.agent, s.created_at as "createdAt", s.seen_at as "seenAt"
    from (select ${currentTime(clock)} as at) clock, access.session s
    where s.account_id = ${accountId} and ${isValid}
    order by s.seen_at desc, s.id desc limit ${maxSessions}`.execute(db);
  return rows;
}

/** Ends one session of an account. Returns whether it existed. */
export async function endSession(db: Database, accountId: number, id: number): Promise<boolean> {
  const { numAffectedRows } = await sql`
    delete from access.session where id = ${id} and account_id = ${accountId}`.execute(db);
  return numAffectedRows === 1n;
}

/** Ends all sessions of an account, optionally except one, and sign-ins that wait for their code. Returns how many sessions. */
export async function endSessions(
  db: DatabaseSession,
  accountId: number,
  except: number | null = null,
): Promise<number> {
  await sql`delete from access.pending_sign_in where account_id = ${accountId}`.execute(db);
  const { numAffectedRows } = await sql`
    delete from access.session
    where account_id = ${accountId} and (${except}::int is null or id <> ${except})`.execute(db);
  return Number(numAffectedRows ?? 0n);
}
