/** What each table holds is told in `README.md`. */
export function tables(schema: string): readonly string[] {
  return [
    `create table "${schema}"."twin" (
       position    bigint  primary key,
       chain_id    integer not null,
       order_hash  bytea   not null,
       twin_hash   bytea   not null,
       marketplace text    not null,
       end_time    numeric not null,
       is_queued   boolean not null
     )`,
    `create index twin_name on "${schema}"."twin" (chain_id, order_hash)`,
    `create index twin_queue on "${schema}"."twin" (marketplace, position) where is_queued`,
    `create table "${schema}"."answer" (
       position    bigint  primary key,
       chain_id    integer not null,
       order_hash  bytea   not null,
       twin_hash   bytea   not null,
       marketplace text    not null
     )`,
    `create index answer_name on "${schema}"."answer" (chain_id, order_hash)`,
  ];
}
