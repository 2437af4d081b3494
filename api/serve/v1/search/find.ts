import type { Hex } from "viem";
import type { Database } from "../../../../projections/database.ts";
import {
  type CollectionMatch,
  compareCollections,
  readCollectionsByAddress,
  readCollectionsByText,
} from "../../../../projections/reads/search/read-collection-matches.ts";
import { readHashMatches } from "../../../../projections/reads/search/read-hash-matches.ts";
import {
  compareTokens,
  readTokensAt,
  readTokensByName,
  type TokenMatch,
} from "../../../../projections/reads/search/read-token-matches.ts";
import { parseAddresses, type SearchTerms } from "./parse-search.ts";

/** A database, and the chains that are searched there. */
export type SearchedPlace = { readonly db: Database; readonly chains: readonly number[] };

/** The rows of all places in the order that one place would give them. */
async function merge<Row>(
  places: readonly SearchedPlace[],
  read: (place: SearchedPlace) => Promise<Row[]>,
  compare: (one: Row, other: Row) => number,
): Promise<Row[]> {
  const rows = await Promise.all(places.map(read));
  return rows.length === 1 ? rows.flat() : rows.flat().sort(compare);
}

export async function findCollections(
  places: readonly SearchedPlace[],
  text: string,
  limit: number,
): Promise<CollectionMatch[]> {
  const addresses = parseAddresses(text);
  const [byAddress, byText] = await Promise.all([
    addresses === null
      ? []
      : merge(
          places,
          ({ db, chains }) => readCollectionsByAddress(db, chains, addresses, limit),
          compareCollections,
        ),
    merge(
      places,
      ({ db, chains }) => readCollectionsByText(db, chains, text, limit),
      compareCollections,
    ),
  ]);
  const nameOf = (one: CollectionMatch) => `${one.chainId} ${one.address}`;
  const known = new Set(byAddress.map(nameOf));
  return [...byAddress, ...byText.filter((one) => !known.has(nameOf(one)))].slice(0, limit);
}

async function findPlacedTokens(
  places: readonly SearchedPlace[],
  token: NonNullable<SearchTerms["token"]>,
): Promise<TokenMatch[]> {
  const collections = await findCollections(places, token.of, 3);
  const found = await Promise.all(
    collections.map(({ chainId, contractIds }) => {
      const place = places.find(({ chains }) => chains.includes(chainId));
      return place === undefined
        ? []
        : readTokensAt(place.db, contractIds.slice(0, 50), token.tokenId);
    }),
  );
  return found.flat();
}

/** By a collection and an id, of the collections that are found first, then by name. */
export async function findTokens(
  places: readonly SearchedPlace[],
  { text, token }: SearchTerms,
  limit: number,
): Promise<TokenMatch[]> {
  const [named, placed] = await Promise.all([
    merge(places, ({ db, chains }) => readTokensByName(db, chains, text, limit), compareTokens),
    token === null ? [] : findPlacedTokens(places, token),
  ]);
  const nameOf = (one: TokenMatch) => `${one.chainId} ${one.contract} ${one.tokenId}`;
  const known = new Set(placed.map(nameOf));
  return [...placed, ...named.filter((one) => !known.has(nameOf(one)))].slice(0, limit);
}

/** Transactions, orders and sales of a hash. */
export async function findHashes(places: readonly SearchedPlace[], hash: Hex, now: Date) {
  const found = await Promise.all(
    places.map(({ db, chains }) => readHashMatches(db, chains, hash, now)),
  );
  return {
    transactions: found.flatMap(({ transactions }) => transactions),
    orders: found.flatMap(({ orders }) => orders),
    sales: found.flatMap(({ sales }) => sales),
  };
}
