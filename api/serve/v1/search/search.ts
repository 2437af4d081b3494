import { z } from "zod";
import type { ChainId } from "../../../../abis/deployments.ts";
import type { Database } from "../../../../projections/database.ts";
import {
  type CollectionMatch,
  readCollectionsByAddress,
  readCollectionsByText,
} from "../../../../projections/reads/search/read-collection-matches.ts";
import { readHashMatches } from "../../../../projections/reads/search/read-hash-matches.ts";
import {
  readTokensAt,
  readTokensByName,
  type TokenMatch,
} from "../../../../projections/reads/search/read-token-matches.ts";
import { RpcFailure } from "../../../background/chain/rpc-batch.ts";
import { presentFound } from "../../views/search-result.ts";
import { SearchResult } from "../../views/search-schema.ts";
import { readEnsRecord } from "../ens.ts";
import { type Context, route } from "../routing/context.ts";
import { chainRefusals, optionalChainId, text } from "../routing/parameters.ts";
import { parseAddresses, parseSearch, type SearchTerms } from "./parse-search.ts";

const limit = z
  .string()
  .regex(/^([1-9]|1\d|20)$/, "must be a whole number from 1 to 20")
  .transform(Number)
  .default(10)
  .meta({
    description: "Rows of each kind at most.",
    override: { type: "integer", minimum: 1, maximum: 20, default: 10, pattern: undefined },
  });

export const search = route(
  {
    method: "get",
    path: "/v1/search",
    operationId: "search",
    tag: "Search",
    summary: "Collections, tokens, wallets, transactions, orders and sales that a text may mean",
    query: z.object({
      q: text(200)
        .refine((q) => q.trim().length >= 2, "must have at least two characters")
        .meta({
          description:
            "Beginnings of a collection's words, a slug, an address or its beginning, a token's name, a collection and a token id (`punks 12`, `0x…/12`), an ENS name, a hash of a transaction or an order, an order's id, a `saleId`.",
          override: { type: "string", minLength: 2, maxLength: 200 },
        }),
      chainId: optionalChainId.meta({
        description: "Without it all chains served.",
        override: { type: "integer", enum: [1, 33139] },
      }),
      limit,
    }),
    data: SearchResult,
    refuses: { ...chainRefusals },
    isCacheable: true,
  },
  async ({ query: { q, chainId, limit } }, context) => {
    const terms = parseSearch(q);
    const chains = chainId === undefined ? context.chains : [chainId];
    const { db, siteUrl, media, market, now } = context;
    const [collections, tokens, wallets, hashes] = await Promise.all([
      findCollections(db, chains, terms.text, limit),
      findTokens(db, chains, terms, limit),
      findWallets(terms, context),
      terms.hash === null ? none : readHashMatches(db, chains, terms.hash, now()),
    ]);
    const found = { collections, tokens, wallets, ...hashes };
    return {
      data: presentFound(found, { siteUrl, media, prefix: market.prefix }),
      isVolatile: terms.ensName !== null,
    };
  },
);

const none = { transactions: [], orders: [], sales: [] };

async function findCollections(
  db: Database,
  chains: readonly ChainId[],
  text: string,
  limit: number,
): Promise<CollectionMatch[]> {
  const addresses = parseAddresses(text);
  const [byAddress, byText] = await Promise.all([
    addresses === null ? [] : readCollectionsByAddress(db, chains, addresses, limit),
    readCollectionsByText(db, chains, text, limit),
  ]);
  const known = new Set(byAddress.map(({ collectionId }) => collectionId));
  return [...byAddress, ...byText.filter(({ collectionId }) => !known.has(collectionId))].slice(
    0,
    limit,
  );
}

async function findPlacedTokens(
  db: Database,
  chains: readonly ChainId[],
  token: NonNullable<SearchTerms["token"]>,
): Promise<TokenMatch[]> {
  const collections = await findCollections(db, chains, token.of, 3);
  const contractIds = collections.flatMap((one) => one.contractIds).slice(0, 50);
  return readTokensAt(db, contractIds, token.tokenId);
}

/** By a collection and an id, of the collections that are found first, then by name. */
async function findTokens(
  db: Database,
  chains: readonly ChainId[],
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

/** An address as it is; the address of a name, as long as Ethereum answers. */
async function findWallets({ address, ensName }: SearchTerms, { market, chains, now }: Context) {
  if (address !== null) return [{ address, ensName: null }];
  if (ensName === null || !chains.includes(1)) return [];
  try {
    const { value } = await readEnsRecord(market, ensName, { name: ensName, now: now() });
    if (typeof value === "string" || value.address === null) return [];
    return [{ address: value.address, ensName }];
  } catch (error) {
    if (!(error instanceof RpcFailure)) throw error;
    return [];
  }
}
