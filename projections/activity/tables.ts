/** `README.md` says what the columns hold. */
export function tables(schema: string): readonly string[] {
  const cancel = `"${schema}"."cancel"`;
  return [
    `create table ${cancel} (
       block_id          bigint  not null,
       log_index         integer not null,
       sub_index         integer not null,
       transaction_index integer not null,
       contract_id       integer,
       token_id          numeric(78,0),
       maker             bytea   not null,
       order_hash        bytea,
       primary key (block_id, log_index, sub_index)
     )`,
    `create index cancel_contract on ${cancel} (contract_id, block_id, log_index, sub_index)
     where contract_id is not null`,
    `create index cancel_token on ${cancel} (contract_id, token_id, block_id, log_index, sub_index)
     where token_id is not null`,
    `create index cancel_maker on ${cancel} (maker, block_id, log_index, sub_index)`,
  ];
}
