import { sql } from "kysely";
import type { Database, Session as DatabaseSession } from "../../../projections/database.ts";
import { hashKey, isSecret, makeKey } from "../keys/key-text.ts";
import { type Clock, timeOf } from "./clock.ts";

/** Somebody who is signed in. */
export type Session = {
  readonly id: number;
  readonly accountId: number;
  readonly email: string;
};

/** Where somebody signs in from. */
export type Visitor = { readonly address: string; readonly agent: string };

/** Days without a request, and days in all, after which one signs in again. */
export const idleDays = 7;
export const longestDays = 30;

/** A visit that comes sooner after the last one is not written down. */
const noticedSeconds = 60;
const mostAgentCharacters = 200;

/** Always a new token, whatever the visitor brought. It is nowhere else. */
export async function createSession(
  db: DatabaseSession,
  accountId: number,
  { address, agent }: Visitor,
  clock: Clock,
): Promise<string> {
  const token = makeKey("session");
  await sql`
    insert into access.session (hash, account_id, created_at, seen_at, address, agent)
    select ${hashKey(token)}, ${accountId}, at, at, ${address}, ${agent.slice(0, mostAgentCharacters)}
    from (select ${timeOf(clock)} as at) clock`.execute(db);
  return token;
}

const isAlive = sql`s.seen_at > clock.at - make_interval(days => ${sql.lit(idleDays)})
  and s.created_at > clock.at - make_interval(days => ${sql.lit(longestDays)})`;

/** Whose session it is, while it goes on and its account is not suspended. */
export async function readSession(
  db: Database,
  token: string,
  clock: Clock,
): Promise<Session | null> {
  if (!isSecret("session", token)) return null;
  const { rows } = await sql<Session>`
    with found as materialized (
      select s.id, s.account_id, s.seen_at, a.email, clock.at
      from (select ${timeOf(clock)} as at) clock, access.session s
           join access.account a on a.id = s.account_id
      where s.hash = ${hashKey(token)} and a.suspended_at is null and ${isAlive}
    ),
    noticed as (
      update access.session s set seen_at = found.at from found
      where s.id = found.id and found.seen_at <= found.at - make_interval(secs => ${noticedSeconds})
    )
    select id, account_id as "accountId", email from found`.execute(db);
  return rows[0] ?? null;
}

/** What is kept of a session. */
export type KeptSession = Visitor & {
  readonly id: number;
  readonly createdAt: Date;
  readonly seenAt: Date;
};

/** Sessions of an account that go on, the last seen first. */
export async function readSessions(
  db: Database,
  accountId: number,
  clock: Clock,
): Promise<KeptSession[]> {
  const { rows } = await sql<KeptSession>`
    select s.id, s.address, s.agent, s.created_at as "createdAt", s.seen_at as "seenAt"
    from (select ${timeOf(clock)} as at) clock, access.session s
    where s.account_id = ${accountId} and ${isAlive}
    order by s.seen_at desc, s.id desc limit 50`.execute(db);
  return rows;
}

/** Ends one session of an account. Returns whether there was such a one. */
export async function endSession(db: Database, accountId: number, id: number): Promise<boolean> {
  const { numAffectedRows } = await sql`
    delete from access.session where id = ${id} and account_id = ${accountId}`.execute(db);
  return numAffectedRows === 1n;
}

/** Ends all sessions of an account but one, or all of them. Returns how many. */
export async function endSessions(
  db: DatabaseSession,
  accountId: number,
  besides: number | null = null,
): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from access.session
    where account_id = ${accountId} and (${besides}::int is null or id <> ${besides})`.execute(db);
  return Number(numAffectedRows ?? 0n);
}
