import { type RawBuilder, sql } from "kysely";
import type { Session } from "../database.ts";
import { factKind } from "../log/fact-kind.ts";
import { venues } from "../orders/venue.ts";
import { readKinds, touchedBy } from "./touched.ts";

/** The listings to judge, in a table of the session: what they offer, where, and what was derived of them before. */
export const judgedListing = sql`pg_temp.judged_listing`;

/** What an order says of itself, from its submission. */
const offered = sql`
  order_hash, chain_id, position, contract_id, token_id, standard, maker, unit_price_wei, seller_net_wei, quantity,
  start_time, end_time, counter, fees, created_at`;

/** What is derived and may change. */
const derived = sql`status, reason, filled, fillable, updated_at`;

/** Rows from which statistics of the table pay for themselves. */
const ANALYZE_ROWS = 500;

/** Starts the list. Several targets may share a tick's transaction. */
export async function openJudged(session: Session): Promise<void> {
  await sql`
    create temporary table if not exists judged_listing (
      order_hash bytea, chain_id integer, position bigint, contract_id integer, token_id numeric(78,0),
      standard smallint, maker bytea, unit_price_wei numeric(78,0), seller_net_wei numeric(78,0),
      quantity numeric(78,0), start_time bigint, end_time bigint, counter numeric(78,0), fees jsonb,
      created_at timestamptz, status text, reason text, filled numeric, fillable numeric, updated_at timestamptz,
      exchange_id integer, conduit_id integer
    ) on commit delete rows`.execute(session);
  await sql`delete from ${judgedListing}`.execute(session);
}

/** Lists every listing of the log. */
export async function judgeAll(session: Session): Promise<void> {
  await sql`
    insert into ${judgedListing} (${offered}, exchange_id, conduit_id)
    select ${offered}, exchange_id, conduit_id
    from (${submitted}) o left join (${venues}) v using (chain_id)`.execute(session);
  await sql`analyze ${judgedListing}`.execute(session);
}

/**
 * Lists what a window's facts may change: new listings, those that the facts speak of, and the open ones of the same
 * maker and token beside them, of which all but one are superseded. Returns how many.
 */
export async function judgeTouched(
  session: Session,
  schema: string,
  upTo: bigint,
): Promise<number> {
  const listing = sql.table(`${schema}.listing`);
  const kinds = await readKinds(session);
  const touched = touchedBy(kinds, listing, upTo);
  if (touched.length === 0 && !kinds.has(factKind.order_submitted)) return 0;
  const { numAffectedRows } = await sql`
    insert into ${judgedListing}
    with fresh as materialized (${submitted}),
    touched as materialized (${sql.join([nothingOf(listing), ...touched], sql` union `)}),
    listed as materialized (
      select order_hash, chain_id from touched
      union
      select beside.order_hash, beside.chain_id
      from (
        select contract_id, token_id, maker from touched union select contract_id, token_id, maker from fresh
      ) g
      cross join lateral (${openOf(listing)}) beside
    )
    select o.*, v.exchange_id, v.conduit_id
    from (
      select ${offered}, null as status, null as reason, null::numeric as filled, null::numeric as fillable,
             null::timestamptz as updated_at
      from fresh
      union all
      select stored.*
      from listed cross join lateral (
        select ${offered}, ${derived} from ${listing} l
        where l.order_hash = listed.order_hash and l.chain_id = listed.chain_id offset 0
      ) stored
    ) o
    left join (${venues}) v using (chain_id)`.execute(session);
  const rows = Number(numAffectedRows ?? 0n);
  if (rows > ANALYZE_ROWS) await sql`analyze ${judgedListing}`.execute(session);
  return rows;
}

/** Listings taken in, as their facts in `change` tell them. */
const submitted = sql`
  select c.order_hash, k.chain_id, c.position, c.contract_id, c.token_id,
         case c.payload -> 'terms' ->> 'standard' when 'erc721' then 721 else 1155 end::smallint as standard,
         c.from_address as maker, (c.payload -> 'terms' ->> 'unitPriceWei')::numeric as unit_price_wei,
         (c.payload -> 'terms' ->> 'sellerNetWei')::numeric as seller_net_wei, c.amount as quantity,
         (c.payload -> 'components' ->> 'startTime')::bigint as start_time,
         (c.payload -> 'components' ->> 'endTime')::bigint as end_time,
         (c.payload -> 'components' ->> 'counter')::numeric as counter, c.payload -> 'terms' -> 'fees' as fees,
         c.recorded_at as created_at
  from change c join log.contract k using (contract_id)
  where c.kind = 70 and c.payload -> 'terms' ->> 'side' = 'ask' and c.weight > 0`;

function nothingOf(listing: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select l.order_hash, l.chain_id, l.contract_id, l.token_id, l.maker from ${listing} l where false`;
}

/** What is open of the maker and token of `g`. */
function openOf(listing: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select l.order_hash, l.chain_id from ${listing} l
    where l.contract_id = g.contract_id and l.token_id = g.token_id and l.maker = g.maker
      and l.status in ('active', 'inactive')
    offset 0`;
}
