import { type RawBuilder, sql } from "kysely";
import { holdsAny } from "../engine/fact-window.ts";
import type { FactWindow, Projection } from "../engine/projection.ts";
import type { Session } from "../log/database.ts";
import { type FactKind, kindList } from "../log/fact-kinds.ts";
import { versions } from "../log/versions.ts";
import {
  addAllFirstTransfers,
  applyCreatorFees,
  applyDescriptions,
  applyFirstTransfers,
  applyRegistrations,
  applyStatedRoyalties,
  deriveRegistry,
  hasRoyalty,
  transferKinds,
  updateRoyaltyStates,
} from "./apply-facts.ts";
import { deriveWords } from "./words.ts";

/** The tables are described in `README.md`. */
function tables(schema: string): readonly string[] {
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

/** Collections: NFT contracts with transfers, grouped by the registry. */
export const collectionsProjection: Projection = {
  name: "collections",
  version: versions.collections.version,
  handles: [
    ...transferKinds,
    "collection_registered",
    "contract_described",
    "creator_fee_read",
    "royalty_stated",
  ],
  sample: {
    key: ["contract_id"],
    where: sql`log_index is null or kind in ${kindList("erc721_transfer", "erc721_consecutive_transfer", "erc1155_transfer")}`,
    tables: ["first_transfer", "description", "stated_royalty"],
  },
  tables,
  async apply(session, schema, window) {
    const { kinds } = window;
    const holds = (...some: FactKind[]) => kinds === undefined || holdsAny(kinds, some);
    if (holds("creator_fee_read")) await applyCreatorFees(session, schema, window);
    const described = holds("contract_described")
      ? await applyDescriptions(session, schema, window)
      : [];
    const stated = holds("royalty_stated")
      ? await applyStatedRoyalties(session, schema, window)
      : [];
    const transferred = holds(...transferKinds)
      ? await applyFirstTransfers(session, schema, window)
      : [];
    const registry =
      holds("collection_registered") && (await applyRegistrations(session, schema, window))
        ? await deriveRegistry(session, schema)
        : { contracts: [], collections: [] };

    const contracts = [...new Set([...described, ...transferred, ...registry.contracts])];
    const affected = await deriveContracts(session, schema, contracts);
    // After them: what they have derived is right already, and is not written twice.
    await updateRoyaltyStates(session, schema, stated);
    const collections = [...new Set([...contracts, ...affected, ...registry.collections])];
    if (collections.length === 0) return;
    await deriveCollections(session, schema, collections);
    await deriveWords(session, schema, collections);
  },
  keepsIndexes: true,
  deriveAll: [
    { name: "observations", derive: deriveObservations },
    { name: "first transfers", derive: addAllFirstTransfers },
    { name: "contracts", derive: deriveAllContracts },
    { name: "collections", derive: deriveAllCollections },
  ],
};

/** What is stated of contracts and collections, and the registry. */
async function deriveObservations(session: Session, schema: string, window: FactWindow) {
  await applyCreatorFees(session, schema, window);
  await applyDescriptions(session, schema, window);
  await applyStatedRoyalties(session, schema, window);
  if (await applyRegistrations(session, schema, window)) await deriveRegistry(session, schema);
}

async function deriveAllContracts(session: Session, schema: string): Promise<void> {
  await deriveContracts(session, schema, await readNamed(session, schema));
}

async function deriveAllCollections(session: Session, schema: string): Promise<void> {
  const collections = await readNamed(session, schema);
  await deriveCollections(session, schema, collections);
  await deriveWords(session, schema, collections);
}

/** Every contract that a fact or the registry names. A collection is one of them. */
async function readNamed(session: Session, schema: string): Promise<number[]> {
  const table = (name: string) => sql.table(`${schema}.${name}`);
  const { rows } = await sql<{ contract_id: number }>`
    select contract_id from ${table("first_transfer")}
    union select contract_id from ${table("description")}
    union select contract_id from ${table("stated_royalty")}
    union select collection_id from ${table("registry_collection")}
    union
    select k.contract_id
    from ${table("registry_contract")} r join log.contract k on k.chain_id = r.chain_id and k.address = r.address
  `.execute(session);
  return rows.map((row) => row.contract_id);
}

/** Replaces the rows of `contracts`. Returns the collections that they left or joined. */
async function deriveContracts(
  session: Session,
  schema: string,
  contracts: readonly number[],
): Promise<number[]> {
  if (contracts.length === 0) return [];
  const contract = sql.table(`${schema}.contract`);
  const left = await sql<{ collection_id: number }>`
    delete from ${contract} where contract_id = any (${contracts}::int[]) returning collection_id
  `.execute(session);
  const joined = await sql<{ collection_id: number }>`
    insert into ${contract}
    select k.contract_id, coalesce(c.collection_id, k.contract_id), ${standard}, s.contract_id is not null,
           ${hasRoyalty(schema, sql`k.contract_id`)}
    from ${given(contracts)} join log.contract k using (contract_id)
    left join ${sql.table(`${schema}.first_transfer`)} d on d.contract_id = k.contract_id
    left join ${sql.table(`${schema}.registry_contract`)} c on c.chain_id = k.chain_id and c.address = k.address
    left join lateral (${newestDescription(schema)}) s on true
    where (d.contract_id is not null and (d.erc1155_block_id is not null or s.standard is distinct from 20))
      or c.collection_id = k.contract_id
      or (c.collection_id is not null and s.contract_id is not null)
    returning collection_id
  `.execute(session);
  return [...left.rows, ...joined.rows].map((row) => row.collection_id);
}

/** SQL: the standard of a contract's transfers; where it emits both sorts or none yet, that of its description. */
const standard = sql`case
  when d.erc721_block_id is not null and d.erc1155_block_id is null then 721
  when d.erc1155_block_id is not null and d.erc721_block_id is null then 1155
  else coalesce(nullif(s.standard, 20), case when d.contract_id is not null then 721 end)
end`;

/** Replaces the rows of `collections`. A collection exists while its primary contract is one of its contracts. */
async function deriveCollections(
  session: Session,
  schema: string,
  collections: readonly number[],
): Promise<void> {
  const collection = sql.table(`${schema}.collection`);
  const contract = sql.table(`${schema}.contract`);
  await sql`
    delete from ${collection} where collection_id = any (${collections}::int[])
  `.execute(session);
  await sql`
    insert into ${collection}
    select k.contract_id, k.chain_id, coalesce(r.slug, '0x' || encode(k.address, 'hex')),
           coalesce(r.name, s.name), s.symbol, m.standard, coalesce(r.verified, false),
           r.collection_id is not null, first.block_id, coalesce(b.timestamp, r.first_at),
           greatest(b.timestamp, r.latest_at, s.recorded_at), r.royalty_recipient, r.royalty_bps
    from ${given(collections)} join log.contract k using (contract_id)
    join ${contract} m on m.contract_id = k.contract_id and m.collection_id = k.contract_id
    left join ${sql.table(`${schema}.registry_collection`)} r on r.collection_id = k.contract_id
    left join lateral (${newestDescription(schema)}) s on true
    cross join lateral (
      select min((
        select least(d.erc721_block_id, d.erc1155_block_id)
        from ${sql.table(`${schema}.first_transfer`)} d where d.contract_id = one.contract_id
      )) as block_id
      from ${contract} one where one.collection_id = k.contract_id
    ) first
    left join log.block b on b.block_id = first.block_id
  `.execute(session);
}

/**
 * SQL: contracts to join with. As a condition on another table's index the list would be searched once for each row of a
 * nested loop: of 10,000 new contracts 10,000 times.
 */
const given = (contracts: readonly number[]): RawBuilder<unknown> =>
  sql`unnest(${[...new Set(contracts)]}::int[]) given (contract_id)`;

/** SQL: the newest description of contract `k`, by the block it was read at. */
function newestDescription(schema: string): RawBuilder<unknown> {
  return sql`
    select * from ${sql.table(`${schema}.description`)} one
    where one.contract_id = k.contract_id
    order by one.block_id desc nulls last, one.position desc
    limit 1`;
}
