import { sql } from "kysely";
import type { Database, Session } from "#projections/log/database.ts";
import { type Clock, currentTime } from "../keys/clock.ts";
import { hashKey, isSecret, makeKey } from "../keys/key-text.ts";
import { canonicalEmail } from "./stored-accounts.ts";

export const linkHours = 2;

/**
 * Creates a link for an address, or for the account of its mailbox. `to`: where it may be sent, which is the address
 * that the account was made with.
 */
export async function createLink(
  db: Database,
  email: string,
  clock: Clock,
): Promise<{ readonly link: string; readonly to: string; readonly isKnown: boolean }> {
  const link = makeKey("link");
  const { rows } = await sql<{ to: string; isKnown: boolean }>`
    with owner as materialized (
      select email from access.account
      where email = ${email} or (canonical_email = ${canonicalEmail(email)} and not is_alias)
      order by email = ${email} desc limit 1
    )
    insert into access.link (hash, email, created_at, expires_at)
    select ${hashKey(link)}, coalesce((select email from owner), ${email}), at,
           at + make_interval(hours => ${linkHours})
    from (select ${currentTime(clock)} as at) clock
    returning email as "to", exists (select from owner) as "isKnown"`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error("insert of a link returned no row");
  return { link, ...row };
}

/** The address of a link, and whether an account exists; null when the link was used or has expired. */
export async function readLink(
  db: Database,
  link: string,
  clock: Clock,
): Promise<{ readonly email: string; readonly isKnown: boolean } | null> {
  if (!isSecret("link", link)) return null;
  const { rows } = await sql<{ email: string; isKnown: boolean }>`
    select l.email, a.id is not null as "isKnown"
    from access.link l left join access.account a using (email)
    where l.hash = ${hashKey(link)} and l.expires_at > ${currentTime(clock)}`.execute(db);
  return rows[0] ?? null;
}

/** Uses up a link and all others of its address. Only one caller succeeds. */
export async function consumeLink(
  transaction: Session,
  link: string,
  clock: Clock,
): Promise<string | null> {
  if (!isSecret("link", link)) return null;
  const { rows } = await sql<{ email: string }>`
    delete from access.link where hash = ${hashKey(link)} and expires_at > ${currentTime(clock)}
    returning email`.execute(transaction);
  const [row] = rows;
  if (row === undefined) return null;
  await sql`delete from access.link where email = ${row.email}`.execute(transaction);
  return row.email;
}
