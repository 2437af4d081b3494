import { bitsType } from "../engine/token-ids.ts";

/**
 * Statements that make the projection's empty tables.
 * Sums of wei have no width: amounts of a worthless currency may add up to more than a uint256 holds.
 */
export function tables(schema: string): readonly string[] {
  return [
    `create table ${schema}.sale (
       block_id          bigint           not null,
       transaction_index integer          not null,
       ordinal           integer          not null,
       sale_id           bytea            not null,
       chain_id          integer          not null,
       contract_id       integer          not null,
       token_id          numeric(78,0)    not null,
       quantity          numeric(78,0)    not null,
       price_wei         numeric          not null,
       total_wei         numeric          not null,
       currency          bytea            not null,
       seller            bytea            not null,
       buyer             bytea            not null,
       side              text             not null,
       marketplace       text             not null,
       protocol          text             not null,
       protocol_version  text             not null,
       exchange          bytea            not null,
       order_hash        bytea,
       fees              jsonb            not null,
       bundle_size       integer,
       bundle_total_wei  numeric,
       log_index         integer          not null,
       transaction_hash  bytea            not null,
       block_number      bigint           not null,
       block_hash        bytea            not null,
       timestamp         timestamptz      not null,
       via               bytea,
       is_erc1155        boolean          not null,
       primary key (block_id, transaction_index, ordinal)
     )`,
    `create index sale_contract on ${schema}.sale
       (contract_id, block_id desc, transaction_index desc, ordinal desc)`,
    `create index sale_token on ${schema}.sale
       (contract_id, token_id, block_id desc, transaction_index desc, ordinal desc)`,
    `create index sale_buyer on ${schema}.sale (buyer, block_id desc, transaction_index desc, ordinal desc)`,
    `create index sale_seller on ${schema}.sale (seller, block_id desc, transaction_index desc, ordinal desc)`,
    `create index sale_marketplace on ${schema}.sale
       (marketplace, protocol, block_id desc nulls last, transaction_index desc, ordinal desc)`,
    `create index sale_currency on ${schema}.sale
       (currency, block_id desc nulls last, transaction_index desc, ordinal desc)`,
    `create index sale_time on ${schema}.sale (chain_id, timestamp, block_id)`,
    `create index sale_token_id on ${schema}.sale
       (token_id, block_id desc, transaction_index desc, ordinal desc)`,
    `create index sale_id on ${schema}.sale (sale_id)`,
    `comment on column ${schema}.sale.price_wei is 'Per unit, rounded down.'`,
    `comment on column ${schema}.sale.currency is 'Twenty zero bytes: the native currency.'`,

    `comment on column ${schema}.sale.via is 'The router or aggregator that took the trade for the buyer.'`,

    `create table ${schema}.unresolved_event (
       block_id          bigint  not null,
       transaction_index integer not null,
       place             integer not null,
       log_index         integer not null,
       protocol          text    not null,
       reason            text    not null,
       primary key (block_id, transaction_index, place)
     )`,
    `comment on table ${schema}.unresolved_event is 'Events that announce a trade and make no sale'`,

    `create table ${schema}.unresolved_event_total (
       chain_id integer not null,
       protocol text    not null,
       reason   text    not null,
       events   bigint  not null,
       primary key (chain_id, protocol, reason)
     )`,
    `comment on table ${schema}.unresolved_event_total is 'Rows of unresolved_event'`,

    `create table ${schema}.wash_trade (
       block_id          bigint        not null,
       transaction_index integer       not null,
       ordinal           integer       not null,
       contract_id       integer       not null,
       token_id          numeric(78,0) not null,
       rule              text          not null,
       primary key (block_id, transaction_index, ordinal)
     )`,
    `create index wash_trade_token on ${schema}.wash_trade (contract_id, token_id)`,
    `comment on table ${schema}.wash_trade is 'Sales that look like wash trades, and the rule that says so. Apart from the sales: other sales of the token decide'`,

    `create table ${schema}.total (
       chain_id    integer not null,
       contract_id integer not null,
       sales       bigint  not null,
       primary key (chain_id, contract_id)
     )`,
    `comment on table ${schema}.total is 'Rows of sale; contract_id 0 is the whole chain.'`,

    `create table ${schema}.day (
       chain_id    integer     not null,
       contract_id integer     not null,
       day         timestamptz not null,
       marketplace text        not null,
       protocol    text        not null,
       currency    bytea       not null,
       sales       bigint      not null,
       primary key (chain_id, contract_id, day, marketplace, protocol, currency)
     )`,
    `comment on table ${schema}.day is 'Rows of sale by day (UTC); contract_id 0 is the whole chain.'`,
    `create table ${schema}.token_total (
       chain_id integer       not null,
       token_id numeric(78,0) not null,
       sales    bigint        not null,
       primary key (chain_id, token_id)
     )`,
    `comment on table ${schema}.token_total is 'Rows of sale by token id, whatever the contract.'`,

    `create table ${schema}.sale_count_bits (
       contract_id integer       not null,
       chunk       numeric(78,0) not null,
       digit       smallint      not null,
       bits        ${bitsType}   not null,
       primary key (contract_id, chunk, digit)
     )`,
    `comment on table ${schema}.sale_count_bits is 'Bit-sliced sale counts: of each token in a chunk of ids, one binary digit of its number of sales'`,

    `create table ${schema}.volume (
       contract_id integer       not null,
       currency    bytea         not null,
       hour        timestamptz   not null,
       sales       bigint        not null,
       wei         numeric       not null,
       primary key (contract_id, currency, hour)
     )`,
  ];
}
