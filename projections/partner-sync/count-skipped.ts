import { sql } from "kysely";
import type { Session } from "../log/database.ts";
import type { PartnerName } from "../domain/marketplaces.ts";

/** Counts skipped entries of a partner by reason, with the path of the last one. */
export async function countSkipped(
  session: Session,
  { marketplace }: { marketplace: PartnerName },
  skipped: readonly { reason: string; path: string }[],
  now: Date,
): Promise<void> {
  if (skipped.length === 0) return;
  const rows = skipped.map(({ reason, path }) => ({ reason, path: path.slice(0, 200) }));
  await sql`
    insert into ops.partner_skip as s (marketplace, reason, entries, last_path, last_at)
    select ${marketplace}, reason, count(*), min(path), ${now}::timestamptz
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as row (reason text, path text)
    group by reason order by reason
    on conflict (marketplace, reason) do update
    set entries = s.entries + excluded.entries, last_path = excluded.last_path, last_at = excluded.last_at`.execute(
    session,
  );
}
