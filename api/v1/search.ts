import type { Hex } from "viem";
import { z } from "zod";
import { type ChainId, chainIds } from "#chains/index.ts";
import { RpcFailure } from "#jobs/chain/rpc.ts";
import { withinMs } from "#jobs/runner/limits.ts";
import type { CollectionParts } from "#projections/collections/read-collection-row.ts";
import {
  type CollectionMatch,
  readCollectionsByAddress,
  readCollectionsByText,
  readHashMatches,
  readTokensAt,
  readTokensByName,
  type TokenMatch,
} from "#projections/collections/read-search.ts";
import { parseEnsName } from "#projections/domain/ens-name.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import type { Database } from "#projections/log/database.ts";
import { documentAs } from "../http/query.ts";
import { presentFloor } from "./collections/collection-stats.ts";
import { viewRanked } from "./collections/collections.ts";
import { type Context, route } from "./context.ts";
import { readEnsRecord } from "./ens.ts";
import { listingViewOf } from "./orders/sides.ts";
import { chainRefusals, optionalChainId, text } from "./parameters.ts";
import { presentFound, SearchResult } from "./search-result.ts";

const maxText = 200;

const limit = z
  .string()
  .regex(/^([1-9]|1\d|20)$/, "must be a whole number from 1 to 20")
  .transform(Number)
  .default(10)
  .meta({
    description: "Rows of each kind at most.",
    override: documentAs({
      type: "integer",
      minimum: 1,
      maximum: 20,
      default: 10,
      pattern: undefined,
    }),
  });

const searchRoute = route(
  {
    method: "get",
    path: "/v1/search",
    operationId: "search",
    tag: "Search",
    summary: "Collections, tokens, wallets, transactions, orders and sales that a text may mean",
    query: z.object({
      q: text(maxText)
        .refine((q) => q.trim().length >= 2, "must have at least two characters")
        .meta({
          description:
            "Beginnings of a collection's words, a slug, an address or its beginning, a token's name, a collection and a token id (`punks 12`, `0x…/12`), an ENS name, a hash of a transaction or an order, an order's id, a `saleId`.",
          override: { type: "string", minLength: 2, maxLength: maxText },
        }),
      chainId: optionalChainId.meta({
        description: "Without it all chains served.",
        override: { type: "integer", enum: [...chainIds] },
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
    const [collections, tokens, hashes] = await Promise.all([
      findCollections(db, chains, terms.text, limit),
      findTokens(db, chains, terms, limit),
      terms.hash === null ? none : readHashMatches(db, chains, terms.hash, now()),
    ]);
    const floored = await withFloors(collections, context);
    const found = { collections: floored, tokens, wallets: findWallets(terms, context), ...hashes };
    return {
      data: presentFound(found, { siteUrl, media, prefix: market.prefix }),
      isVolatile: terms.ensName !== null,
    };
  },
);

export const search = { ...searchRoute, prepare: prepareSearch };

/** How long a search waits for Ethereum, in milliseconds. */
const nameMs = 2_000;

/**
 * Resolves the name that a search is for, if it is one: the search itself finds it kept. `mayAsk` is asked for a name
 * that is not; without leave the search is answered without it.
 */
export async function prepareSearch(
  query: unknown,
  context: Context,
  mayAsk: () => Promise<boolean> = async () => true,
): Promise<void> {
  const { q } = Object(query) as { q?: unknown };
  const name = typeof q === "string" && q.length <= maxText ? parseSearch(q).ensName : null;
  if (name === null || !context.chains.includes(1)) return;
  const asked = { name, now: context.now() };
  if (readEnsRecord.kept(context.market, name, asked) !== undefined || !(await mayAsk())) return;
  const resolved = readEnsRecord(context.market, name, asked);
  try {
    await withinMs(nameMs, resolved, () => undefined);
  } catch (error) {
    if (!(error instanceof RpcFailure)) throw error;
  }
}

const none = { transactions: [], orders: [], sales: [] };

/** An address as it is; the address of a name, if Ethereum answered. */
function findWallets({ address, ensName }: SearchTerms, { market, now }: Context) {
  if (address !== null) return [{ address, ensName: null }];
  if (ensName === null) return [];
  const record = readEnsRecord.kept(market, ensName, { name: ensName, now: now() });
  if (record === undefined || typeof record === "string" || record.address === null) return [];
  return [{ address: record.address, ensName }];
}

async function findCollections(
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

/** The collections with the floors that rankings show. */
async function withFloors(
  found: readonly CollectionMatch[],
  { db, siteUrl, market, now }: Context,
) {
  const view = await listingViewOf({ siteUrl, market });
  const chains = new Set(found.map(({ chainId }) => chainId as ChainId));
  const floors = await Promise.all(
    [...chains].map((chainId) =>
      viewRanked(
        db,
        found.filter((one) => one.chainId === chainId),
        {
          ...{ chainId, now: now(), parts: floorParts, variant: JSON.stringify(["floor", view]) },
          present: ({ collectionId, floor }, coinPriceE8) => ({
            collectionId,
            floor: floor && presentFloor(floor, chainId, { ...view, coinPriceE8 }),
          }),
        },
      ),
    ),
  );
  const byId = new Map(floors.flat().map(({ collectionId, floor }) => [collectionId, floor]));
  return found.map((one) => ({ ...one, floor: byId.get(one.collectionId) ?? null }));
}

const floorParts: CollectionParts = new Set(["orders"]);

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
async function findTokens(
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

/** What a text may mean, all of it at once. */
type SearchTerms = {
  text: string;
  /** Of a transaction, an order or a sale; also at the end of an order's id. */
  hash: Hex | null;
  address: Hex | null;
  /** First and last address, 20 bytes, that begin with the text. */
  addresses: readonly [Hex, Hex] | null;
  /** `<address> <id>`, `<name> #<id>`: a collection and the id of a token. */
  token: { of: string; tokenId: bigint } | null;
  ensName: string | null;
};

const maxUint256 = 2n ** 256n - 1n;

function parseSearch(q: string): SearchTerms {
  const text = q.trim();
  return {
    text,
    hash: lowerHex(/(?:^|-)(0x[0-9a-f]{64})$/i.exec(text)?.[1]),
    address: lowerHex(/^0x[0-9a-f]{40}$/i.exec(text)?.[0]),
    addresses: parseAddresses(text),
    token: parseToken(text),
    ensName: parseName(text),
  };
}

/** At least two bytes. */
function parseAddresses(text: string): readonly [Hex, Hex] | null {
  const digits = /^0x([0-9a-f]{4,40})$/i.exec(text)?.[1]?.toLowerCase();
  if (digits === undefined) return null;
  return [`0x${digits.padEnd(40, "0")}`, `0x${digits.padEnd(40, "f")}`];
}

function parseToken(text: string): SearchTerms["token"] {
  const [, of, digits] = /^(.{1,100}?)[\s/:#]+(\d{1,78})$/.exec(text) ?? [];
  if (of === undefined || digits === undefined) return null;
  const tokenId = BigInt(digits);
  return tokenId > maxUint256 ? null : { of, tokenId };
}

function parseName(text: string): string | null {
  if (!/^[^\s.][^\s]*\.[^\s.]+$/.test(text)) return null;
  const parsed = parseEnsName(text);
  return isRejection(parsed) ? null : parsed.name;
}

function lowerHex(text: string | undefined): Hex | null {
  return text === undefined ? null : (text.toLowerCase() as Hex);
}
