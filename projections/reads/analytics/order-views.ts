import { chainIdLegend, coinsInWords } from "#chains/texts.ts";
import { usdAt } from "./money.ts";
import { hex, inUnits, named, naming, standardOf, type View } from "./view.ts";

/** The tables are as of the last clock tick: an order may have ended since. */
const hasEnded = "o.status in ('active', 'inactive') and o.end_time <= extract(epoch from now())";

const identity = [
  ["order_hash", hex("o.order_hash"), "The order"],
  ["chain_id", "o.chain_id", chainIdLegend],
] as const satisfies View["columns"];

const terms = [
  ...named,
  ["token_standard", standardOf("o.standard"), "erc721 or erc1155"],
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
  from: `listings.listing o ${naming}`,
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
  from: `bids.bid o ${naming}`,
  columns: [
    ...identity,
    ["kind", "o.kind", "single-token or collection"],
    ["token_id", "o.token_id", "Token id; null: any token of the contract"],
    ...terms,
    ["currency", hex("o.currency"), "Contract it is paid in"],
    ...state,
  ],
};
