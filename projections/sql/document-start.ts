import { type RawBuilder, sql } from "kysely";

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
