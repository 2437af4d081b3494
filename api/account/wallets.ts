import { z } from "zod";
import { isRejection } from "#projections/domain/rejection.ts";
import { readWalletOffers } from "#projections/tokens/read-wallet-offers.ts";
import { readWalletTokenDetails } from "#projections/tokens/read-wallet-tokens.ts";
import {
  keyOfWalletOffer,
  rejectManyTokens,
  viewWalletOffers,
  walletOfferKey,
  walletOfferRefusals,
  walletOffersList,
} from "../v1/orders/wallet-offers.ts";
import { heldKey, keyOfHeld, walletFilterOf, walletScope } from "../v1/wallet-tokens.ts";
import { address } from "../v1/wire.ts";
import {
  accountRoute,
  addresses,
  collectionAddress,
  cutList,
  listFields,
  listMeta,
  listPageOf,
  listRefusals,
  nextMeta,
  nftDataViewOf,
  walletAddress,
} from "./context.ts";
import { NftHeldToken, NftWalletOffer, presentNftHeld, snake } from "./objects.ts";

export const accountWalletTokens = accountRoute(
  {
    method: "get",
    path: "/api/wallets/{address}/tokens",
    operationId: "listWalletTokens",
    tag: "Wallets",
    loadClass: "lists",
    summary: "Tokens that a wallet holds, of both standards",
    params: z.object({ address: walletAddress }),
    query: z.object({ collection: collectionAddress.optional(), ...listFields }),
    data: z.array(NftHeldToken),
    meta: listMeta,
    refuses: { not_found: 404, ...listRefusals },
  },
  async ({ params, query }, context) => {
    const { db, chainId, now } = context;
    const { collection } = query;
    const filter = await walletFilterOf(db, { chainId, wallet: params.address, collection });
    if (isRejection(filter)) return filter;
    const request = listPageOf(query, walletScope(filter), heldKey);
    if (isRejection(request)) return request;
    const view = await nftDataViewOf(context);
    const [rows = []] = await readWalletTokenDetails(db, [filter], request.read, now());
    const { shown, meta } = cutList(request, rows, keyOfHeld);
    return { data: shown.map((row) => presentNftHeld(row, view)), meta };
  },
);

export const accountWalletOffers = accountRoute(
  {
    method: "get",
    path: "/api/wallets/{address}/offers",
    operationId: "listWalletOffers",
    tag: "Wallets",
    loadClass: "lists",
    summary:
      "What a wallet could sell into now: each of its tokens with the best bid of others for it, best net first",
    params: z.object({ address: walletAddress }),
    query: z.object({ collection: collectionAddress.optional(), ...listFields }),
    data: z.array(NftWalletOffer),
    meta: listMeta,
    refuses: { ...walletOfferRefusals, ...listRefusals },
  },
  async ({ params, query }, context) => {
    const { db, chainId } = context;
    const { collection } = query;
    const filter = await walletFilterOf(db, { chainId, wallet: params.address, collection });
    if (isRejection(filter)) return filter;
    const request = listPageOf(query, walletScope(filter, walletOffersList), walletOfferKey);
    if (isRejection(request)) return request;
    const now = context.now();
    const page = await readWalletOffers(db, filter, request.read, now);
    if (page === null) return rejectManyTokens();
    const { shown, meta } = cutList(request, page.rows, keyOfWalletOffer);
    return {
      data: snake(await viewWalletOffers(db, shown, { ...(await nftDataViewOf(context)), now })),
      meta,
    };
  },
);

export const batchWallets = accountRoute(
  {
    method: "post",
    path: "/api/batch/wallets",
    operationId: "listTokensOfWallets",
    tag: "Batches",
    loadClass: "lists",
    reads: "snapshot",
    summary: "The first tokens of up to 10 wallets at once, in the order asked",
    body: z.strictObject({
      addresses,
      limit: z.int().min(1).max(100).default(20).meta({ description: "Tokens of each wallet." }),
    }),
    data: z.array(
      z.object({
        address,
        tokens: z.array(NftHeldToken),
        next_cursor: listMeta.shape.next_cursor.meta({
          description: "For `/api/wallets/{address}/tokens`; null when nothing follows.",
        }),
        has_more: listMeta.shape.has_more,
      }),
    ),
    refuses: { bad_structure: 422 },
  },
  async ({ body }, context) => {
    const { db, chainId, now } = context;
    const wallets = [...new Set(body.addresses)];
    const filters = wallets.map((wallet) => ({ chainId, wallet, contractIds: null }));
    const read = { limit: body.limit + 1, offset: 0, after: null };
    const lists = await readWalletTokenDetails(db, filters, read, now());
    const pages = new Map(
      filters.map((filter, place) => {
        const request = { page: null, perPage: body.limit, scope: walletScope(filter), read };
        return [filter.wallet, cutList(request, lists[place] ?? [], keyOfHeld)];
      }),
    );
    const view = await nftDataViewOf(context);
    return {
      data: body.addresses.map((wallet) => {
        const { shown, meta } = pages.get(wallet) ?? { shown: [], meta: nextMeta(null) };
        const tokens = shown.map((row) => presentNftHeld(row, view));
        return { address: wallet, tokens, ...meta };
      }),
    };
  },
);
