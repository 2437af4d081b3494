import { coins } from "#chains/coins.ts";
import { chainIdLegend, coinsInWords } from "#chains/texts.ts";
import { periods } from "../collections/read-figures.ts";
import { burnAddresses } from "../domain/burn-address.ts";
import { factKind } from "../log/fact-kinds.ts";
import { schemaOf } from "../log/versions.ts";
import { feesOfSale } from "../sales/read-sale.ts";
import {
  chainRows,
  coinColumn,
  hex,
  inUnits,
  isNative,
  namingColumns,
  namingJoins,
  standardColumn,
  usdAt,
  type View,
} from "./view.ts";

const isPaidNatively = isNative("o.chain_id", "o.currency");
const whenNative = (value: string) => `case when ${isPaidNatively} then ${value} end`;

export const salesView: View = {
  name: "sales",
  comment: "Sales on all indexed exchanges, a row per NFT; without sales of retracted blocks",
  from: `sales.sale o ${namingJoins}
    left join sales.wash_trade w on w.block_id = o.block_id and w.transaction_index = o.transaction_index
      and w.ordinal = o.ordinal`,
  columns: [
    ["sale_id", hex("o.sale_id"), "Stable id: the same when its transaction is mined again"],
    ["chain_id", "o.chain_id", chainIdLegend],
    ["block_number", "o.block_number", "Height of its block"],
    ["block_timestamp", "o.timestamp", "Time of its block"],
    ["transaction_hash", hex("o.transaction_hash"), "Its transaction"],
    ["log_index", "o.log_index", "Index of the exchange's event in its block"],
    ...namingColumns,
    ["token_id", "o.token_id", "Token id"],
    ["quantity", "o.quantity", "Units sold: 1 for ERC-721"],
    ["price_wei", "o.price_wei", "Price of a unit in the smallest unit of currency, rounded down"],
    ["total_wei", "o.total_wei", "Price of all units, exact"],
    [
      "price_native",
      whenNative(inUnits("o.price_wei")),
      `price_wei in ${coinsInWords}; null in another currency`,
    ],
    [
      "total_native",
      whenNative(inUnits("o.total_wei")),
      `total_wei in ${coinsInWords}; null in another currency`,
    ],
    [
      "total_usd",
      whenNative(usdAt("o.chain_id", "o.total_wei", "o.timestamp")),
      "total_native in USD at the last price at most two hours before the sale; null without one",
    ],
    [
      "currency",
      hex("o.currency"),
      `Contract it was paid in; the zero address: ${coinsInWords} itself`,
    ],
    ["is_native", isPaidNatively, "Paid in the chain's currency or its wrapped form"],
    ["seller", hex("o.seller"), "Address that sold the token"],
    ["buyer", hex("o.buyer"), "Address that has the token after the transaction"],
    ["via", hex("o.via"), "Router or aggregator that took the trade for the buyer; null: none"],
    ["side", "o.side", "Side of the order that was filled: ask (a listing) or bid (an offer)"],
    ["marketplace", "o.marketplace", "Marketplace of the sale, or unknown"],
    ["protocol", "o.protocol", "Exchange, such as seaport or blur"],
    ["protocol_version", "o.protocol_version", "Version of the exchange's contract"],
    ["exchange", hex("o.exchange"), "The exchange's contract"],
    ["order_hash", hex("o.order_hash"), "Order that was filled"],
    [
      "fees",
      feesOfSale("o"),
      "Fees as JSON: [{recipient, wei, bps, kind}]; royalty goes to a recipient known for the collection",
    ],
    ["bundle_size", "o.bundle_size", "NFTs sold for one price; null: a single one"],
    [
      "wash_trade",
      "w.rule",
      "Rule by which it looks like a wash trade: same_owner, back_and_forth or repeated_purchase; null: none",
    ],
  ],
};

