/** Metadata of tokens and contracts, and what is to be fetched. */
export function tables(schema: string): readonly string[] {
  const state = `
       chain_id      integer not null,
       attempt       integer not null,
       last_position bigint not null,
       due_at        timestamptz not null,
       read_at       bigint not null default -1`;
  return [
    `create table ${schema}.token (
       contract_id   integer not null,
       token_id      numeric(78,0) not null,
       position      bigint not null,
       status        text not null,
       name          text,
       description   text,
       image         text,
       animation     text,
       content_type  text,
       token_uri     text,
       attributes    jsonb not null,
       issue         text,
       updated_at    timestamptz not null,${state},
       primary key (contract_id, token_id)
     )`,
    `create index token_name on ${schema}.token (chain_id, (lower(left(name, 64)) collate "C")) where name is not null`,
    `create table ${schema}.contract (
       contract_id   integer primary key,
       position      bigint not null,
       status        text not null,
       name          text,
       description   text,
       image         text,
       banner        text,
       website       text,
       twitter       text,
       discord       text,
       uri           text,
       updated_at    timestamptz not null,${state}
     )`,
    `comment on column ${schema}.token.issue is 'Why there is no metadata, or what of the document was left out for a limit'`,
    ...["token", "contract"].flatMap((table) => [
      `comment on column ${schema}.${table}.position is 'Of the fact that the row shows: the last successful one, else the last'`,
      `comment on column ${schema}.${table}.attempt is 'Failed attempts since the last success'`,
      `comment on column ${schema}.${table}.last_position is 'Of the last fact, successful or not'`,
      `comment on column ${schema}.${table}.due_at is 'When it is due to be fetched again'`,
      `comment on column ${schema}.${table}.read_at is 'Height of the block at which its URI was last read; -1: unknown'`,
      `create index on ${schema}.${table} (chain_id, due_at)`,
    ]),
    `create index on ${schema}.token (contract_id, read_at)`,
    `create table ${schema}.change (
       contract_id   integer not null,
       first_id      numeric(78,0) not null,
       last_id       numeric(78,0) not null,
       chain_id      integer not null,
       changed_at    bigint not null,
       is_pending    boolean not null,
       primary key (contract_id, first_id, last_id)
     )`,
    `create index on ${schema}.change (chain_id, contract_id, changed_at) where is_pending`,
    `create index on ${schema}.change (contract_id, changed_at) where last_id > first_id`,
    `comment on table ${schema}.change is 'Ids of which their contract said that metadata changed; -1: its own'`,
    `comment on column ${schema}.change.changed_at is 'Height of the last such event'`,
    `comment on column ${schema}.change.is_pending is 'Something of it that was fetched has not been since'`,
    `create table ${schema}.pending_token (
       chain_id      integer not null,
       contract_id   integer not null,
       token_id      numeric(78,0) not null,
       primary key (chain_id, contract_id, token_id)
     )`,
    `comment on table ${schema}.pending_token is 'Tokens with a row of their own, not burned or sent to 0x…dead, whose metadata was never fetched'`,
    `create table ${schema}.pending_range (
       contract_id   integer not null,
       chain_id      integer not null,
       first_id      numeric(78,0) not null,
       last_id       numeric(78,0) not null,
       primary key (contract_id, first_id)
     )`,
    `create index on ${schema}.pending_range (chain_id, contract_id, last_id)`,
    `comment on table ${schema}.pending_range is 'The same of tokens in ranges (ownership.token_range), as runs of ids'`,
    `create table ${schema}.pending_ranged_contract (
       chain_id      integer not null,
       contract_id   integer not null,
       primary key (chain_id, contract_id)
     )`,
    `comment on table ${schema}.pending_ranged_contract is 'Contracts with rows in pending_range, as long as few of their tokens were fetched'`,
    `create table ${schema}.pending_contract (
       chain_id      integer not null,
       contract_id   integer not null,
       primary key (chain_id, contract_id)
     )`,
    `comment on table ${schema}.pending_contract is 'Contracts with tokens whose metadata was never fetched'`,
  ];
}
