import { bitsType } from "../engine/token-ids.ts";

/** The tables are described in `README.md`. */
export function tables(schema: string): readonly string[] {
  return [
    `create table ${schema}.token (
       contract_id integer       not null,
       token_id    numeric(78,0) not null,
       trait_keys  uuid[]        not null,
       is_live     boolean       not null,
       primary key (contract_id, token_id)
     )`,
    `comment on column ${schema}.token.trait_keys is 'Keys of its traits, in the order of its attributes'`,

    `create table ${schema}.token_bitmap (
       contract_id integer       not null,
       trait_key   uuid          not null,
       chunk       numeric(78,0) not null,
       bits        ${bitsType}   not null,
       primary key (contract_id, trait_key, chunk)
     )`,
    `comment on table ${schema}.token_bitmap is 'A bit per token id of a chunk of 1,024: whether it has the trait'`,

    `create table ${schema}.trait (
       contract_id    integer not null,
       trait_key      uuid    not null,
       match_key      uuid    not null,
       type           text    not null,
       type_key       text    not null,
       value          text    not null,
       is_number      boolean not null,
       is_numeric     boolean not null,
       tokens         bigint  not null,
       live           bigint  not null,
       listed         bigint  not null,
       floor_wei      numeric(78,0),
       floor_position bigint,
       floor_token    numeric(78,0),
       primary key (contract_id, trait_key)
     )`,
    `comment on column ${schema}.trait.trait_key is 'Hash of contract, type and value as they are written'`,
    `comment on column ${schema}.trait.match_key is 'Hash of the type in any spelling and the value as text'`,
    `comment on column ${schema}.trait.is_number is 'Written as a number'`,
    `comment on column ${schema}.trait.is_numeric is 'Reads as a number'`,
    `comment on column ${schema}.trait.tokens is 'Token ids, burned ones included'`,
    `comment on column ${schema}.trait.live is 'Token ids that are not burned'`,
    `comment on column ${schema}.trait.listed is 'Token ids with an active listing as of the last clock_ticked'`,
    `comment on column ${schema}.trait.floor_wei is 'Of its first row in listed_trait, like the next two; null: none'`,
    `create index on ${schema}.trait (contract_id, match_key, (coalesce(floor_wei, 1e78::numeric)))`,
    `create index on ${schema}.trait (contract_id, type_key, (coalesce(floor_wei, 1e78::numeric)), (left(value, 32)), match_key)
       where live > 0`,
    `create index on ${schema}.trait (contract_id, type_key) where live > 0 and not is_numeric`,
    `create index on ${schema}.trait (match_key, contract_id)`,

    `create table ${schema}.listed_token (
       contract_id    integer       not null,
       token_id       numeric(78,0) not null,
       standard       smallint      not null,
       order_hash     bytea         not null,
       unit_price_wei numeric(78,0) not null,
       position       bigint        not null,
       listed_at      timestamptz   not null,
       primary key (contract_id, token_id)
     )`,
    `comment on table ${schema}.listed_token is 'The cheapest active listing of each token that has one, as of the last clock_ticked'`,
    `comment on column ${schema}.listed_token.listed_at is 'When the newest of its active listings was recorded'`,
    `create index on ${schema}.listed_token (contract_id, unit_price_wei, token_id)`,
    `create index on ${schema}.listed_token (contract_id, listed_at, token_id)`,

    `create table ${schema}.listed_token_trait (
       contract_id    integer       not null,
       trait_key      uuid          not null,
       unit_price_wei numeric(78,0) not null,
       position       bigint        not null,
       token_id       numeric(78,0) not null,
       primary key (contract_id, trait_key, unit_price_wei, position)
     )`,
    `comment on table ${schema}.listed_token_trait is 'A row of listed_token for each trait of its token'`,

    `create table ${schema}.contract (
       contract_id integer primary key,
       tokens      bigint  not null,
       live        bigint  not null,
       listed      bigint  not null,
       fingerprint numeric not null
     )`,
    `comment on column ${schema}.contract.fingerprint is 'Sum of hashes of the live tokens with their traits'`,
  ];
}