const { erc721_transfer, erc721_consecutive_transfer, erc1155_transfer } = factKind;
const transferKinds = [erc721_transfer, erc721_consecutive_transfer, erc1155_transfer].join(", ");
const zero = `'\\x${"00".repeat(20)}'::bytea`;
const burnsTo = [...burnAddresses].map((one) => `'\\x${one.slice(2)}'::bytea`).join(", ");
const transferType = `case when o.from_address = ${zero} then 'mint'
  when o.to_address in (${burnsTo}) then 'burn' else 'transfer' end`;
const unitsMoved = `case o.kind when ${erc721_transfer} then 1 else o.amount end`;

/** Where the other views of trades stand. */
const applied = `(select c.position from engine.checkpoint c where c.projection = '${schemaOf("activity")}')`;
const retracted = `
  select latest.block_id
  from (
    select distinct on (s.block_id) s.block_id, s.kind from log.fact s
    where s.kind in (${factKind.block_retracted}, ${factKind.block_readopted}) and s.position <= ${applied}
    order by s.block_id, s.position desc
  ) latest
  where latest.kind = ${factKind.block_retracted}`;

export const transfersView: View = {
  name: "transfers",
  comment: "NFT transfers, mints and burns, without those of retracted blocks",
  from: `log.fact o ${namingJoins}
    join log.block b on b.block_id = o.block_id
    join log.transaction t on t.block_id = o.block_id and t.transaction_index = o.transaction_index
    where o.kind in (${transferKinds}) and (o.kind <> ${erc721_consecutive_transfer} or o.amount > 0) and o.position <= ${applied} and o.block_id not in (${retracted})`,
  columns: [
    ["chain_id", "b.chain_id", chainIdLegend],
    ["block_number", "b.number", "Height of its block"],
    ["block_timestamp", "b.timestamp", "Time of its block"],
    ["transaction_hash", hex("t.hash"), "Its transaction"],
    ["log_index", "o.log_index", "Index of its event in its block"],
    ["sub_index", "o.sub_index", "Index in a batch of one event"],
    ...namingColumns,
    ["kind", transferType, "mint, transfer or burn"],
    ["token_id", "o.token_id", "Token id; of a range minted at once the first"],
    ["quantity", unitsMoved, "Units; of a range minted at once the number of ids"],
    ["from_address", hex("o.from_address"), "Sender; the zero address for mints"],
    ["to_address", hex("o.to_address"), "Receiver; the zero address or 0x…dead for burns"],
  ],
};

/** The tables are as of the last clock tick: an order may have ended since. */
const hasEnded = "o.status in ('active', 'inactive') and o.end_time <= extract(epoch from now())";

const identity = [
  ["order_hash", hex("o.order_hash"), "The order"],
  ["chain_id", "o.chain_id", chainIdLegend],
] as const satisfies View["columns"];

const terms = [
  ...namingColumns,
  ["token_standard", standardColumn("o.standard"), "erc721 or erc1155"],
  ["maker", hex("o.maker"), "Who signed it"],
  ["price_wei", "o.unit_price_wei", "Price of a unit in wei"],
  [
    "price_native",
    inUnits("o.unit_price_wei"),
    `price_wei in ${coinsInWords}, or their wrapped form`,
  ],
  [
    "price_usd",
    usdAt("o.chain_id", "o.unit_price_wei", "now()"),
    "price_native in USD at the last price; null without a price of the last two hours",
  ],
  ["seller_net_wei", "o.seller_net_wei", "What the seller receives of a unit's price, in wei"],
  ["quantity", "o.quantity", "Units of the order"],
  ["filled", "o.filled", "Units filled"],
] as const satisfies View["columns"];

const state = [
  [
    "status",
    `case when ${hasEnded} then 'expired' else o.status end`,
    "Current status: active, inactive, filled, cancelled or expired",
  ],
  [
    "inactive_reason",
    `case when ${hasEnded} then null else o.reason end`,
    "Why it is inactive, or how it ended",
  ],
  ["starts_at", "to_timestamp(o.start_time)", "When it begins"],
  ["ends_at", "to_timestamp(o.end_time)", "When it ends"],
  ["created_at", "o.created_at", "When it was submitted or first seen"],
  ["updated_at", "o.updated_at", "Time of the newest fact that its state depends on"],
] as const satisfies View["columns"];

