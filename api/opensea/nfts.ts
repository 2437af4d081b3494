import { z } from "zod";
import { isRejection } from "#projections/domain/rejection.ts";
import { type Token, token } from "../v1/collections/token.ts";
import { tokens } from "../v1/collections/tokens.ts";
import { wallet } from "../v1/parameters.ts";
import { walletTokens } from "../v1/wallet-tokens.ts";
import {
  askBook,
  type OpenSeaContext,
  openSeaPage,
  openSeaRefusals,
  openSeaRoute,
} from "./route.ts";

const fields = z.record(z.string(), z.unknown());
const shared = { method: "get", tag: "OpenSea", data: fields, refuses: openSeaRefusals } as const;

const tokenPlace = z.object({ chain: z.string(), address: z.string(), identifier: z.string() });
const pageQuery = openSeaPage(100);

type ShownToken = z.output<typeof Token>;

const presentNft = (data: ShownToken) => ({
  identifier: data.tokenId,
  collection: data.collection.slug ?? data.collection.address,
  contract: data.contract,
  token_standard: data.standard,
  name: data.name,
  image_url: data.media.imageUrl,
  animation_url: data.media.animationUrl,
  opensea_url: data.urls.token,
  traits: data.attributes ?? [],
  is_disabled: false,
  is_nsfw: false,
});

export const nft = openSeaRoute(
  {
    ...shared,
    path: "/api/v2/chain/{chain}/contract/{address}/nfts/{identifier}",
    operationId: "getOpenSeaNft",
    summary: "A token with its traits and owner",
    params: tokenPlace,
  },
  async ({ params: { address, identifier } }, context) => {
    const params = { collection: address, tokenId: identifier };
    const found = await askBook(token, { params }, context);
    if (isRejection(found)) return found;
    const { owner } = found.data;
    const owners = owner === null ? [] : [{ address: owner, quantity: 1 }];
    return { data: { nft: { ...presentNft(found.data), owners } } };
  },
);

type PageQuery = { readonly limit: string; readonly next?: string | undefined };

async function nftsOf(collection: string, { limit, next }: PageQuery, context: OpenSeaContext) {
  const query = { per_page: limit, cursor: next };
  const page = await askBook(tokens, { params: { collection }, query }, context);
  if (isRejection(page)) return page;
  return { data: { nfts: page.data.map(presentNft), next: page.meta?.next_cursor ?? null } };
}

export const collectionNfts = openSeaRoute(
  {
    ...shared,
    loadClass: "lists",
    path: "/api/v2/collection/{slug}/nfts",
    operationId: "listOpenSeaNfts",
    summary: "Tokens of a collection, by token id",
    params: z.object({ slug: z.string() }),
    query: z.object(pageQuery),
  },
  ({ params, query }, context) => nftsOf(params.slug, query, context),
);

export const contractNfts = openSeaRoute(
  {
    ...shared,
    loadClass: "lists",
    path: "/api/v2/chain/{chain}/contract/{address}/nfts",
    operationId: "listOpenSeaNftsOfContract",
    summary: "Tokens of a contract, by token id",
    params: z.object({ chain: z.string(), address: wallet }),
    query: z.object(pageQuery),
  },
  ({ params, query }, context) => nftsOf(params.address, query, context),
);

export const accountNfts = openSeaRoute(
  {
    ...shared,
    loadClass: "lists",
    path: "/api/v2/chain/{chain}/account/{address}/nfts",
    operationId: "listOpenSeaNftsOfAccount",
    summary: "Tokens that a wallet holds",
    params: z.object({ chain: z.string(), address: wallet }),
    query: z.object({ ...pageQuery, collection: z.string().optional() }),
  },
  async ({ params, query: { limit, next, collection } }, context) => {
    const query = { per_page: limit, cursor: next, collection };
    const page = await askBook(
      walletTokens,
      { params: { wallet: params.address }, query },
      context,
    );
    if (isRejection(page)) return page;
    return { data: { nfts: page.data.map(presentNft), next: page.meta?.next_cursor ?? null } };
  },
);
