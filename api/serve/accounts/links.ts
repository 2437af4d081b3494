import { sql } from "kysely";
import type { Database, Session } from "../../../projections/database.ts";
import { hashKey, isSecret, makeKey } from "../keys/key-text.ts";
import { type Clock, currentTime } from "./clock.ts";

export const linkHours = 2;

/** Creates a link for an address, and reports whether an account exists. */
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
      from (select ${currentTime(clock)} as at) clock
    )
    select exists (select from access.account where email = ${email}) as "isKnown"`.execute(db);
  return { link, isKnown: rows[0]?.isKnown ?? false };
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