export const listingsView: View = {
  name: "listings",
  comment: "Listings of this market and of partners, ended ones too",
  from: `listings.listing o ${namingJoins}`,
  columns: [
    ...identity,
    ["marketplace", "o.marketplace", "native: this market; else the partner that lists it"],
    ["token_id", "o.token_id", "Token id"],
    ...terms,
    ["fillable", "o.fillable", "Units left that the maker holds; 0 after it has ended"],
    [
      "currency",
      `coalesce(${hex("o.currency")}, '0x0000000000000000000000000000000000000000')`,
      `Contract it is paid in; the zero address: ${coinsInWords} itself`,
    ],
    ["is_buyable", "o.is_buyable", "Whether buy data is available here while it is active"],
    ...state,
  ],
};

export const bidsView: View = {
  name: "bids",
  comment: "Offers for tokens and for collections, ended ones too",
  from: `bids.bid o ${namingJoins}`,
  columns: [
    ...identity,
    ["kind", "o.kind", "single-token, collection, trait or token-list"],
    ["token_id", "o.token_id", "Token id; null: several tokens of the contract"],
    ...terms,
    ["currency", hex("o.currency"), "Contract it is paid in"],
    ...state,
  ],
};

const spanOf = { "24h": "of the last 24 hours", "7d": "of 7 days", "30d": "of 30 days" } as const;

const traded = ([...periods, "all"] as const).flatMap((period) => {
  const span = period === "all" ? "of all time" : spanOf[period];
  return [
    [`sales_${period}`, `coalesce(s.sales_${period}, 0)`, `Sales ${span}`],
    [
      `volume_wei_${period}`,
      `coalesce(s.wei_${period}, 0)`,
      `Wei paid ${span}, in the chain's currency and its wrapped form`,
    ],
    [
      `volume_native_${period}`,
      inUnits(`coalesce(s.wei_${period}, 0)`),
      `volume_wei_${period} in ${coinsInWords}`,
    ],
    [
      `volume_usd_${period}`,
      `case when s.priced_wei_${period} > 0 and s.unpriced_sales_${period} = 0 then (s.usd_e8_${period} * 0.00000001)::double precision end`,
      `volume_wei_${period} in USD; null where a sale in any currency has no price`,
    ],
    [`wash_sales_${period}`, `coalesce(s.wash_sales_${period}, 0)`, "Of these, wash trades"],
    [
      `wash_volume_wei_${period}`,
      `coalesce(s.wash_wei_${period}, 0)`,
      `The part of volume_wei_${period} that is of wash trades`,
    ],
  ] as const;
});

export const collectionsView: View = {
  name: "collections",
  comment:
    "Collections with their figures over all their contracts; periods consist of full minutes",
  from: `collections.collection c
    join log.contract main on main.contract_id = c.collection_id
    left join collection_stats.collection s on s.collection_id = c.collection_id
    left join collection_stats.holder_stats h on h.collection_id = c.collection_id`,
  columns: [
    ["chain_id", "c.chain_id", chainIdLegend],
    ["collection", hex("main.address"), "Its primary contract"],
    ["collection_slug", "c.slug", "Unique on its chain"],
    ["name", "c.name", "Registered name, else that of its contract"],
    ["symbol", "c.symbol", "Symbol of its contract"],
    ["token_standard", standardColumn("c.standard"), "erc721 or erc1155, of its primary contract"],
    ["is_verified", "c.verified", "Verified by this market"],
    ["supply", "coalesce(h.supply, 0)", "Units that are not burned: of ERC-721 tokens, one each"],
    ["holders", "coalesce(h.holders, 0)", "Distinct owners without burn addresses"],
    ["listed", "coalesce(s.listed, 0)", "Tokens with an active listing"],
    ["floor_wei", "s.floor_wei", "Cheapest active listing, in wei; null: none"],
    ["floor_native", inUnits("s.floor_wei"), `floor_wei in ${coinsInWords}`],
    ...traded,
    ["created_at", "c.created_at", "Time of its first transfer, else of its registration"],
    ["updated_at", "c.updated_at", "When its data changed last, apart from figures"],
  ],
};

