/** The tables are described in `README.md`. */
export function tables(schema: string): readonly string[] {
  const table = (name: string) => `"${schema}"."${name}"`;
  return [
    `create table ${table("collection")} (
       collection_id  integer     primary key,
       chain_id       integer     not null,
       slug           text        not null,
       name           text,
       symbol         text,
       standard       smallint,
       verified       boolean     not null,
       registered     boolean     not null,
       first_block_id bigint,
       created_at     timestamptz,
       updated_at     timestamptz,
       royalty_recipient bytea,
       royalty_bps       integer
     )`,
    `create index collection_slug on ${table("collection")} (chain_id, slug)`,
    `create index collection_name on ${table("collection")} (chain_id, lower(name) text_pattern_ops)`,

    `create table ${table("word")} (
       collection_id integer not null,
       chain_id      integer not null,
       verified      boolean not null,
       word          text    not null collate "C",
       is_name       boolean not null,
       look          text    collate "C",
       primary key (collection_id, word)
     )`,
    // Verified collections are few.
    `create index word_look on ${table("word")} (look) where verified and look is not null`,
    `create index word_begins on ${table("word")} (chain_id, verified, word)`,

    `create table ${table("contract")} (
       contract_id   integer  primary key,
       collection_id integer  not null,
       standard      smallint,
       is_described  boolean  not null,
       has_royalty   boolean  not null
     )`,
    `create index contract_collection on ${table("contract")} (collection_id)`,
    // Most contracts are a collection of their own. Counted while there are few, they would be looked up by reading all.
    `alter table ${table("contract")} alter column collection_id set (n_distinct = -1)`,
    `create index contract_without_description on ${table("contract")} (contract_id) where not is_described`,
    `create index contract_without_royalty on ${table("contract")} (contract_id) where not has_royalty`,

    `create table ${table("first_transfer")} (
       contract_id      integer primary key,
       erc721_block_id  bigint,
       erc1155_block_id bigint
     )`,
    `create table ${table("description")} (
       position    bigint   primary key,
       contract_id integer  not null,
       block_id    bigint,
       name        text,
       symbol      text,
       standard    smallint,
       recorded_at timestamptz
     )`,
    `create index description_contract on ${table("description")} (contract_id)`,

    `create table ${table("creator_fee")} (
       position    bigint  primary key,
       contract_id integer not null,
       recipient   bytea,
       bps         integer not null,
       counts      boolean not null
     )`,
    `create index creator_fee_contract on ${table("creator_fee")} (contract_id, position desc) where counts`,
    `create table ${table("stated_royalty")} (
       position    bigint  primary key,
       contract_id integer not null,
       source      text    not null,
       block_id    bigint,
       recipient   bytea,
       bps         integer
     )`,
    `create index stated_royalty_contract on ${table("stated_royalty")} (contract_id, source, block_id desc, position desc)`,

    `create table ${table("registration")} (
       position      bigint      primary key,
       collection_id integer     not null,
       chain_id      integer     not null,
       address       bytea       not null,
       slug          text,
       name          text,
       verified      boolean     not null,
       contracts     bytea[]     not null,
       recorded_at   timestamptz,
       royalty_recipient bytea,
       royalty_bps       integer
     )`,
    `create table ${table("registry_collection")} (
       collection_id integer primary key,
       slug          text    not null,
       name          text,
       verified      boolean not null,
       first_at      timestamptz,
       latest_at     timestamptz,
       royalty_recipient bytea,
       royalty_bps       integer
     )`,
    `create table ${table("registry_contract")} (
       chain_id      integer not null,
       address       bytea   not null,
       collection_id integer not null,
       primary key (chain_id, address)
     )`,
  ];
}
