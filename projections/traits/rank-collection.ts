import { sql } from "kysely";
import { type AttributeTable, type Rarity, rankTokens } from "../domain/rarity.ts";
import type { Database, Session } from "../log/database.ts";
import { traitsFingerprint } from "./read-outdated-rankings.ts";

/** A token with the numbers of its attributes; of two with the same type, the last. */
type RankedToken = { contractId: number; tokenId: bigint; attributes: number[] };

/**
 * Ranks a collection's live tokens by their current traits and updates the stored ranks that differ. Without any traits
 * no token has a rank.
 */
export async function rankCollection(db: Database, collectionId: number): Promise<void> {
  await db
    .transaction()
    .setIsolationLevel("repeatable read")
    .execute(async (session) => {
      const table = await readAttributes(session, collectionId);
      const tokens = table.types > 0 ? await readTokens(session, collectionId, table) : [];
      const attributes = tokens.map((token) => token.attributes);
      await storeRanking(session, collectionId, tokens, rankTokens(attributes, table));
    });
}

type NumberedAttributes = AttributeTable & {
  /** Number of the attribute of a trait key. */
  readonly attributeOf: ReadonlyMap<string, number>;
};

/** The collection's attributes. Case and outer space are ignored; JSON numbers are not ranked. */
async function readAttributes(session: Session, collectionId: number): Promise<NumberedAttributes> {
  const { rows } = await sql<{ key: string; attribute: number; type: number; isNone: boolean }>`
    select v.trait_key as key, dense_rank() over (order by v.type_key, lower(btrim(v.value)))::int - 1 as attribute,
           dense_rank() over (order by v.type_key)::int - 1 as type,
           lower(btrim(v.value)) in ('', 'none') as "isNone"
    from traits.trait v join collections.contract m using (contract_id)
    where m.collection_id = ${collectionId} and v.live > 0 and not v.is_number`.execute(session);
  const typeOf: number[] = [];
  const isNone: boolean[] = [];
  let types = 0;
  for (const row of rows) {
    typeOf[row.attribute] = row.type;
    isNone[row.attribute] = row.isNone;
    types = Math.max(types, row.type + 1);
  }
  const attributeOf = new Map(rows.map(({ key, attribute }) => [key, attribute]));
  return { attributeOf, types, typeOf, isNone };
}

async function readTokens(
  session: Session,
  collectionId: number,
  { attributeOf, typeOf }: NumberedAttributes,
): Promise<RankedToken[]> {
  const { rows } = await sql<{ contractId: number; tokenId: bigint; keys: string }>`
    select t.contract_id as "contractId", t.token_id as "tokenId", array_to_string(t.trait_keys, ',') as keys
    from traits.token t join collections.contract m using (contract_id)
    where m.collection_id = ${collectionId} and t.is_live`.execute(session);
  return rows.map(({ contractId, tokenId, keys }) => {
    const byType = new Map<number, number>();
    for (const key of keys.split(",")) {
      const attribute = attributeOf.get(key);
      if (attribute !== undefined) byType.set(typeOf[attribute] ?? 0, attribute);
    }
    return { contractId, tokenId, attributes: [...byType.values()] };
  });
}

async function storeRanking(
  session: Session,
  collectionId: number,
  tokens: readonly RankedToken[],
  rarities: readonly Rarity[],
): Promise<void> {
  const columns = [
    tokens.map(({ contractId }) => contractId),
    tokens.map(({ tokenId }) => tokenId.toString()),
    rarities.map(({ rank }) => rank),
    rarities.map(({ score }) => score),
  ] as const;
  await sql`
    create temporary table if not exists ranking (
      contract_id integer, token_id numeric(78,0), rank integer, score double precision,
      primary key (contract_id, token_id)
    ) on commit delete rows`.execute(session);
  await sql`
    insert into pg_temp.ranking
    select * from unnest(${columns[0]}::int[], ${columns[1]}::numeric[], ${columns[2]}::int[], ${columns[3]}::float8[])
  `.execute(session);
  await sql`analyze pg_temp.ranking`.execute(session);
  await sql`
    delete from rarity.token t
    where t.collection_id = ${collectionId} and not exists (
      select from pg_temp.ranking r where r.contract_id = t.contract_id and r.token_id = t.token_id
    )`.execute(session);
  await sql`
    insert into rarity.token as t (contract_id, token_id, collection_id, rank, score)
    select r.contract_id, r.token_id, ${collectionId}, r.rank, r.score
    from pg_temp.ranking r left join rarity.token b using (contract_id, token_id)
    where (b.collection_id, b.rank, b.score) is distinct from (${collectionId}, r.rank, r.score)
    on conflict (contract_id, token_id) do update
    set collection_id = excluded.collection_id, rank = excluded.rank, score = excluded.score`.execute(
    session,
  );
  await recordRanking(session, collectionId, tokens.length);
}

/** With the fingerprint of the traits in the same snapshot. */
async function recordRanking(
  session: Session,
  collectionId: number,
  tokens: number,
): Promise<void> {
  await sql`delete from rarity.collection where collection_id = ${collectionId}`.execute(session);
  await sql`
    insert into rarity.collection (collection_id, fingerprint, tokens)
    select ${collectionId}, ${traitsFingerprint}, ${tokens}
    from traits.contract t join collections.contract m using (contract_id)
    where m.collection_id = ${collectionId}
    having sum(t.live) > 0`.execute(session);
}
