import { type Kysely, sql } from "kysely";

/** The log and its dictionaries. Statements run one by one so that a failure names its line. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  "create schema if not exists log",

  `create table log.head (
     singleton boolean primary key default true check (singleton),
     position  bigint  not null check (position >= 0)
   )`,
  "insert into log.head (position) values (0)",
  "comment on table log.head is 'The position of the last fact. Appenders lock its row; so positions are dense and in commit order.'",

  `create table log.block (
     block_id  bigint      primary key,
     chain_id  integer     not null,
     number    bigint      not null,
     hash      bytea       not null,
     timestamp timestamptz not null,
     unique (chain_id, hash),
     constraint block_id_holds_chain_and_number check (block_id >> 12 = (chain_id::bigint << 32) | number)
   )`,
  "comment on table log.block is 'Blocks that hold facts, of every branch seen. block_id = chain_id << 44 | number << 12 | fork.'",

  `create table log.transaction (
     block_id          bigint  not null,
     transaction_index integer not null,
     hash              bytea   not null,
     primary key (block_id, transaction_index)
   )`,

  `create table log.contract (
     contract_id integer generated always as identity primary key,
     chain_id    integer not null,
     address     bytea   not null,
     unique (chain_id, address)
   )`,

  `create table log.contract_alias (
     chain_id   integer not null,
     address    bytea   not null,
     stands_for bytea   not null,
     primary key (chain_id, address)
   )`,
  "comment on table log.contract_alias is 'Adapters that orders name in place of the NFT contract whose tokens they move.'",
  // OpenSea's shared storefront is sold through lazy-minting adapters.
  `insert into log.contract_alias values
     (1, '\\xa604060890923ff400e8c6f5290461a83aedacec', '\\x495f947276749ce646f68ac8c248420045cb7b5e')`,

  `create table log.fact (
     position          bigint   not null,
     block_id          bigint,
     transaction_index integer,
     log_index         integer,
     contract_id       integer,
     sub_index         integer,
     kind              smallint not null,
     token_id          numeric(78,0),
     amount            numeric(78,0),
     from_address      bytea,
     to_address        bytea,
     order_hash        bytea,
     identity          bytea,
     recorded_at       timestamptz,
     payload           jsonb,
     constraint fact_pkey primary key (position) with (fillfactor = 100)
   )`,
  `create unique index fact_event on log.fact (block_id, log_index, sub_index) with (fillfactor = 100) where log_index is not null`,
  `create unique index fact_identity on log.fact (identity) where identity is not null`,
  `create index fact_block_state on log.fact (block_id, position) where kind in (1, 2)`,
  `create index fact_observation on log.fact (block_id) where log_index is null and kind not in (1, 2)`,
  `create index fact_token on log.fact (contract_id, token_id) where kind in (10, 12)`,
  `create index fact_token_range on log.fact (contract_id, token_id) where kind = 11`,
  `create index fact_order on log.fact (order_hash) where order_hash is not null`,
];
