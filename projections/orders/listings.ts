import { type RawBuilder, sql } from "kysely";
import { withKinds } from "../engine/fact-window.ts";
import type { FactWindow, Projection } from "../engine/projection.ts";
import type { Session } from "../log/database.ts";
import { kindList } from "../log/fact-kinds.ts";
import { sendAhead } from "../log/pipelined.ts";
import { versions } from "../log/versions.ts";
import { isCompacted, isUnfilledEnd } from "./clock.ts";
import { listingStates } from "./listing-state.ts";
import {
  listingsToRecompute,
  selectAffectedListings,
  selectAllListings,
  termColumnNames,
  termColumns,
} from "./listing-terms.ts";
import { changedTokensOf, noteChanged, openChangedOrders, storeCounts } from "./read-orders.ts";
import type { RecomputeSet } from "./select-facts.ts";

/** Listings of all marketplaces with their state, and their number by status. */
function listingTables(schema: string): string[] {
  const listing = `"${schema}"."listing"`;
  return [
    `create table ${listing} (
       order_hash     bytea not null,
       chain_id       integer not null,
       position       bigint not null,
       marketplace    text not null,
       contract_id    integer not null,
       token_id       numeric(78,0) not null,
       standard       smallint not null,
       maker          bytea not null,
       unit_price_wei numeric(78,0) not null,
       seller_net_wei numeric(78,0) not null,
       quantity       numeric(78,0) not null,
       currency       bytea,
       start_time     bigint not null,
       end_time       bigint not null,
       counter        numeric(78,0) not null,
       fees           jsonb not null,
       is_conduit_known boolean not null,
       is_buyable     boolean not null,
       is_visible     boolean not null,
       is_filled_whole boolean not null,
       is_contract_signed boolean not null,
       created_at     timestamptz not null,
       last_seen_at   timestamptz not null,
       status         text not null,
       reason         text,
       filled         numeric not null,
       fillable       numeric not null,
       updated_at     timestamptz not null,
       primary key (order_hash, chain_id)
     ) with (fillfactor = 85)`,
    `comment on column ${listing}.position is 'Of the first fact of the order from its marketplace'`,
    `comment on column ${listing}.currency is 'Address of the wrapped native currency; null: the native one'`,
    `comment on column ${listing}.is_conduit_known is 'Moved by the common conduit: the log has its approvals and channel'`,
    `comment on column ${listing}.is_buyable is 'Fulfillment data can be generated while it is active'`,
    `comment on column ${listing}.is_visible is 'False: the partner has withdrawn it'`,
    `comment on column ${listing}.is_filled_whole is 'The exchange fills all of its units at once or nothing'`,
    `comment on column ${listing}.is_contract_signed is 'Ours and signed by a contract, which may revoke its signature without an event'`,
    `comment on column ${listing}.last_seen_at is 'Time of the latest fact from its marketplace'`,
    `comment on column ${listing}.fees is 'Per unit: [{recipient, unitWei, kind}]'`,
    `comment on column ${listing}.status is 'As of the last clock_ticked: a reader adds end_time > now'`,
    `comment on column ${listing}.reason is 'Why it is inactive; the first of several reasons'`,
    `comment on column ${listing}.fillable is 'Unfilled units that the maker holds; 0 after its end'`,
    // Writes: listings affected by a token, a maker or the clock.
    `create index on ${listing} (maker, contract_id, token_id) where status in ('active', 'inactive')`,
    `create index on ${listing} (contract_id, token_id, status, unit_price_wei, position)`,
    `create index on ${listing} (end_time) where status in ('active', 'inactive')`,
    `create index on ${listing} (start_time) where reason = 'not_started'`,
    // Rechecks of state that changes without an event.
    `create index on ${listing} (chain_id, position)
       where is_contract_signed and status in ('active', 'inactive')`,
    // Reads. By marketplace within a chain: one may have a thousand times the listings of another.
    `create index on ${listing} (chain_id, marketplace, status, unit_price_wei, position)
       where status in ('active', 'inactive')`,
    `create index on ${listing} (chain_id, marketplace, status, created_at, position)
       where status in ('active', 'inactive')`,
    `create index on ${listing} (token_id, chain_id, status, unit_price_wei, position)`,
    `create index on ${listing} (contract_id, unit_price_wei, position) where status = 'active' and is_buyable`,
    `create index on ${listing} (contract_id, status, unit_price_wei, position)
       where status in ('active', 'inactive')`,
    `create index on ${listing} (contract_id, status, created_at, position)
       where status in ('active', 'inactive')`,
    `create index on ${listing} (end_time) where ${isUnfilledEnd}`,
    `create index on ${listing} (maker, chain_id, status, unit_price_wei, position)`,
    `create index on ${listing} (maker, chain_id, status, created_at, position)`,
    `create table "${schema}".count (
       chain_id    integer not null,
       contract_id integer not null,
       marketplace text not null,
       status      text not null,
       rows        bigint not null,
       primary key (chain_id, contract_id, marketplace, status)
     )`,
  ];
}

