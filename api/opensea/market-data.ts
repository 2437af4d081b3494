import { zeroAddress } from "viem";
import { z } from "zod";
import { currencies } from "#chains/coins.ts";
import { type ChainId, chainById } from "#chains/index.ts";
import { chainNameAt } from "#chains/partners.ts";
import { isRejection, reject } from "#projections/domain/rejection.ts";
import { collection } from "../v1/collections/collections.ts";
import { traits } from "../v1/collections/traits.ts";
import { orderParams } from "../v1/orders/params.ts";
import { decimals } from "./present-order.ts";
import { askBook, type OpenSeaContext, openSeaRefusals, openSeaRoute } from "./route.ts";

const fields = z.record(z.string(), z.unknown());
const shared = { method: "get", tag: "OpenSea", data: fields, refuses: openSeaRefusals } as const;

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

const periods = { one_day: "24h", seven_day: "7d", thirty_day: "30d" } as const;

export const collectionStats = openSeaRoute(
  {
    ...shared,
    path: "/api/v2/collections/{slug}/stats",
    operationId: "getOpenSeaCollectionStats",
    summary: "Volume, sales, floor and owners of a collection",
    params: z.object({ slug: z.string() }),
  },
  async ({ params: { slug } }, context) => {
    const found = await askBook(collection, { params: { collection: slug } }, context);
    if (isRejection(found)) return found;
    const { floor, holders, volume, sales } = found.data.stats;
    const { listing_currency: native } = paymentTokens(context.chainId);
    const of = (period: "24h" | "7d" | "30d" | "all") => ({
      volume: volume[period],
      volume_symbol: native.symbol,
      sales: sales[period],
    });
    return {
      data: {
        total: {
          ...of("all"),
          num_owners: holders,
          floor_price: floor?.price ?? 0,
          floor_price_symbol: floor?.currency ?? "",
        },
        intervals: Object.entries(periods).map(([interval, period]) => ({
          interval,
          ...of(period),
        })),
      },
    };
  },
);

/** Values are counted by their text, numbers too. */
export const traitCounts = openSeaRoute(
  {
    ...shared,
    path: "/api/v2/traits/{slug}",
    operationId: "getOpenSeaTraits",
    summary: "Traits of a collection with the tokens that have them",
    params: z.object({ slug: z.string() }),
  },
  async ({ params: { slug } }, context) => {
    const found = await askBook(traits, { params: { collection: slug } }, context);
    if (isRejection(found)) return found;
    const { traitTypes } = found.data;
    const counted = traitTypes.map(({ type, values }) => [
      type,
      Object.fromEntries(values.map(({ value, count }) => [value, count])),
    ]);
    return {
      data: {
        categories: Object.fromEntries(traitTypes.map(({ type }) => [type, "string"])),
        counts: Object.fromEntries(counted),
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
