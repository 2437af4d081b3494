import { burnAddresses } from "../domain/burn-address.ts";

const isBurned = `(owner in (${[...burnAddresses].map((one) => `'\\x${one.slice(2)}'::bytea`).join(", ")}))`;

/**
 * Owners of ERC-721 tokens, balances of ERC-1155 ids, and counters. Sums are unbounded: a contract may emit any number
 * of transfers of the largest amount. The fillfactor lets a reorg that moves a transfer to another block update the row
 * in place (HOT), without touching an index.
 */
export function ownershipTables(schema: string): string[] {
  return [
    `create table ${schema}.token (
       contract_id integer not null,
       token_id    numeric(78,0) not null,
       standard    smallint not null,
       owner       bytea,
       supply      numeric not null,
       is_burned   boolean not null,
       transfers   bigint,
       burned      numeric,
       unlogged    numeric,
       block_id    bigint,
       log_index   integer,
       primary key (contract_id, token_id, standard)
     ) with (fillfactor = 90)`,
    `comment on column ${schema}.token.owner is 'ERC-721: the current owner, burn addresses included. ERC-1155: null'`,
    `comment on column ${schema}.token.supply is 'Units not burned: 0 or 1 for ERC-721'`,
    `comment on column ${schema}.token.transfers is 'ERC-1155: effective transfers; without any there is no row'`,
    `comment on column ${schema}.token.burned is 'ERC-1155: units that transfers gave to burn addresses'`,
    `comment on column ${schema}.token.unlogged is 'ERC-1155: units that were moved and that no transfer had given: minted without an event'`,
    `comment on column ${schema}.token.block_id is 'With log_index, the last transfer of the token'`,
    `create index on ${schema}.token (owner, contract_id, token_id) where owner is not null`,
    `create table ${schema}.last_range (
       contract_id integer not null,
       first_id    numeric(78,0) not null,
       last_id     numeric(78,0) not null,
       owner       bytea not null,
       block_id    bigint not null,
       log_index   integer not null,
       primary key (contract_id, first_id)
     )`,
    `comment on table ${schema}.last_range is 'For each id its last effective ConsecutiveTransfer, as runs of ids that do not overlap'`,
    `create table ${schema}.token_range (
       contract_id integer not null,
       first_id    numeric(78,0) not null,
       last_id     numeric(78,0) not null,
       owner       bytea not null,
       is_burned   boolean not null generated always as ${isBurned} stored,
       block_id    bigint not null,
       log_index   integer not null,
       primary key (contract_id, first_id)
     )`,
    `comment on table ${schema}.token_range is 'Those of them without a later transfer of their own: their owner is here, all others have a row in token'`,
    `create index on ${schema}.token_range (owner, contract_id, first_id)`,
    `create table ${schema}.balance (
       contract_id integer not null,
       token_id    numeric(78,0) not null,
       owner       bytea not null,
       units       numeric not null,
       primary key (contract_id, token_id, owner)
     )`,
    `comment on column ${schema}.balance.units is 'What transfers gave less what they took, and what was minted without an event; above zero'`,
    `create index on ${schema}.balance (owner, contract_id, token_id)`,
    `create table ${schema}.holder (
       contract_id integer not null,
       owner       bytea not null,
       tokens      numeric not null,
       primary key (contract_id, owner)
     )`,
    `comment on table ${schema}.holder is 'Number of token ids of a contract that an address holds; no burn addresses'`,
    `create table ${schema}.collection (
       contract_id   integer primary key,
       erc721_tokens numeric not null,
       tokens        numeric not null,
       supply        numeric not null,
       units         numeric not null,
       holders       bigint not null,
       standard      smallint generated always as (case when erc721_tokens > 0 then 721 else 1155 end) stored
     )`,
    `comment on column ${schema}.collection.tokens is 'Token ids with a transfer'`,
    `comment on column ${schema}.collection.supply is 'Token ids that are not burned'`,
  ];
}
