import { type RawBuilder, sql } from "kysely";
import { priceAt, nativeCoins, saleUsdE8 } from "#projections/engine/usd.ts";
import type { BidRow } from "#projections/orders/read-bids.ts";
import type { ListingRow } from "#projections/orders/read-listings.ts";
import type { SaleRow } from "#projections/sales/read-sale.ts";

/** SQL of each column, by its name in a row. */
type Columns<Row> = { readonly [Name in keyof Row]: RawBuilder<unknown> };

type OrderPart =
  | "chainId"
  | "orderHash"
  | "maker"
  | "unitPriceWei"
  | "unitPriceUsdE8"
  | "quantity"
  | "filled"
  | "endTime";

/** Columns of a token's cheapest active listing. */
export type TokenListingRow = Pick<
  ListingRow,
  OrderPart | "marketplace" | "isBuyable" | "currency" | "fillable" | "startTime"
>;
/** Columns of a token's best active bid. */
export type TokenBidRow = Pick<BidRow, OrderPart | "kind" | "sellerNetWei" | "currency">;
/** Columns of a token's last sale. */
export type TokenSaleRow = Pick<
  SaleRow,
  | "chainId"
  | "saleId"
  | "quantity"
  | "priceWei"
  | "totalWei"
  | "currency"
  | "priceUsdE8"
  | "seller"
  | "buyer"
  | "via"
  | "washRule"
  | "marketplace"
  | "protocol"
  | "protocolVersion"
  | "exchange"
  | "transactionHash"
  | "timestamp"
>;

/** CTE `coin`: the price of each chain's coin at a time, read once for all rows. */
export function coinsAt(at: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    coin as materialized (
      select native.chain_id, ${priceAt(sql`native.coin`, at)} as price_e8 from ${nativeCoins}
    )`;
}

const orderColumns = (row: string): Columns<Pick<ListingRow, OrderPart>> => ({
  chainId: sql.ref(`${row}.chain_id`),
  orderHash: sql.ref(`${row}.order_hash`),
  maker: sql.ref(`${row}.maker`),
  unitPriceWei: sql.ref(`${row}.unit_price_wei`),
  unitPriceUsdE8: sql`div(${sql.ref(`${row}.unit_price_wei`)} * (
    select coin.price_e8 from coin where coin.chain_id = ${sql.ref(`${row}.chain_id`)}
  ), 1000000000000000000)`,
  quantity: sql.ref(`${row}.quantity`),
  filled: sql.ref(`${row}.filled`),
  endTime: sql.ref(`${row}.end_time`),
});

const listingColumns: Columns<TokenListingRow> = {
  ...orderColumns("l"),
  marketplace: sql`l.marketplace`,
  isBuyable: sql`l.is_buyable`,
  currency: sql`l.currency`,
  fillable: sql`l.fillable`,
  startTime: sql`l.start_time`,
};

const bidColumns: Columns<TokenBidRow> = {
  ...orderColumns("b"),
  kind: sql`b.kind`,
  sellerNetWei: sql`b.seller_net_wei`,
  currency: sql`b.currency`,
};

const saleColumns: Columns<TokenSaleRow> = {
  chainId: sql`s.chain_id`,
  saleId: sql`s.sale_id`,
  quantity: sql`s.quantity`,
  priceWei: sql`s.price_wei`,
  totalWei: sql`s.total_wei`,
  currency: sql`s.currency`,
  priceUsdE8: saleUsdE8,
  seller: sql`s.seller`,
  buyer: sql`s.buyer`,
  via: sql`s.via`,
  washRule: sql`(
    select w.rule from sales.wash_trade w
    where w.block_id = s.block_id and w.transaction_index = s.transaction_index and w.ordinal = s.ordinal
  )`,
  marketplace: sql`s.marketplace`,
  protocol: sql`s.protocol`,
  protocolVersion: sql`s.protocol_version`,
  exchange: sql`s.exchange`,
  transactionHash: sql`s.transaction_hash`,
  timestamp: sql`s.timestamp`,
};

const trades = { listing: listingColumns, bid: bidColumns, sale: saleColumns };

/** Columns of rows `l`, `b` and `s`, prefixed with `listing_`, `bid_` and `sale_`. */
export const tradeColumns = sql.join(
  Object.entries(trades).flatMap(([of, columns]) =>
    Object.entries(columns).map(([name, column]) => sql`${column} as ${sql.ref(`${of}_${name}`)}`),
  ),
);

const namesOf = (of: keyof typeof trades) =>
  Object.keys(trades[of]).map((name) => [name, `${of}_${name}`] as const);
const names = { listing: namesOf("listing"), bid: namesOf("bid"), sale: namesOf("sale") };

/** The listing, bid or sale in a row; null: none. */
export function tradeOfRow<Row extends object>(
  of: keyof typeof trades,
  row: Readonly<Record<string, unknown>>,
): Row | null {
  if (row[`${of}_chainId`] === null) return null;
  const trade: Record<string, unknown> = {};
  for (const [name, column] of names[of]) trade[name] = row[column];
  return trade as Row;
}
