import { type RawBuilder, sql } from "kysely";
import type { Session } from "../log/database.ts";
import { holdsAny, clockAt } from "../engine/fact-window.ts";
import type { WindowWithKinds } from "../engine/projection.ts";
import { kindList } from "../log/fact-kinds.ts";
import { affectedListings, listingTermsKinds } from "../order-state/affected-listings.ts";

/** SQL: over a token's listings `l`, whether one is active, and when the first of them ends or starts. */
const listingState = sql`
  coalesce(bool_or(l.status = 'active'), false) as is_listed,
  min(case when l.status = 'active' then l.end_time else l.start_time end) as next_change_at`;

/** SQL: listings that are active or start later. */
const isRelevant = sql`
  l.status in ('active', 'inactive') and (l.status = 'active' or l.reason = 'not_started')`;

/** Derives the tokens whose listings a window's facts may have changed; `listings` is at the window's end already. */
export async function deriveListedTokens(
  session: Session,
  schema: string,
  window: WindowWithKinds,
): Promise<void> {
  const affected = affectedTokens(schema, window);
  if (affected.length === 0) return;
  const token = sql.table(`${schema}.token`);
  const sameToken = sql`t.contract_id = c.contract_id and t.token_id = c.token_id`;
  await sql`
    with affected as materialized (
      select distinct contract_id, token_id from (${sql.join(affected, sql` union all `)}) one
    ),
    changed as materialized (
      select t.contract_id, t.token_id, l.is_listed, l.next_change_at, o.contract_id is null as is_new,
             coalesce(o.is_listed, false) as was_listed
      from affected t
      cross join lateral (
        select ${listingState} from listings.listing l
        where l.contract_id = t.contract_id and l.token_id = t.token_id and ${isRelevant}
      ) l
      left join ${token} o using (contract_id, token_id)
    ), removed as (
      delete from ${token} t using changed c where c.next_change_at is null and ${sameToken}
    ), updated as (
      update ${token} t set is_listed = c.is_listed, next_change_at = c.next_change_at
      from changed c where c.next_change_at is not null and not c.is_new and ${sameToken}
        and (t.is_listed, t.next_change_at) is distinct from (c.is_listed, c.next_change_at)
    ), inserted as (
      insert into ${token} (contract_id, token_id, is_listed, next_change_at)
      select contract_id, token_id, is_listed, next_change_at from changed where is_new and next_change_at is not null
    )
    insert into pg_temp.figure_delta (contract_id, listed)
    select contract_id, sum(is_listed::int - was_listed::int) from changed group by contract_id`.execute(
    session,
  );
}

function affectedTokens(schema: string, window: WindowWithKinds): RawBuilder<unknown>[] {
  const tokens = affectedListings(window, sql`listings.listing`).map(
    (affected) => sql`select contract_id, token_id from (${affected}) affected`,
  );
  if (holdsAny(window.kinds, listingTermsKinds)) {
    tokens.push(sql`
      select l.contract_id, l.token_id
      from (select distinct order_hash from ${window.changes} where kind in ${kindList(...listingTermsKinds)}) c
      cross join lateral (
        select l.contract_id, l.token_id from listings.listing l where l.order_hash = c.order_hash offset 0
      ) l`);
  }
  // The listings' end times find only those still open; tokens know when one of theirs ended.
  if (holdsAny(window.kinds, ["clock_ticked"])) {
    tokens.push(sql`
      select t.contract_id, t.token_id from ${sql.table(`${schema}.token`)} t where t.next_change_at <= ${clockAt(window)}`);
  }
  return tokens;
}

/** The same of all tokens, for empty tables. */
export async function deriveAllListedTokens(session: Session, schema: string): Promise<void> {
  const token = sql.table(`${schema}.token`);
  await sql`
    insert into ${token} (contract_id, token_id, is_listed, next_change_at)
    select l.contract_id, l.token_id, ${listingState} from listings.listing l where ${isRelevant}
    group by l.contract_id, l.token_id`.execute(session);
  await sql`
    insert into pg_temp.figure_delta (contract_id, listed)
    select contract_id, count(*) from ${token} where is_listed group by contract_id`.execute(
    session,
  );
}
