import { type RawBuilder, sql } from "kysely";
import type { Database } from "../log/database.ts";

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

/**
 * SQL: a URI of metadata, of which a list shows whether it is a document stored inline (`data:`): of anything longer than a
 * link may be, only the beginning, which PostgreSQL reads without the rest.
 */
export function documentStart(uri: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`case when octet_length(${uri}) > ${sql.lit(longestLinkBytes)} then left(${uri}, ${sql.lit(shownCharacters)}) else ${uri} end`;
}

/** Beyond the 2,048 UTF-16 units of a link that `domain/metadata/media.ts` accepts, in UTF-8. */
const longestLinkBytes = 3 * 2_048;
/** More than a link may have, so that the beginning of something else does not become one. */
const shownCharacters = 2_100;
