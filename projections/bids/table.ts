import { isUnfilledEnd } from "../order-state/compaction.ts";

/** Our bids with their state, and their number by status. */
export function bidTables(schema: string): string[] {
  const bid = `${schema}.bid`;
  const isOpen = "status in ('active', 'inactive')";
  return [
    `create table ${bid} (
       chain_id        integer not null,
       order_hash      bytea not null,
       position        bigint not null,
       kind            text not null,
       contract_id     integer not null,
       token_id        numeric(78,0),
       standard        smallint not null,
       maker           bytea not null,
       currency        bytea not null,
       unit_price_wei  numeric(78,0) not null,
       seller_net_wei  numeric(78,0) not null,
       quantity        numeric(78,0) not null,
       start_time      bigint not null,
       end_time        bigint not null,
       counter         numeric(78,0) not null,
       fees            jsonb not null,
       is_contract_signed boolean not null,
       created_at      timestamptz not null,
       status          text not null,
       reason          text,
       filled          numeric(78,0) not null,
       filled_block_id bigint,
       updated_at      timestamptz not null,
       primary key (order_hash, chain_id)
     ) with (fillfactor = 85)`,
    `comment on column ${bid}.position is 'Of the order_submitted fact'`,
    `comment on column ${bid}.kind is 'single-token or collection'`,
    `comment on column ${bid}.currency is 'Its address: the contract may have no fact yet'`,
    `comment on column ${bid}.fees is 'Per unit: [{recipient, unitWei, kind}]'`,
    `comment on column ${bid}.is_contract_signed is 'By a contract, which may revoke its signature without an event'`,
    `comment on column ${bid}.status is 'As of the last clock_ticked: a reader adds end_time > now'`,
    `comment on column ${bid}.reason is 'Why it is inactive; the first of several reasons'`,
    `comment on column ${bid}.filled is 'Units'`,
    `comment on column ${bid}.filled_block_id is 'Latest block with a fill; null: none'`,
    // Writes: bids affected by a maker, a fill or the clock.
    `create index on ${bid} (maker, chain_id) where status <> 'filled'`,
    `create index on ${bid} (maker, chain_id, filled_block_id) where filled_block_id is not null`,
    `create index on ${bid} (end_time) where ${isOpen}`,
    `create index on ${bid} (end_time) where ${isUnfilledEnd}`,
    `create index on ${bid} (start_time) where reason = 'not_started'`,
    // Rechecks of state that changes without an event.
    `create index on ${bid} (chain_id, position) where is_contract_signed and ${isOpen}`,
    // Reads, and writes that affect a maker's open bids.
    `create index on ${bid} (chain_id, status, unit_price_wei, position) where ${isOpen}`,
    `create index on ${bid} (chain_id, status, created_at, position) where ${isOpen}`,
    `create index on ${bid} (contract_id, status, unit_price_wei, position) where ${isOpen}`,
    `create index on ${bid} (contract_id, status, created_at, position) where ${isOpen}`,
    `create index on ${bid} (contract_id, status, seller_net_wei, position) where ${isOpen}`,
    `create index on ${bid} (chain_id, status, seller_net_wei, position) where ${isOpen}`,
    `create index on ${bid} (contract_id, token_id, status, unit_price_wei, position)`,
    `create index on ${bid} (token_id, chain_id, status, unit_price_wei, position)
       where token_id is not null`,
    `create index on ${bid} (contract_id, token_id, seller_net_wei desc, position) where status = 'active'`,
    `create index on ${bid} (maker, chain_id, status, unit_price_wei, position)`,
    `create index on ${bid} (maker, chain_id, status, created_at, position)`,
    `create table ${schema}.count (
       chain_id    integer not null,
       contract_id integer not null,
       kind        text not null,
       status      text not null,
       rows        bigint not null,
       primary key (chain_id, contract_id, kind, status)
     )`,
  ];
}
