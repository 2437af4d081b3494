import { isRejection } from "#projections/domain/rejection.ts";
import { token } from "../v1/collections/token.ts";
import { walletTokens } from "../v1/wallet-tokens.ts";
import { presentAsk, presentBestOffer, presentHeldToken, presentTradeOf } from "./present.ts";
import { read, readingTool } from "./tool.ts";
import {
  collectionArgument,
  cursorArgument,
  rowsArgument,
  tokenIdArgument,
  walletArgument,
} from "./words.ts";

export const tokenDetails = readingTool({
  name: "token",
  title: "One token",
  description:
    "Owner, traits, rarity, cheapest listing, best offer and last sale of one token. `owner` is null for a burned token and for ERC-1155.",
  loadClass: "data",
  fields: { collection: collectionArgument, tokenId: tokenIdArgument },
  answer: async (params, context) => {
    const found = await read(token, { params }, context);
    if (isRejection(found)) return found;
    const one = found.data;
    return {
      ...{ name: one.name, collection: one.collection.name, contract: one.contract },
      ...{ tokenId: one.tokenId, chainId: one.chainId, standard: one.standard },
      ...{ owner: one.owner, holders: one.holders, units: one.supplyExact },
      ...(one.isBurned && { isBurned: true }),
      traits: one.attributes?.map(({ trait_type, value }) => ({ type: trait_type, value })) ?? null,
      rarity: one.rarity && `rank ${one.rarity.rank} of ${one.rarity.of}`,
      listing: one.listing && presentAsk(one.listing),
      bestOffer: one.bestOffer && presentBestOffer(one.bestOffer),
      lastSale: one.lastSale && presentTradeOf(one.lastSale),
      ...{ image: one.media.imageUrl, url: one.urls.token },
    };
  },
});

export const heldTokens = readingTool({
  name: "wallet_tokens",
  title: "Tokens of a wallet",
  description:
    "Tokens that a wallet holds, with its units and the cheapest listing of each; of one collection or of all.",
  fields: {
    wallet: walletArgument,
    collection: collectionArgument.optional(),
    rows: rowsArgument(100, 20),
    cursor: cursorArgument,
  },
  answer: async ({ wallet, collection, rows, cursor }, context) => {
    const query = { collection, per_page: `${rows}`, cursor };
    const found = await read(walletTokens, { params: { wallet }, query }, context);
    if (isRejection(found)) return found;
    return {
      tokens: found.data.map((one) => ({
        collection: one.collection.name ?? one.contract,
        ...presentHeldToken(one),
        held: one.units,
      })),
      more: found.meta?.next_cursor ?? undefined,
    };
  },
});
