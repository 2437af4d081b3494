import { sql } from "kysely";
import type { Database } from "#projections/log/database.ts";

type TokenPart = "image" | "animation" | "token_uri";
type CollectionPart = "image" | "banner";

/** One URI of a token's metadata as stored; null: none, or never fetched. */
export async function readTokenMedia(
  db: Database,
  token: { readonly contractId: number; readonly tokenId: bigint },
  part: TokenPart,
): Promise<string | null> {
  const { rows } = await sql<{ uri: string | null }>`
    select ${sql.ref(part)} as uri from metadata.token
    where contract_id = ${token.contractId} and token_id = ${token.tokenId}::numeric`.execute(db);
  return rows[0]?.uri ?? null;
}

/** One URI of a collection's metadata, which is that of its primary contract. */
export async function readCollectionMedia(
  db: Database,
  collectionId: number,
  part: CollectionPart,
): Promise<string | null> {
  const { rows } = await sql<{ uri: string | null }>`
    select ${sql.ref(part)} as uri from metadata.contract where contract_id = ${collectionId}`.execute(
    db,
  );
  return rows[0]?.uri ?? null;
}
