import { type RawBuilder, sql } from "kysely";

/** An id in a contract. */
export type TokenPlace = { contractId: number; tokenId: bigint };

/** Rows `(contract_id, token_id, ord)` of tokens, in the order given. */
export function askedTokens(places: readonly TokenPlace[]): RawBuilder<unknown> {
  const contracts = places.map(({ contractId }) => contractId);
  const ids = places.map(({ tokenId }) => String(tokenId));
  return sql`
    unnest(${contracts}::int[], ${ids}::numeric[]) with ordinality asked (contract_id, token_id, ord)`;
}

/** Tells a token apart from others in a map. */
export function nameOfToken({ contractId, tokenId }: TokenPlace): string {
  return `${contractId}/${tokenId}`;
}
