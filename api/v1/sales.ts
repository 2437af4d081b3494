import type { Address } from "viem";
import { z } from "zod";
import type { ChainId } from "#chains/index.ts";
import { currenciesInWords } from "#chains/texts.ts";
import { displayPrice } from "#jobs/prices/price.ts";
import { isRejection, type Rejection, reject } from "#projections/domain/rejection.ts";
import type { Database } from "#projections/log/database.ts";
import {
  readSale,
  type SalePart,
  type SaleParts,
  type SaleRow,
  washRules,
} from "#projections/sales/read-sale.ts";
import type { SaleKey, TradeFilter } from "#projections/sales/read-sale-filter.ts";
import { readSales } from "#projections/sales/read-sales.ts";
import type { TokenSaleRow } from "#projections/tokens/read-token-details.ts";
import {
  type RequestedTrait,
  readTraitKeys,
  readTraitKeysOfChain,
} from "#projections/traits/read-tokens-with-traits.ts";
import {
  cursorInteger,
  cutPage,
  type PartFields,
  pageFields,
  pageMeta,
  pageOf,
  pageRefusals,
  partsOf,
  type RowFields,
  rowFields,
  withFields,
} from "../http/page.ts";
import { contractsOfQuery } from "./collection-reference.ts";
import { route } from "./context.ts";
import {
  chainId,
  chainRefusals,
  collectionKey,
  saleId,
  saleMarketplace,
  since,
  text,
  tokenId,
  traitFilter,
  until,
  wallet,
} from "./parameters.ts";
import { presentSaleUrl, presentTokenUrls, saleUrls } from "./urls.ts";
import {
  address,
  chainIdValue,
  collectionRef,
  currency,
  currencyOfSymbol,
  displayAmount,
  exactUnits,
  hash,
  presentCurrency,
  priceText,
  time,
  uint256Text,
} from "./wire.ts";

const fee = z.object({
  recipient: address,
  wei: uint256Text,
  bps: z.int().min(0),
  kind: z.enum(["service", "royalty", "other"]),
});

/** One NFT sold on any marketplace. */
export const Sale = z
  .object({
    saleId: hash.meta({ description: "Stable if the transaction is mined again after a reorg." }),
    chainId: chainIdValue,
    collection: collectionRef,
    contract: address,
    tokenId: uint256Text,
    quantity: z.int().min(1),
    quantityExact: exactUnits,
    price: z.number().meta({ description: priceText }),
    priceWei: uint256Text.meta({ description: "Per unit." }),
    totalWei: uint256Text,
    currency,
    usd: z
      .number()
      .nullable()
      .meta({ description: "`price` at the coin's last price before the sale." }),
    seller: address,
    buyer: address.meta({ description: "Who has the token after the transaction." }),
    via: address
      .nullable()
      .meta({ description: "The router or aggregator that took the trade for the buyer." }),
    washTrade: z
      .object({ rule: z.enum(washRules) })
      .nullable()
      .meta({ description: "Set if it looks like a wash trade, with the rule that says so." }),
    side: z.enum(["ask", "bid"]).meta({ description: "Which side's order was filled." }),
    marketplace: z.string().meta({ description: "`unknown` if it cannot be attributed." }),
    protocol: z.object({ name: z.string(), version: z.string(), address }),
    orderHash: hash.nullable(),
    fees: z.array(fee),
    bundle: z.object({ size: z.int(), totalWei: uint256Text }).nullable(),
    txHash: hash,
    logIndex: z.int().min(0),
    blockNumber: z.int().min(0),
    blockHash: hash,
    timestamp: time,
    urls: saleUrls,
  })
  .meta({ id: "Sale" });

/** The last sale, as part of a token. */
export const LastSale = Sale.pick({
  saleId: true,
  quantity: true,
  quantityExact: true,
  price: true,
  priceWei: true,
  totalWei: true,
  currency: true,
  usd: true,
  seller: true,
  buyer: true,
  via: true,
  washTrade: true,
  marketplace: true,
  protocol: true,
  txHash: true,
  timestamp: true,
}).meta({ id: "LastSale" });

