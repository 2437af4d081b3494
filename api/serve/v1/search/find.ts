import type { Database } from "#projections/log/database.ts";
import { type CollectionMatch, readCollectionsByAddress, readCollectionsByText, readTokensAt, readTokensByName, type TokenMatch } from "#projections/collections/read-search.ts";
import { parseAddresses, type SearchTerms } from "./parse-search.ts";

export async function findCollections(
  db: Database,
  chains: readonly number[],
  text: string,
  limit: number,
): Promise<CollectionMatch[]> {
  const addresses = parseAddresses(text);
  const [byAddress, byText] = await Promise.all([
    addresses === null ? [] : readCollectionsByAddress(db, chains, addresses, limit),
    readCollectionsByText(db, chains, text, limit),
  ]);
  const known = new Set(byAddress.map(({ collectionId }) => collectionId));
  const others = byText.filter(({ collectionId }) => !known.has(collectionId));
  return [...byAddress, ...others].slice(0, limit);
}

async function findPlacedTokens(
  db: Database,
  chains: readonly number[],
  token: NonNullable<SearchTerms["token"]>,
): Promise<TokenMatch[]> {
  const collections = await findCollections(db, chains, token.of, 3);
  const contractIds = collections.flatMap((one) => one.contractIds.slice(0, 50));
  return readTokensAt(db, contractIds, token.tokenId);
}

/** By a collection and an id, of the collections that are found first, then by name. */
export async function findTokens(
  db: Database,
  chains: readonly number[],
  { text, token }: SearchTerms,
  limit: number,
): Promise<TokenMatch[]> {
  const [named, placed] = await Promise.all([
    readTokensByName(db, chains, text, limit),
    token === null ? [] : findPlacedTokens(db, chains, token),
  ]);
  const nameOf = (one: TokenMatch) => `${one.chainId} ${one.contract} ${one.tokenId}`;
  const known = new Set(placed.map(nameOf));
  return [...placed, ...named.filter((one) => !known.has(nameOf(one)))].slice(0, limit);
}