const { orders } = listingsToRecompute;

/** Listings of all marketplaces and their state; ended ones without a fill leave after 30 days. */
export const listingsProjection: Projection = {
  name: "listings",
  version: versions.listings.version,
  reads: ["ownership"],
  sample: {
    key: ["contract_id", "token_id"],
    where: sql`kind in ${kindList("partner_listing_seen", "order_submitted")} and payload -> 'terms' ->> 'side' = 'ask'`,
    tables: ["listing"],
  },
  tables: listingTables,
  async apply(session, schema, window) {
    window.changedKeys.set(schema, changedTokensOf(schema));
    await sendAhead(session, async (ahead) => {
      await openChangedOrders(ahead);
      await listingsToRecompute.open(ahead);
    });
    const rows = await selectAffectedListings(session, schema, await withKinds(session, window));
    if (rows > 0) await storeStates(session, schema, { ...window, orders });
  },
  deriveAll: [{ name: "listings", derive: deriveListings }],
};

async function deriveListings(session: Session, schema: string, window: FactWindow): Promise<void> {
  await listingsToRecompute.open(session);
  await selectAllListings(session, window);
  await insertStates(session, schema, { ...window, orders, history: window.changes });
}

/** Columns of `listing`. */
const columns = sql`${termColumns}, status, reason, filled, fillable, updated_at`;

/** Terms are replaced too: by those of a marketplace with higher precedence, or by a withdrawal. */
const replacements = sql.raw(
  [...termColumnNames, "status", "reason", "filled", "fillable", "updated_at"]
    .filter((name) => name !== "order_hash" && name !== "chain_id")
    .map((name) => `${name} = excluded.${name}`)
    .join(", "),
);

const differs = sql`
  is_replaced or (status, reason, filled, fillable, updated_at)
                 is distinct from (old_status, old_reason, old_filled, old_fillable, old_updated_at)`;

/** The listings to recompute, each with its new state. */
function recomputed(recompute: RecomputeSet): RawBuilder<unknown> {
  return sql`${recompute.orders} join (${listingStates(recompute)}) s using (order_hash, chain_id)`;
}

/** Stores and counts the listings whose terms or state changed, deletes compacted ones, and notes which. */
async function storeStates(
  session: Session,
  schema: string,
  recompute: RecomputeSet,
): Promise<void> {
  const counts = storeCounts(schema, "marketplace", "old_marketplace");
  const listing = sql.table(`${schema}.listing`);
  await sql`
    with changed as materialized (
      select * from (select *, ${isCompacted(recompute)} as is_compacted from ${recomputed(recompute)}) r
      where case when is_compacted then old_status is not null else ${differs} end
    ), stored as (
      insert into ${listing} (${columns})
      select ${columns} from changed where not is_compacted
      on conflict (order_hash, chain_id) do update set ${replacements}
    ), compacted as (
      delete from ${listing} l using changed c
      where c.is_compacted and l.order_hash = c.order_hash and l.chain_id = c.chain_id
    ), ${noteChanged(schema)}, ${counts.queries}
    ${counts.statement}`.execute(session);
}

/** Stores and counts all listings, in empty tables without indexes. */
async function insertStates(
  session: Session,
  schema: string,
  recompute: RecomputeSet,
): Promise<void> {
  await sql`
    insert into ${sql.table(`${schema}.listing`)} (${columns})
    select ${columns} from ${recomputed(recompute)} where not ${isCompacted(recompute)}`.execute(
    session,
  );
  await sql`
    insert into ${sql.table(`${schema}.count`)} (chain_id, contract_id, marketplace, status, rows)
    select chain_id, contract_id, marketplace, status, count(*)
    from ${sql.table(`${schema}.listing`)} group by chain_id, contract_id, marketplace, status`.execute(
    session,
  );
}
