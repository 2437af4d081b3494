create schema rarity;

create table rarity.collection (
  collection_id integer not null,
  fingerprint text not null,
  tokens integer not null,
  constraint collection_pkey PRIMARY KEY (collection_id)
);
comment on column rarity.collection.fingerprint is 'Of the traits that the ranking was made from';

create table rarity.token (
  contract_id integer not null,
  token_id numeric(78,0) not null,
  collection_id integer not null,
  rank integer not null,
  score double precision not null,
  constraint token_pkey PRIMARY KEY (contract_id, token_id)
);
CREATE INDEX token_collection_id_rank_token_id_contract_id_idx ON rarity.token USING btree (collection_id, rank, token_id, contract_id);
