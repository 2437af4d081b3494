import { chainIdLegend, coinsInWords } from "#chains/texts.ts";
import { burnAddresses } from "#projections/domain/burn-address.ts";
import { factKind } from "#projections/log/fact-kinds.ts";
import { feesOfSale } from "#projections/sql/sale-fees.ts";
import { schemaOf } from "#projections/log/versions.ts";
import { isNative, usdAt } from "./money.ts";
import { hex, inUnits, named, naming, type View } from "./view.ts";

const isPaidNatively = isNative("o.chain_id", "o.currency");
const whenNative = (value: string) => `case when ${isPaidNatively} then ${value} end`;

export const salesView: View = {
  name: "sales",
  comment: "Sales on all indexed exchanges, a row per NFT; without sales of retracted blocks",
  from: `sales.sale o ${naming}
    left join sales.wash_trade w on w.block_id = o.block_id and w.transaction_index = o.transaction_index
      and w.ordinal = o.ordinal`,
  columns: [
    ["sale_id", hex("o.sale_id"), "Stable id: the same when its transaction is mined again"],
    ["chain_id", "o.chain_id", chainIdLegend],
    ["block_number", "o.block_number", "Height of its block"],
    ["block_timestamp", "o.timestamp", "Time of its block"],
    ["transaction_hash", hex("o.transaction_hash"), "Its transaction"],
    ["log_index", "o.log_index", "Index of the exchange's event in its block"],
    ...named,
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
  from: `log.fact o ${naming}
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
    ...named,
    ["kind", transferType, "mint, transfer or burn"],
    ["token_id", "o.token_id", "Token id; of a range minted at once the first"],
    ["quantity", unitsMoved, "Units; of a range minted at once the number of ids"],
    ["from_address", hex("o.from_address"), "Sender; the zero address for mints"],
    ["to_address", hex("o.to_address"), "Receiver; the zero address or 0x…dead for burns"],
  ],
};
