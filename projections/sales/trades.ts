import { createHash } from "node:crypto";
import type { Address, Hex } from "viem";
import { marketplaceOf } from "./attribution.ts";
import { apportion } from "./currency.ts";
import { type Fee, feesOf } from "./fees.ts";
import { exchangesOf, type Flow } from "./flows.ts";
import type { FulfilledOrder, OrderTransaction, SeaportVersion } from "./order-facts.ts";
import { sellerOf, type Trade, tradesIn } from "./pricing.ts";
import { settlements } from "./settlements.ts";

/** An NFT sold. */
export type Sale = {
  /** The sale's place among the transaction's sales. */
  readonly ordinal: number;
  readonly saleId: Hex;
  readonly contract: Address;
  readonly tokenId: string;
  readonly quantity: bigint;
  /** Per unit, rounded down. */
  readonly priceWei: bigint;
  readonly totalWei: bigint;
  /** The zero address is the native currency. */
  readonly currency: Address;
  readonly seller: Address;
  readonly buyer: Address;
  readonly side: "ask" | "bid";
  readonly marketplace: string;
  readonly protocolVersion: SeaportVersion;
  readonly exchange: Address;
  readonly orderHash: Hex;
  readonly fees: readonly Fee[];
  readonly bundle: { readonly size: number; readonly totalWei: bigint } | null;
  readonly logIndex: number;
};

type Made = { readonly maker: FulfilledOrder; readonly side: Sale["side"]; readonly trade: Trade };

/** The sales of a transaction, in the order of their makers' logs. */
export function translateSales(transaction: OrderTransaction, feeRecipient: Address): Sale[] {
  return settlements(transaction.orders, transaction.matches)
    .flatMap(exchangesOf)
    .flatMap(tradesIn)
    .filter((trade) => !isMint(trade))
    .map((trade) => madeBy(trade, transaction.sender))
    .sort((one, other) => one.maker.logIndex - other.maker.logIndex)
    .flatMap((made) => rowsOf(made, transaction, feeRecipient))
    .map((row, ordinal) => ({ ordinal, saleId: saleId(transaction, ordinal), ...row }));
}

/** Stays the same when the transaction is mined again. SHA-256, which is native here; Keccak was a sixth of a rebuild's translation. */
function saleId({ chainId, hash }: OrderTransaction, ordinal: number): Hex {
  return `0x${createHash("sha256").update(`${chainId} ${hash} ${ordinal}`).digest("hex")}`;
}

/** A contract that offers its own tokens through the exchange mints them. */
function isMint({ flows }: Trade): boolean {
  return flows.some((flow) => sellerOf(flow) === flow.token);
}

/** Of two matched orders one was there first: the other is the caller's, or comes later in the log. */
function madeBy(trade: Trade, sender: Address): Made {
  const [flow] = trade.flows;
  const maker = flow?.giver ?? flow?.taker;
  if (!flow || !maker) throw new Error("a trade without an order");
  const { giver, taker } = flow;
  if (!giver || !taker || giver === taker) return { maker, side: giver ? "ask" : "bid", trade };
  const isCallers = (order: FulfilledOrder) =>
    order.offerer === order.recipient || order.offerer === sender;
  const giverIsMaker =
    isCallers(giver) === isCallers(taker) ? giver.logIndex < taker.logIndex : isCallers(taker);
  return giverIsMaker ? { maker: giver, side: "ask", trade } : { maker: taker, side: "bid", trade };
}

/** A row per NFT. A bundle's price and fees are split equally, the remainder on the first row. */
function rowsOf(
  { maker, side, trade }: Made,
  transaction: OrderTransaction,
  feeRecipient: Address,
) {
  const { flows, currency, totalWei, legs } = trade;
  const weights = flows.map(() => 1n);
  const totals = apportion(totalWei, weights);
  const splits = legs.map(({ wei }) => apportion(wei, weights));
  const marketplace = marketplaceOf(
    {
      recipients: legs.map(({ recipient }) => recipient),
      zones: ordersOf(flows).map(({ zone }) => zone),
      calldataTail: transaction.calldataTail,
    },
    feeRecipient,
  );
  return flows.map((flow, index) => {
    const rowWei = totals[index] ?? 0n;
    const rowLegs = legs.map(({ recipient }, leg) => ({
      recipient,
      wei: splits[leg]?.[index] ?? 0n,
    }));
    return {
      contract: flow.token,
      tokenId: flow.identifier,
      quantity: flow.units,
      priceWei: rowWei / flow.units,
      totalWei: rowWei,
      currency,
      seller: sellerOf(flow),
      buyer: flow.recipient,
      side,
      marketplace,
      protocolVersion: maker.version,
      exchange: maker.exchange,
      orderHash: maker.orderHash,
      fees: feesOf(rowLegs, rowWei, feeRecipient),
      bundle: flows.length > 1 ? { size: flows.length, totalWei } : null,
      logIndex: maker.logIndex,
    };
  });
}

function ordersOf(flows: readonly Flow[]): FulfilledOrder[] {
  return flows.flatMap(({ giver, taker }) => [giver, taker]).filter((order) => order !== null);
}
