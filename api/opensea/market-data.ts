import { zeroAddress } from "viem";
import { z } from "zod";
import { currencies } from "#chains/coins.ts";
import { type ChainId, chainById } from "#chains/index.ts";
import { chainNameAt } from "#chains/partners.ts";
import { isRejection, reject } from "#projections/domain/rejection.ts";
import { collection } from "../v1/collections/collections.ts";
import { token } from "../v1/collections/token.ts";
import { orderParams } from "../v1/orders/params.ts";
import { decimals } from "./present-order.ts";
import { askBook, type OpenSeaContext, openSeaRefusals, openSeaRoute } from "./route.ts";

const fields = z.record(z.string(), z.unknown());
const shared = { method: "get", tag: "OpenSea", data: fields, refuses: openSeaRefusals } as const;

const tokenPlace = z.object({ chain: z.string(), address: z.string(), identifier: z.string() });

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
    const { data } = found;
    return {
      data: {
        nft: {
          identifier: data.tokenId,
          collection: data.collection.slug ?? data.collection.address,
          contract: data.contract,
          token_standard: data.standard,
          name: data.name,
          image_url: data.media.imageUrl,
          animation_url: data.media.animationUrl,
          traits: data.attributes ?? [],
          owners: data.owner === null ? [] : [{ address: data.owner, quantity: 1 }],
          is_disabled: false,
          is_nsfw: false,
        },
      },
    };
  },
);

export const collectionDetails = openSeaRoute(
  {
    ...shared,
    path: "/api/v2/collections/{slug}",
    operationId: "getOpenSeaCollection",
    summary: "A collection with the fees that its orders must pay",
    params: z.object({ slug: z.string() }),
  },
  async ({ params: { slug } }, context) => {
    const found = await askBook(collection, { params: { collection: slug } }, context);
    if (isRejection(found)) return found;
    const fees = await feesOf(found.data.royalty, context);
    if (isRejection(fees)) return fees;
    const { data } = found;
    const chain = chainNameAt("opensea", context.chainId);
    return {
      data: {
        collection: data.slug ?? data.address,
        name: data.name ?? "",
        description: data.description,
        image_url: data.media.imageUrl,
        banner_image_url: data.media.bannerUrl,
        project_url: data.links.website,
        contracts: data.contracts.map(({ address }) => ({ address, chain })),
        safelist_status: data.verified ? "verified" : "not_requested",
        fees,
        // Orders have no zone here; its client would put the original's where none is named.
        required_zone: zeroAddress,
        total_supply: data.stats.supply,
        pricing_currencies: paymentTokens(context.chainId),
        is_disabled: false,
        is_nsfw: false,
      },
    };
  },
);

type Royalty = { readonly recipient: string | null; readonly bps: number };

/** In percent. What the exchange's own fee is, is said by the terms of an order. */
async function feesOf({ recipient, bps }: Royalty, context: OpenSeaContext) {
  const terms = await askBook(orderParams, {}, context);
  if (isRejection(terms)) return terms;
  const { feeBps, feeRecipient } = terms.data;
  const fees = [
    { bps: feeBps, recipient: feeRecipient },
    { bps, recipient },
  ];
  return fees.flatMap((fee) =>
    fee.bps === 0 || fee.recipient === null
      ? []
      : [{ fee: fee.bps / 100, recipient: fee.recipient, required: true }],
  );
}

/** Prices of currencies are at `/v1/crypto/history`. */
function paymentTokens(chainId: ChainId) {
  const { coin, wrapped } = chainById(chainId);
  const common = { chain: chainNameAt("opensea", chainId), decimals, image: "" };
  const priceless = { eth_price: "", usd_price: "" };
  const { name, symbol } = currencies[coin];
  return {
    listing_currency: { ...common, ...priceless, name, symbol, address: zeroAddress },
    offer_currency: { ...common, ...priceless, name: wrapped.symbol, ...wrapped },
  };
}

export const paymentToken = openSeaRoute(
  {
    ...shared,
    path: "/api/v2/chain/{chain}/payment_token/{address}",
    operationId: "getOpenSeaPaymentToken",
    summary: "The native or the wrapped native currency",
    params: z.object({ chain: z.string(), address: z.string() }),
  },
  async ({ params }, { chainId }) => {
    const { listing_currency: native, offer_currency: wrapped } = paymentTokens(chainId);
    const known = [native, wrapped].find(
      ({ address }) => address.toLowerCase() === params.address.toLowerCase(),
    );
    if (known !== undefined) return { data: known };
    return reject("not_found", `${params.address} is no currency of this market`);
  },
);
