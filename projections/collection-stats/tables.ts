import { periods, salesColumns } from "./periods.ts";
import { sortFigures } from "./sorts.ts";

const numeric = (columns: readonly string[]) =>
  columns.map((column) => `"${column}" numeric not null default 0`).join(",\n       ");

/** The tables are described in `README.md`. */
export function tables(schema: string): readonly string[] {
  const table = (name: string) => `"${schema}"."${name}"`;
  return [
    `create table ${table("token")} (
       contract_id integer       not null,
       token_id    numeric(78,0) not null,
       is_listed   boolean       not null,
       next_change_at    bigint        not null,
       primary key (contract_id, token_id)
     )`,
    `create index on ${table("token")} (next_change_at)`,
    `create index on ${table("token")} (contract_id, next_change_at)`,
    `comment on column ${table("token")}.next_change_at is 'When the first of its listings ends or begins, unix seconds'`,

    `create table ${table("minute_sales")} (
       contract_id    integer     not null,
       minute         timestamptz not null,
       chain_id       integer     not null,
       first_block_id bigint      not null,
       last_block_id  bigint      not null,
       last_at        timestamptz not null,
       sales          numeric     not null,
       wei            numeric     not null,
       priced_wei     numeric     not null,
       usd_e8         numeric     not null,
       primary key (contract_id, minute)
     )`,
    `create index on ${table("minute_sales")} (minute)`,

    `create table ${table("wash_trade")} (
       block_id          bigint        not null,
       transaction_index integer       not null,
       ordinal           integer       not null,
       contract_id       integer       not null,
       token_id          numeric(78,0) not null,
       chain_id          integer       not null,
       minute            timestamptz   not null,
       wei               numeric       not null,
       primary key (block_id, transaction_index, ordinal)
     )`,
    `create index on ${table("wash_trade")} (contract_id, token_id)`,
    `create index on ${table("wash_trade")} (minute)`,
    `comment on table ${table("wash_trade")} is 'Sales that are counted as wash trades'`,

    `create table ${table("contract")} (
       contract_id   integer primary key,
       chain_id      integer not null,
       collection_id integer,
       listed        numeric not null default 0,
       ${numeric(salesColumns)}
     ) with (fillfactor = 80)`,
    `create index on ${table("contract")} (collection_id)`,
    // As of `collections.contract`: most contracts are a collection of their own.
    `alter table ${table("contract")} alter column collection_id set (n_distinct = -1)`,

    `create table ${table("snapshot_clock")} (
       chain_id integer     primary key,
       snapshot_at timestamptz not null,
       ${periods.map((period) => `"before_${period}" timestamptz`).join(", ")}
     )`,
    `create table ${table("period_clock")} (
       minute timestamptz primary key
     )`,
    `comment on table ${table("period_clock")} is 'The minute of the last clock tick or floor snapshot: periods begin as long before it'`,
    `comment on table ${table("snapshot_clock")} is 'The last floor snapshot, and those one period before it'`,

    `create table ${table("collection")} (
       collection_id integer primary key,
       chain_id      integer not null,
       verified      boolean not null,
       listed        numeric not null,
       ${numeric(salesColumns)},
       floor_wei     numeric,
       floor         jsonb,
       floor_buyable jsonb,
       best_offer    jsonb,
       next_change_at      bigint,
       ${periods.map((period) => `"change_${period}" numeric`).join(", ")}
     ) with (fillfactor = 80)`,
    `comment on column ${table("collection")}.next_change_at is 'When the floor, best offer or number of listed tokens may change by time alone, unix seconds'`,
    `comment on column ${table("collection")}."change_24h" is 'Of the floor, in millionths'`,
    `create index on ${table("collection")} (next_change_at) where next_change_at is not null`,
    `create index on ${table("collection")} (chain_id, collection_id)`,

    `create table ${table("holder_stats")} (
       collection_id integer primary key,
       chain_id      integer not null,
       verified      boolean not null,
       supply        numeric not null,
       holders       numeric not null
     ) with (fillfactor = 80)`,
    `comment on table ${table("holder_stats")} is 'Figures that only transfers change, apart from the indexes of the others'`,

    ...["collection", "holder_stats"].map(
      (name) => `create index on ${table(name)} (chain_id) where verified`,
    ),
    ...[...sortFigures.values()].map(
      ({ table: name, value, isPresent }) =>
        `create index on ${table(name)} (chain_id, (${value}), collection_id) ${isPresent === null ? "" : `where ${isPresent}`}`,
    ),

    `create table ${table("search_text")} (
       collection_id integer primary key,
       chain_id      integer not null,
       verified      boolean not null,
       terms         text    not null
     )`,
    `comment on table ${table("search_text")} is 'What a collection is searched by: its name, slug and addresses in lower case'`,

    `create table ${table("collection_count")} (
       chain_id integer not null,
       verified boolean not null,
       collections bigint not null,
       primary key (chain_id, verified)
     )`,
  ];
}
