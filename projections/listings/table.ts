/** Listings of all marketplaces with the state that the log tells of them, and how many there are of each status. */
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
       is_shown       boolean not null,
       is_contract_signed boolean not null,
       created_at     timestamptz not null,
       told_at        timestamptz not null,
       status         text not null,
       reason         text,
       filled         numeric not null,
       fillable       numeric not null,
       updated_at     timestamptz not null,
       primary key (order_hash, chain_id)
     ) with (fillfactor = 85)`,
    `comment on column ${listing}.position is 'Of the first fact that its marketplace told it by'`,
    `comment on column ${listing}.currency is 'Address of the wrapped native currency; null: the native one'`,
    `comment on column ${listing}.is_conduit_known is 'Moved by the common conduit, whose approvals and channel the log tells'`,
    `comment on column ${listing}.is_buyable is 'Data to buy it can be made, as long as it is active'`,
    `comment on column ${listing}.is_shown is 'False: the partner has withdrawn it'`,
    `comment on column ${listing}.is_contract_signed is 'Of the house and signed by a contract, which may change its mind unannounced'`,
    `comment on column ${listing}.told_at is 'When its marketplace told of it last'`,
    `comment on column ${listing}.fees is 'Per unit: [{recipient, unitWei, kind}]'`,
    `comment on column ${listing}.status is 'As of the last clock_ticked: a reader adds end_time > now'`,
    `comment on column ${listing}.reason is 'Why an inactive one is: of several reasons the first'`,
    `comment on column ${listing}.fillable is 'Units that are left and that the maker holds; 0 once it has ended'`,
    // For what comes in: which listings a token, a maker or a moment may change.
    `create index on ${listing} (maker, contract_id, token_id) where status in ('active', 'inactive')`,
    `create index on ${listing} (contract_id, token_id, status, unit_price_wei, position)
       where status in ('active', 'inactive')`,
    `create index on ${listing} (end_time) where status in ('active', 'inactive')`,
    `create index on ${listing} (start_time) where reason = 'not_started'`,
    // For what no fact tells of.
    `create index on ${listing} (chain_id, position)
       where is_contract_signed and status in ('active', 'inactive')`,
    // For what is read. Of a chain each marketplace apart: one may have a thousand times the listings of another.
    `create index on ${listing} (chain_id, marketplace, status, unit_price_wei, position)
       where status in ('active', 'inactive')`,
    `create index on ${listing} (chain_id, marketplace, status, created_at, position)
       where status in ('active', 'inactive')`,
    `create index on ${listing} (contract_id, unit_price_wei, position) where status = 'active' and is_buyable`,
    `create index on ${listing} (contract_id, status, unit_price_wei, position)
       where status in ('active', 'inactive')`,
    `create index on ${listing} (contract_id, status, created_at, position)
       where status in ('active', 'inactive')`,
    `create index on ${listing} (maker, chain_id, status, unit_price_wei, position)`,
    `create index on ${listing} (maker, chain_id, status, created_at, position)
       where status in ('active', 'inactive')`,
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
