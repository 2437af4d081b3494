/** An id in a contract. */
export type TokenPlace = { contractId: number; tokenId: bigint };

/** Tells a token apart from others in a map. */
export function nameOfToken({ contractId, tokenId }: TokenPlace): string {
  return `${contractId}/${tokenId}`;
}
