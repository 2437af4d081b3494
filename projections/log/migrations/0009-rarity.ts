import { type Kysely, sql } from "kysely";

/** What `projections/reads/rarity/README.md` tells of. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `create schema rarity`,
  `create table rarity.collection (
     collection_id integer primary key,
     fingerprint   text    not null,
     tokens        integer not null
   )`,
  `comment on column rarity.collection.fingerprint is 'Of the traits that the ranking was made from'`,
  `create table rarity.token (
     contract_id   integer          not null,
     token_id      numeric(78,0)    not null,
     collection_id integer          not null,
     rank          integer          not null,
     score         double precision not null,
     primary key (contract_id, token_id)
   )`,
  `create index on rarity.token (collection_id, rank, token_id, contract_id)`,
];
