import type { Hex } from "viem";
import { z } from "zod";
import type { ChainId } from "#chains/index.ts";
import type { Database } from "#projections/log/database.ts";
import type { BearerTokens } from "../accounts/bearer-tokens.ts";
import {
  type CursorScope,
  cursorPageOf,
  cursorRefusals,
  cutPage,
  type PageRequest,
  pageFields,
} from "../http/page.ts";
import { type Route, routeFor } from "../http/route.ts";
import { isBuyingPaused, type Market } from "../orders/market.ts";
import { referTo, rejectUnknownCollection } from "../v1/collection-reference.ts";
import type { MediaLinks } from "../v1/media-links.ts";
import { traitFilter, wallet } from "../v1/parameters.ts";

/** Dependencies of the account API's endpoints. */
export type NftDataContext = {
  readonly db: Database;
  /** Site that `urls` point to. */
  readonly siteUrl: string;
  /** Where links to media point. */
  readonly media: MediaLinks;
  /** Prefix of the market's order ids. */
  readonly prefix: string;
  /** Of the market. */
  readonly isPaused: Market["isPaused"];
  /** The only chain of the account API. */
  readonly chainId: ChainId;
  readonly tokens: BearerTokens;
  readonly now: () => Date;
};

/** The context with what the views of listings depend on, besides their rows. */
export type NftDataView = NftDataContext & { readonly isBuyingPaused: boolean };

export const nftDataViewOf = async (context: NftDataContext): Promise<NftDataView> => ({
  ...context,
  isBuyingPaused: await isBuyingPaused(context),
});

export type NftDataRoute = Route<NftDataContext>;

export const accountRoute = routeFor<NftDataContext>(() => undefined);

/** Codes of every endpoint with path or query parameters. */
export const readRefusals = { invalid_parameters: 422 } as const;

export const walletAddress = wallet;

export const collectionAddress = wallet.meta({
  description:
    "0x address of any contract of a collection. In everything but a collection's profile it means that contract alone.",
  override: { pattern: "^0x[a-fA-F0-9]{40}$" },
});

export const attributeFilter = traitFilter("attributes");

const maxAddresses = 10;

/** The body of a batch request. */
export const addresses = z.array(wallet).max(maxAddresses);

export const listFields = {
  limit: pageFields.per_page,
  cursor: pageFields.cursor.meta({
    description: "`next_cursor` of the previous page, with the same sort and filters.",
  }),
};

/** Paging fields of a list, next to `data`. */
export const listMeta = z.object({
  next_cursor: z.string().nullable().meta({ description: "null on the last page." }),
  has_more: z.boolean(),
});

export const listRefusals = { ...readRefusals, ...cursorRefusals };

type ListQuery = { limit: number; cursor?: string | undefined };

export function listPageOf<Key>(
  { limit, cursor }: ListQuery,
  scope: CursorScope,
  key: z.ZodType<Key>,
) {
  return cursorPageOf({ per_page: limit, cursor }, scope, key);
}

/** The rows of the page and its meta, from rows read with `request.read`. */
export function cutList<Row, Key>(
  request: PageRequest<Key>,
  rows: readonly Row[],
  keyOf: (row: Row) => readonly (bigint | number)[],
) {
  const { shown, meta } = cutPage(request, rows, keyOf);
  return { shown, meta: nextMeta(meta.next_cursor) };
}

export function nextMeta(next: string | null): z.output<typeof listMeta> {
  return { next_cursor: next, has_more: next !== null };
}

/** The collection of a contract, or the refusal. */
export async function findByAddress({ db, chainId }: NftDataContext, address: Hex) {
  return (await referTo(db, chainId, address)) ?? rejectUnknownCollection(chainId, address);
}
