/** The tables are described in `README.md`. */
export function tables(schema: string): readonly string[] {
  return [
    `create table "${schema}"."snapshot" (
       chain_id integer     not null,
       taken_at timestamptz not null,
       primary key (chain_id, taken_at)
     )`,
    `create table "${schema}"."floor" (
       contract_id integer     not null,
       valid_from  timestamptz not null,
       valid_until timestamptz,
       chain_id    integer     not null,
       price_wei   numeric     not null,
       primary key (contract_id, valid_from)
     )`,
    `comment on column "${schema}"."floor".valid_until is 'The first snapshot with another floor or none; null: the current floor'`,
    `create index on "${schema}"."floor" (chain_id, valid_from)`,
    `create index on "${schema}"."floor" (chain_id, valid_until)`,
  ];
}