/** What has to be read for the fields. */
function salePartsOf(fields: RowFields): SaleParts {
  return partsOf(fields, fieldsOfParts);
}
const fieldsOfParts: PartFields<SalePart, keyof typeof Sale.shape> = [
  ["collection", ["collection", "urls"]],
  ["usd", ["usd"]],
  ["washRule", ["washTrade"]],
];

export function presentSale(row: SaleRow, siteUrl: string): z.output<typeof Sale> {
  // Rows are of served chains only.
  const chainId = row.chainId as ChainId;
  const site = { siteUrl, chainId };
  const { saleId, contract, tokenId } = row;
  return {
    ...presentTrade(row),
    chainId,
    collection: {
      address: row.collectionAddress,
      slug: row.collectionSlug,
      name: row.collectionName,
    },
    contract,
    tokenId: String(tokenId),
    side: row.side,
    orderHash: row.orderHash,
    fees: row.fees,
    bundle: presentBundle(row),
    logIndex: row.logIndex,
    blockNumber: Number(row.blockNumber),
    blockHash: row.blockHash,
    urls: {
      sale: presentSaleUrl(site, saleId),
      ...presentTokenUrls(site, row.collectionSlug ?? row.collectionAddress, contract, tokenId),
    },
  };
}

export function presentTrade(row: TokenSaleRow): z.output<typeof LastSale> {
  return {
    saleId: row.saleId,
    quantity: Number(row.quantity),
    quantityExact: String(row.quantity),
    price: displayAmount(row.priceWei),
    priceWei: String(row.priceWei),
    totalWei: String(row.totalWei),
    currency: presentCurrency(row.chainId as ChainId, row.currency),
    usd: row.priceUsdE8 === null ? null : displayPrice(row.priceUsdE8),
    seller: row.seller,
    buyer: row.buyer,
    via: row.via,
    washTrade: row.washRule && { rule: row.washRule },
    marketplace: row.marketplace,
    protocol: { name: row.protocol, version: row.protocolVersion, address: row.exchange },
    txHash: row.transactionHash,
    timestamp: row.timestamp.toISOString(),
  };
}

function presentBundle({ bundleSize, bundleTotalWei }: SaleRow) {
  if (bundleSize === null || bundleTotalWei === null) return null;
  return { size: bundleSize, totalWei: String(bundleTotalWei) };
}

/** Query parameters of who traded, where, in what and when. All of them must match. */
const tradeFields = {
  buyer: wallet.optional(),
  seller: wallet.optional(),
  wallet: wallet.optional().meta({ description: "Buyer or seller." }),
  marketplace: saleMarketplace.optional(),
  protocol: text(100).optional().meta({
    description: "`protocol.name` of a sale: the exchange, such as `seaport` or `blur`.",
  }),
  currency: z
    .string()
    .regex(/^(0x[0-9a-fA-F]{40}|[A-Za-z]{3,4})$/, "must be a symbol or a 0x address")
    .optional()
    .meta({
      description: `What it was paid in: ${currenciesInWords}, or \`currency.address\` of a sale.`,
    }),
  since: since.optional(),
  until: until.optional(),
};

type TradeQuery = z.output<z.ZodObject<typeof tradeFields>> & { chainId: ChainId };

function tradeFilterOf(query: TradeQuery): TradeFilter | Rejection<"invalid_parameters"> {
  const currency = currencyOf(query);
  if (currency === undefined) {
    const message = `${query.currency} is no currency of chain ${query.chainId}`;
    return reject("invalid_parameters", `currency: ${message}`, [{ field: "currency", message }]);
  }
  return {
    buyer: query.buyer ?? null,
    seller: query.seller ?? null,
    wallet: query.wallet ?? null,
    marketplace: query.marketplace ?? null,
    protocol: query.protocol ?? null,
    currency,
    since: query.since ?? null,
    until: query.until ?? null,
  };
}

/** What a cursor is bound to. */
function tradeScope({ since, until, ...trade }: TradeFilter) {
  return { ...trade, since: since?.toISOString() ?? null, until: until?.toISOString() ?? null };
}

/** null: any; undefined: not a currency of the chain. */
function currencyOf({ currency, chainId }: TradeQuery): Address | null | undefined {
  if (currency === undefined) return null;
  if (currency.startsWith("0x")) return currency.toLowerCase() as Address;
  return currencyOfSymbol(chainId, currency.toUpperCase());
}

