/** `README.md` says what the columns hold. */
export function tables(schema: string): readonly string[] {
  const event = `"${schema}"."event"`;
  return [
    `create table ${event} (
       block_id          bigint  not null,
       log_index         integer not null,
       sub_index         integer not null,
       transaction_index integer not null,
       contract_id       integer,
       type              text    not null,
       token_id          numeric(78,0),
       quantity          numeric(78,0),
       price_wei         numeric,
       from_address      bytea,
       to_address        bytea,
       currency          bytea,
       order_hash        bytea,
       primary key (block_id, log_index, sub_index)
     )`,
    `create index event_contract on ${event} (contract_id, block_id, log_index, sub_index)
     where contract_id is not null`,
    `create index event_token on ${event} (contract_id, token_id, block_id, log_index, sub_index)
     where token_id is not null`,
    `create index event_from on ${event} (from_address, block_id, log_index, sub_index)`,
    `create index event_to on ${event} (to_address, block_id, log_index, sub_index) where to_address is not null`,
  ];
}
