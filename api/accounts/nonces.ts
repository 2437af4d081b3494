import { sql } from "kysely";
import type { Database, Session } from "#projections/log/database.ts";
import { type Clock, currentTime } from "../keys/clock.ts";
import { hashKey } from "../keys/key-text.ts";

const nonceMinutes = 10;

/** When a nonce was given out, and until when it is good. */
type NonceTimes = { readonly at: Date; readonly expiresAt: Date };

/** Keeps the hash of a nonce, which any process takes once. Whoever asks for one has a budget (`throttle.ts`). */
export async function storeNonce(db: Database, clock: Clock, nonce: string): Promise<NonceTimes> {
  const { rows } = await sql<NonceTimes>`
    insert into access.siwe_nonce (hash, expires_at)
    select ${hashKey(nonce)}, at + make_interval(mins => ${nonceMinutes})
    from (select ${currentTime(clock)} as at) clock
    returning expires_at - make_interval(mins => ${nonceMinutes}) as at, expires_at as "expiresAt"`.execute(
    db,
  );
  const [row] = rows;
  if (row === undefined) throw new Error("insert of a nonce returned no row");
  return row;
}

export async function isOpenNonce(db: Database, nonce: string, clock: Clock): Promise<boolean> {
  const { rows } = await sql`
    select from access.siwe_nonce
    where hash = ${hashKey(nonce)} and expires_at > ${currentTime(clock)}`.execute(db);
  return rows.length === 1;
}

/** Uses up a nonce. Returns whether it was there, and in its time. */
export async function takeNonce(session: Session, nonce: string, clock: Clock): Promise<boolean> {
  const { rows } = await sql<{ isOpen: boolean }>`
    delete from access.siwe_nonce where hash = ${hashKey(nonce)}
    returning expires_at > ${currentTime(clock)} as "isOpen"`.execute(session);
  return rows[0]?.isOpen ?? false;
}
