import { periods, salesColumn, salesColumns } from "./periods.ts";

/** Sort keys of unknown floors and changes: below or above all others, so that they come last. */
const belowAll = "-1000000000";
const aboveAll = `1${"0".repeat(90)}`;

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

    `create table ${table("hourly_sales")} (
       contract_id    integer     not null,
       hour           timestamptz not null,
       chain_id       integer     not null,
       first_block_id bigint      not null,
       last_block_id  bigint      not null,
       last_at        timestamptz not null,
       sales          numeric     not null,
       wei            numeric     not null,
       priced         numeric     not null,
       usd_e8         numeric     not null,
       primary key (contract_id, hour)
     )`,
    `create index on ${table("hourly_sales")} (hour)`,

    `create table ${table("wash_trade")} (
       block_id          bigint        not null,
       transaction_index integer       not null,
       ordinal           integer       not null,
       contract_id       integer       not null,
       token_id          numeric(78,0) not null,
       chain_id          integer       not null,
       hour              timestamptz   not null,
       wei               numeric       not null,
       primary key (block_id, transaction_index, ordinal)
     )`,
    `create index on ${table("wash_trade")} (contract_id, token_id)`,
    `create index on ${table("wash_trade")} (hour)`,
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
    `create index on ${table("collection")} (next_change_at)`,

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
    ...[...indexed].map(
      ([key, name]) => `create index on ${table(name)} (chain_id, (${key}), collection_id)`,
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

const sorts = ["volume", "floor", "sales", "listed", "supply", "holders", "change"] as const;
type Sort = (typeof sorts)[number];

/** The table with the sort key of a sort. */
export function sortTable(sort: Sort): "collection" | "holder_stats" {
  return sort === "supply" || sort === "holders" ? "holder_stats" : "collection";
}

/** SQL: a collection's sort key, as indexed; volume and sales without wash trades where `excludesWash`. */
export function sortKey(
  sort: Sort,
  direction: "asc" | "desc",
  period: (typeof periods)[number],
  excludesWash: boolean,
): string {
  const last = direction === "asc" ? aboveAll : belowAll;
  if (sort === "volume" || sort === "sales") {
    const figure = sort === "volume" ? "wei" : "sales";
    const all = `"${salesColumn(figure, period)}"`;
    return excludesWash ? `${all} - "${salesColumn(`wash_${figure}`, period)}"` : all;
  }
  if (sort === "floor") return `coalesce(floor_wei, ${last})`;
  if (sort === "change") return `coalesce("change_${period}", ${last})`;
  return sort;
}

/** Sort keys of all sorts with their tables, each once. */
const indexed = new Map(
  sorts.flatMap((sort) =>
    (["asc", "desc"] as const).flatMap((direction) =>
      periods.flatMap((period) =>
        [false, true].map(
          (excludesWash) =>
            [sortKey(sort, direction, period, excludesWash), sortTable(sort)] as const,
        ),
      ),
    ),
  ),
);
