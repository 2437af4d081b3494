import { sql } from "kysely";
import type { Database, Session } from "../../../projections/database.ts";
import { hashKey, isSecret, makeKey } from "../keys/key-text.ts";
import { type Clock, timeOf } from "./clock.ts";

export const linkHours = 2;

/** A link for whoever reads the mail of an address, and whether there is an account already. */
export async function createLink(
  db: Database,
  email: string,
  clock: Clock,
): Promise<{ readonly link: string; readonly isKnown: boolean }> {
  const link = makeKey("link");
  const { rows } = await sql<{ isKnown: boolean }>`
    with made as (
      insert into access.link (hash, email, created_at, expires_at)
      select ${hashKey(link)}, ${email}, at, at + make_interval(hours => ${linkHours})
      from (select ${timeOf(clock)} as at) clock
    )
    select exists (select from access.account where email = ${email}) as "isKnown"`.execute(db);
  return { link, isKnown: rows[0]?.isKnown ?? false };
}

/** The address that a link was sent to, and whether there is an account; null once it is used or too old. */
export async function readLink(
  db: Database,
  link: string,
  clock: Clock,
): Promise<{ readonly email: string; readonly isKnown: boolean } | null> {
  if (!isSecret("link", link)) return null;
  const { rows } = await sql<{ email: string; isKnown: boolean }>`
    select l.email, a.id is not null as "isKnown"
    from access.link l left join access.account a using (email)
    where l.hash = ${hashKey(link)} and l.expires_at > ${timeOf(clock)}`.execute(db);
  return rows[0] ?? null;
}

/** Takes a link, and with it all others of its address. Only one caller ever gets it. */
export async function takeLink(
  transaction: Session,
  link: string,
  clock: Clock,
): Promise<string | null> {
  if (!isSecret("link", link)) return null;
  const { rows } = await sql<{ email: string }>`
    delete from access.link where hash = ${hashKey(link)} and expires_at > ${timeOf(clock)}
    returning email`.execute(transaction);
  const [row] = rows;
  if (row === undefined) return null;
  await sql`delete from access.link where email = ${row.email}`.execute(transaction);
  return row.email;
}
