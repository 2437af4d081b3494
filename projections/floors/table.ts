/** What each table holds is told in `README.md`. */
export function tables(schema: string): readonly string[] {
  return [
    `create table "${schema}"."snapshot" (
       chain_id integer     not null,
       moment   timestamptz not null,
       primary key (chain_id, moment)
     )`,
    `create table "${schema}"."floor" (
       contract_id integer     not null,
       since       timestamptz not null,
       until       timestamptz,
       chain_id    integer     not null,
       price_wei   numeric     not null,
       primary key (contract_id, since)
     )`,
    `comment on column "${schema}"."floor".until is 'The first snapshot that saw another price or none; null: the last one saw this'`,
    `create index on "${schema}"."floor" (chain_id, since)`,
    `create index on "${schema}"."floor" (chain_id, until)`,
  ];
}