/** Contracts in which traits are looked up when no collection is named. */
const maxContracts = 1_000;

export const listSales = route(
  {
    method: "get",
    path: "/v1/sales",
    operationId: "listSales",
    tag: "Sales",
    loadClass: "lists",
    summary: "Sales on all indexed marketplaces, newest first",
    plansOnceWith: ["chainId", "collection", "fields", ...Object.keys(pageFields)],
    query: z.object({
      chainId,
      collection: collectionKey.optional(),
      token_id: tokenId.optional().meta({
        description: "Only this token id: of the collection, else of every contract of the chain.",
      }),
      traits: traitFilter("traits", {
        more: `Without \`collection\`, tokens of every contract of the chain: refused where more than ${maxContracts} contracts have such tokens. `,
      }).optional(),
      ...tradeFields,
      fields: rowFields(Sale),
      ...pageFields,
    }),
    data: z.array(Sale),
    meta: pageMeta,
    refuses: { not_found: 404, ...chainRefusals, ...pageRefusals },
    isCacheable: true,
  },
  async ({ query }, { db, siteUrl }) => {
    const traits = query.traits ?? [];
    const contractIds = await contractsOfQuery(db, query);
    if (isRejection(contractIds)) return contractIds;

    const { chainId, token_id: tokenId = null, fields } = query;
    const trade = tradeFilterOf(query);
    if (isRejection(trade)) return trade;
    const scope = {
      list: "sales",
      chainId,
      tokenId,
      contractIds: contractIds?.join() ?? null,
      traits: JSON.stringify(traits.toSorted()),
      ...tradeScope(trade),
    };
    const request = pageOf(query, scope, saleKey);
    if (isRejection(request)) return request;
    const traitKeys = await keysOfTraits(db, { chainId, contractIds }, traits);
    if (isRejection(traitKeys)) return traitKeys;
    const filter = { chainId, contractIds, tokenId, traits, traitKeys, trade };
    const { rows, total } = await readSales(db, filter, request.read, salePartsOf(fields));
    const { shown, meta } = cutPage(request, rows, keyOfSale);
    return {
      data: withFields(
        shown.map((row) => presentSale(row, siteUrl)),
        fields,
      ),
      meta: { chainId: query.chainId, total: Number(total), ...meta },
    };
  },
);

/** Digits are those of bigint and integer columns. */
export const saleKey = z.tuple([cursorInteger(18), cursorInteger(9), cursorInteger(9)]).transform(
  ([blockId, transactionIndex, ordinal]): SaleKey => ({
    blockId,
    transactionIndex: Number(transactionIndex),
    ordinal: Number(ordinal),
  }),
);

export function keyOfSale({ blockId, transactionIndex, ordinal }: SaleKey) {
  return [blockId, transactionIndex, ordinal];
}

type Place = { chainId: number; contractIds: readonly number[] | null };

async function keysOfTraits(
  db: Database,
  { chainId, contractIds }: Place,
  traits: readonly RequestedTrait[],
) {
  if (traits.length === 0) return [];
  if (contractIds !== null) return await readTraitKeys(db, contractIds, traits);
  const found = await readTraitKeysOfChain(db, chainId, traits, maxContracts);
  if (found !== null) return found;
  const message = `tokens of more than ${maxContracts} contracts have them: add collection`;
  return reject("invalid_parameters", `traits: ${message}`, [{ field: "traits", message }]);
}

export const sale = route(
  {
    method: "get",
    path: "/v1/sales/{saleId}",
    operationId: "getSale",
    tag: "Sales",
    summary: "One sale",
    params: z.object({ saleId }),
    query: z.object({ chainId }),
    data: Sale,
    refuses: { not_found: 404, ...chainRefusals },
    isCacheable: true,
  },
  async ({ params, query }, { db, siteUrl }) => {
    const row = await readSale(db, query.chainId, params.saleId);
    if (row !== null) return { data: presentSale(row, siteUrl) };
    return reject("not_found", `No sale ${params.saleId} on chain ${query.chainId}`);
  },
);
