import { type RawBuilder, sql } from "kysely";
import type { Session } from "../database.ts";
import { tellingKinds } from "../listings/offered.ts";
import { touchedBy } from "../listings/touched.ts";
import { factKind } from "../log/fact-kind.ts";
import { clockAt } from "../order-state/clock.ts";
import { kindsIn } from "../order-state/evidence.ts";

/** Of the listings `l` of one token: whether one is active, and when the first of them ends or begins. */
const told = sql`
  coalesce(bool_or(l.status = 'active'), false) as is_listed,
  min(case when l.status = 'active' then l.end_time else l.start_time end) as turns_at`;

/** Those of a token's listings that say something of it by themselves or will. */
const tells = sql`
  l.status in ('active', 'inactive') and (l.status = 'active' or l.reason = 'not_started')`;

/** Derives anew the tokens whose listings a window's facts may have changed; the listings stand at its end already. */
export async function deriveListed(
  session: Session,
  schema: string,
  kinds: ReadonlySet<number>,
  upTo: bigint,
): Promise<void> {
  const touched = touchedTokens(schema, kinds, upTo);
  if (touched.length === 0) return;
  const token = sql.table(`${schema}.token`);
  const sameToken = sql`t.contract_id = c.contract_id and t.token_id = c.token_id`;
  await sql`
    with touched as materialized (
      select distinct contract_id, token_id from (${sql.join(touched, sql` union all `)}) one
    ),
    changed as materialized (
      select t.contract_id, t.token_id, l.is_listed, l.turns_at, o.contract_id is null as is_new,
             coalesce(o.is_listed, false) as was_listed
      from touched t
      cross join lateral (
        select ${told} from listings.listing l
        where l.contract_id = t.contract_id and l.token_id = t.token_id and ${tells}
      ) l
      left join ${token} o using (contract_id, token_id)
    ), removed as (
      delete from ${token} t using changed c where c.turns_at is null and ${sameToken}
    ), stored as (
      update ${token} t set is_listed = c.is_listed, turns_at = c.turns_at
      from changed c where c.turns_at is not null and not c.is_new and ${sameToken}
        and (t.is_listed, t.turns_at) is distinct from (c.is_listed, c.turns_at)
    ), found as (
      insert into ${token} (contract_id, token_id, is_listed, turns_at)
      select contract_id, token_id, is_listed, turns_at from changed where is_new and turns_at is not null
    )
    insert into pg_temp.moved_figures (contract_id, listed)
    select contract_id, sum(is_listed::int - was_listed::int) from changed group by contract_id`.execute(
    session,
  );
}

function touchedTokens(
  schema: string,
  kinds: ReadonlySet<number>,
  upTo: bigint,
): RawBuilder<unknown>[] {
  const tokens = touchedBy(kinds, sql.table("listings.listing"), upTo).map(
    (touched) => sql`select contract_id, token_id from (${touched}) touched`,
  );
  if (tellingKinds.some((kind) => kinds.has(factKind[kind]))) {
    tokens.push(sql`
      select l.contract_id, l.token_id
      from (select distinct order_hash from change where kind in ${kindsIn(...tellingKinds)}) c
      cross join lateral (
        select l.contract_id, l.token_id from listings.listing l where l.order_hash = c.order_hash offset 0
      ) l`);
  }
  // Listings that have ended are not found by their end: it is their tokens that knew of it.
  if (kinds.has(factKind.clock_ticked)) {
    tokens.push(sql`
      select t.contract_id, t.token_id from ${sql.table(`${schema}.token`)} t where t.turns_at <= ${clockAt(upTo)}`);
  }
  return tokens;
}

/** The same of all tokens, for empty tables. */
export async function deriveAllListed(session: Session, schema: string): Promise<void> {
  const token = sql.table(`${schema}.token`);
  await sql`
    insert into ${token} (contract_id, token_id, is_listed, turns_at)
    select l.contract_id, l.token_id, ${told} from listings.listing l where ${tells}
    group by l.contract_id, l.token_id`.execute(session);
  await sql`
    insert into pg_temp.moved_figures (contract_id, listed)
    select contract_id, count(*) from ${token} where is_listed group by contract_id`.execute(
    session,
  );
}
