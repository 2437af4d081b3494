/** Listings of the book with the state that the log tells of them, and how many there are of each status. */
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
       currency_id    integer,
       start_time     bigint not null,
       end_time       bigint not null,
       counter        numeric(78,0) not null,
       fees           jsonb not null,
       created_at     timestamptz not null,
       status         text not null,
       reason         text,
       filled         numeric not null,
       fillable       numeric not null,
       updated_at     timestamptz not null,
       primary key (order_hash, chain_id)
     ) with (fillfactor = 85)`,
    `comment on column ${listing}.position is 'Of the order_submitted fact'`,
    `comment on column ${listing}.currency_id is 'Null: the native currency'`,
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
    // For what is read.
    `create index on ${listing} (chain_id, status, unit_price_wei, position) where status in ('active', 'inactive')`,
    `create index on ${listing} (chain_id, status, created_at, position) where status in ('active', 'inactive')`,
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
