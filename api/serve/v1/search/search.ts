import { z } from "zod";
import type { ChainId } from "../../../../abis/deployments.ts";
import { RpcFailure } from "../../../background/chain/rpc-batch.ts";
import { snapshotsOf } from "../../http/reads/across.ts";
import { presentFound } from "../../views/search-result.ts";
import { SearchResult } from "../../views/search-schema.ts";
import { readEnsRecord } from "../ens.ts";
import { type Context, route } from "../routing/context.ts";
import { chainRefusals, optionalChainId, text } from "../routing/parameters.ts";
import { findCollections, findHashes, findTokens, type SearchedPlace } from "./find.ts";
import { parseSearch, type SearchTerms } from "./parse-search.ts";

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
    spansChains: true,
  },
  async ({ query: { q, chainId, limit } }, context) => {
    const terms = parseSearch(q);
    const { siteUrl, media, market, now } = context;
    const places = placesOf(context, chainId);
    const [collections, tokens, wallets, hashes] = await Promise.all([
      findCollections(places, terms.text, limit),
      findTokens(places, terms, limit),
      findWallets(terms, context),
      terms.hash === null ? none : findHashes(places, terms.hash, now()),
    ]);
    const found = { collections, tokens, wallets, ...hashes };
    return {
      data: presentFound(found, { siteUrl, media, prefix: market.prefix }),
      isVolatile: terms.ensName !== null,
    };
  },
);

/** One database holds the log of all chains, or each the logs of some. */
function placesOf({ db, chains }: Context, chainId: ChainId | undefined): SearchedPlace[] {
  if (chainId !== undefined) return [{ db, chains: [chainId] }];
  return snapshotsOf(db, chains);
}

const none = { transactions: [], orders: [], sales: [] };

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
