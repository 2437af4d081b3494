import { z } from "zod";
import { chainIds } from "#chains/index.ts";
import { readHashMatches } from "#projections/collections/read-search.ts";
import { RpcFailure } from "#jobs/chain/rpc.ts";
import { sleep } from "#jobs/runner/back-off.ts";
import { presentFound } from "#api/serve/views/search-result.ts";
import { SearchResult } from "#api/serve/views/search-schema.ts";
import { readEnsRecord } from "../ens.ts";
import { type Context, route } from "../routing/context.ts";
import { chainRefusals, optionalChainId, text } from "../routing/parameters.ts";
import { findCollections, findTokens } from "./find.ts";
import { parseSearch, type SearchTerms } from "./parse-search.ts";

const maxText = 200;

const limit = z
  .string()
  .regex(/^([1-9]|1\d|20)$/, "must be a whole number from 1 to 20")
  .transform(Number)
  .default(10)
  .meta({
    description: "Rows of each kind at most.",
    override: { type: "integer", minimum: 1, maximum: 20, default: 10, pattern: undefined },
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
    const found = { collections, tokens, wallets: findWallets(terms, context), ...hashes };
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
  const late = new AbortController();
  try {
    await Promise.race([resolved, sleep(nameMs, late.signal)]);
  } catch (error) {
    if (!(error instanceof RpcFailure)) throw error;
  } finally {
    late.abort();
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