export const floorsView: View = {
  name: "floors",
  comment: "Floor prices of contracts, from snapshots every five minutes over the last 31 days",
  from: `floors.floor o ${namingJoins}`,
  columns: [
    ["chain_id", "o.chain_id", chainIdLegend],
    ...namingColumns,
    ["since", "o.valid_from", "First snapshot with this floor"],
    [
      "until",
      "o.valid_until",
      "First snapshot with another floor or none; null: the current floor",
    ],
    ["floor_wei", "o.price_wei", "Price of the cheapest active listing, in wei"],
    ["floor_native", inUnits("o.price_wei"), `floor_wei in ${coinsInWords}`],
  ],
};

export const coinPricesView: View = {
  name: "prices",
  comment:
    "Prices of the coins that chains are paid in: by minute while recorded live, by hour where backfilled",
  from: `coin_prices.tick p cross join ${chainRows} where p.coin = ${coinColumn("chain.id")}`,
  columns: [
    ["chain_id", "chain.id", "Chain whose currency it is"],
    ["coin", "p.coin", coins.join(" or ")],
    ["priced_at", "p.minute", "Minute of the price"],
    ["price_usd", "(p.price_e8 * 0.00000001)::double precision", `USD of one ${coinsInWords}`],
  ],
};

/** Ids of each range that the views show one by one: a range may hold any number of them. */
const MOST_OF_RANGE = 10_000;

const ranged = `
  select r.contract_id, generate_series(r.first_id, least(r.last_id, r.first_id + ${MOST_OF_RANGE - 1})) as token_id,
         721::smallint as standard, r.owner, (not r.is_burned)::int::numeric as supply, r.is_burned
  from ownership.token_range r`;
export const tokenRows = `(
  select contract_id, token_id, standard, owner, supply, is_burned from ownership.token union all ${ranged}
) o`;

export const tokensView: View = {
  name: "tokens",
  comment: `Tokens ever seen, burned ones included, with the owner of ERC-721 ones; of a range of ids (ERC-2309) those not moved since, ${MOST_OF_RANGE} at most`,
  from: `${tokenRows} ${namingJoins}
    left join metadata.token d on d.contract_id = o.contract_id and d.token_id = o.token_id`,
  columns: [
    ["chain_id", "k.chain_id", chainIdLegend],
    ...namingColumns,
    ["token_id", "o.token_id", "Token id"],
    ["token_standard", standardColumn("o.standard"), "erc721 or erc1155"],
    ["owner", hex("o.owner"), "Owner; null for ERC-1155, whose owners are in balances"],
    ["supply", "o.supply", "Units that are not burned: 0 or 1 for ERC-721"],
    ["is_burned", "o.is_burned", "Held by the zero address or 0x…dead, or no units are left"],
    ["name", "d.name", "Name in its metadata; null without metadata"],
    ["token_uri", "d.token_uri", "URI of its metadata"],
    ["attributes", "d.attributes", "Its traits as JSON; null without metadata"],
    ["metadata_updated_at", "d.updated_at", "When its metadata was last fetched"],
  ],
};

/** Both standards. */
export const holdings = `(
  select t.contract_id, t.token_id, t.standard, t.owner, 1::numeric as units
  from ownership.token t where t.owner is not null
  union all
  select r.contract_id, r.token_id, r.standard, r.owner, 1::numeric from (${ranged}) r
  union all
  select b.contract_id, b.token_id, 1155::smallint, b.owner, b.units
  from ownership.balance b where b.units > 0
) o`;

export const balancesView: View = {
  name: "balances",
  comment:
    "Who holds how many units of which token, of both standards; burn addresses hold burned units",
  from: `${holdings} ${namingJoins}`,
  columns: [
    ["chain_id", "k.chain_id", chainIdLegend],
    ...namingColumns,
    ["token_id", "o.token_id", "Token id"],
    ["token_standard", standardColumn("o.standard"), "erc721 or erc1155"],
    ["owner", hex("o.owner"), "Holder"],
    ["units", "o.units", "Units held: 1 for ERC-721"],
  ],
};
