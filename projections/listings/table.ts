import { isUnfilledEnd } from "../order-state/compaction.ts";

/** Listings of all marketplaces with their state, and their number by status. */
export function listingTables(schema: string): string[] {
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
