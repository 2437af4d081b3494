import { createHash } from "node:crypto";
import type { Address, Hex } from "viem";
import { factKind } from "../log/fact-kinds.ts";
import { exchanges } from "./exchanges.ts";
import {
  type Exchange,
  type ExchangeEvent,
  type ExchangeFact,
  type ExchangeTransaction,
  type Fill,
  isOfUnknownPool,
  isUnresolved,
  type NftStandard,
  type UnresolvedEvent,
} from "./model/exchange.ts";
import { apportion, attributeMarketplace, classifyFees, type Fee } from "./model/fees.ts";
import { type Placed, type SettledTrade, settleTrades } from "./model/settle-trades.ts";

/** An NFT sold. */
export type TranslatedSale = {
  /** Position among the transaction's sales, from 0. */
  readonly ordinal: number;
  readonly saleId: Hex;
  readonly contract: Address;
  readonly tokenId: string;
  readonly standard: NftStandard;
  readonly quantity: bigint;
  /** Per unit, rounded down. */
  readonly priceWei: bigint;
  readonly totalWei: bigint;
  /** The zero address is the native currency. */
  readonly currency: Address;
  readonly seller: Address;
  readonly buyer: Address;
  /** The router or aggregator that took the trade for the buyer. */
  readonly via: Address | null;
  readonly side: "ask" | "bid";
  readonly marketplace: string;
  readonly protocol: string;
  readonly protocolVersion: string;
  readonly exchange: Address;
  readonly orderHash: Hex | null;
  readonly fees: readonly Fee[];
  readonly bundle: { readonly size: number; readonly totalWei: bigint } | null;
  readonly logIndex: number;
};

/** What a transaction's facts come to. */
export type Translation = {
  readonly sales: readonly TranslatedSale[];
  readonly unresolved: readonly UnresolvedSaleEvent[];
};

/** An event that announces a trade and makes no sale. */
export type UnresolvedSaleEvent = UnresolvedEvent & { readonly protocol: string };

export function translateSales(transaction: ExchangeTransaction, feeRecipient: Address) {
  return translateTransaction(transaction, feeRecipient).sales;
}

/** The sales of a transaction on all exchanges, one exchange after the other, and the events that make none. */
export function translateTransaction(
  transaction: ExchangeTransaction,
  feeRecipient: Address,
): Translation {
  const calldataTail = calldataTailOf(transaction.facts);
  const facts = factsByExchange(transaction);
  const fills = exchanges.flatMap((exchange) =>
    fillsOf(exchange, transaction, facts.get(exchange)),
  );
  const sales: Omit<TranslatedSale, "ordinal">[] = [];
  const unresolved: UnresolvedSaleEvent[] = [];
  for (const placed of settleTrades(fills, transaction.transfers)) {
    const { exchange, fill } = placed;
    if (isUnresolved(fill)) unresolved.push({ ...fill, protocol: exchange.protocol });
    else sales.push(...salesOf(transaction, { ...placed, fill }, { calldataTail, feeRecipient }));
  }
  return { sales: sales.map((sale, ordinal) => ({ ordinal, ...sale })), unresolved };
}

/** By kind of fact, or by source of an `exchange_event`: found once, as a rebuild asks it of every event. */
const known = new Map<number | string, Exchange>();

function exchangeOf(fact: ExchangeFact): Exchange | undefined {
  const { kind, payload } = fact;
  const key = kind === factKind.exchange_event ? (payload as ExchangeEvent).source : kind;
  const exchange = known.get(key) ?? exchanges.find((one) => isFactOf(one, fact));
  if (exchange !== undefined) known.set(key, exchange);
  return exchange;
}

function isFactOf({ factKinds, sources }: Exchange, { kind, payload }: ExchangeFact): boolean {
  if (factKinds !== undefined) return factKinds.some((own) => factKind[own] === kind);
  if (kind !== factKind.exchange_event) return false;
  const { source } = payload as ExchangeEvent;
  return sources.some(({ name }) => name === source);
}

function factsByExchange({ facts }: ExchangeTransaction): Map<Exchange, ExchangeFact[]> {
  const byExchange = new Map<Exchange, ExchangeFact[]>();
  for (const fact of facts) {
    const exchange = exchangeOf(fact);
    if (exchange === undefined) continue;
    const own = byExchange.get(exchange);
    if (own === undefined) byExchange.set(exchange, [fact]);
    else own.push(fact);
  }
  return byExchange;
}

function fillsOf(
  exchange: Exchange,
  transaction: ExchangeTransaction,
  facts: readonly ExchangeFact[] | undefined,
): Placed<Fill>[] {
  if (facts === undefined) return [];
  let itemsBefore = 0;
  return exchange.tradesOf({ ...transaction, facts }).map((fill, place) => {
    const placed = { exchange, place, itemsBefore, fill };
    itemsBefore += isUnresolved(fill) ? 0 : fill.items.length;
    return placed;
  });
}

/** It is the transaction's: equal in all facts that have it. */
function calldataTailOf(facts: readonly ExchangeFact[]): Hex | null {
  for (const fact of facts) {
    const { calldataTail } = fact.payload as { calldataTail?: Hex | null };
    if (calldataTail && !isOfUnknownPool(fact)) return calldataTail;
  }
  return null;
}

/**
 * Made of chain, transaction, exchange, the fill's place among the exchange's fills and the item: it stays the same when
 * the transaction is mined again, and when another exchange is added. SHA-256, which is native here; Keccak was a sixth
 * of a rebuild's translation.
 */
function saleId(
  { chainId, hash }: ExchangeTransaction,
  { exchange, place, itemsBefore }: Placed<unknown>,
  item: number,
): Hex {
  const sold = exchange.hasNumberedSaleIds
    ? itemsBefore + item
    : `${exchange.protocol} ${place} ${item}`;
  return `0x${createHash("sha256").update(`${chainId} ${hash} ${sold}`).digest("hex")}`;
}

type Attribution = { calldataTail: Hex | null; feeRecipient: Address };

/** A sale per NFT. A bundle's price and fees are split equally, the remainder on the first. */
function salesOf(
  transaction: ExchangeTransaction,
  placed: Placed<SettledTrade>,
  { calldataTail, feeRecipient }: Attribution,
): Omit<TranslatedSale, "ordinal">[] {
  const { exchange, fill: trade } = placed;
  const { items, fees, zones, totalWei } = trade;
  const weights = items.map(() => 1n);
  const totals = apportion(totalWei, weights);
  const splitFees = fees.map(({ wei }) => apportion(wei, weights));
  const recipients = fees.map(({ recipient }) => recipient);
  const attributed = attributeMarketplace({ recipients, zones, calldataTail }, feeRecipient);
  return items.map(({ contract, tokenId, standard, units, seller, buyer, via }, index) => {
    const itemWei = totals[index] ?? 0n;
    const itemFees = recipients.map((recipient, fee) => {
      return { recipient, wei: splitFees[fee]?.[index] ?? 0n };
    });
    return {
      saleId: saleId(transaction, placed, index),
      contract,
      tokenId,
      standard,
      quantity: units,
      seller,
      buyer,
      via,
      priceWei: itemWei / units,
      totalWei: itemWei,
      currency: trade.currency,
      side: trade.side,
      marketplace: attributed ?? exchange.marketplace ?? "unknown",
      protocol: exchange.protocol,
      protocolVersion: trade.protocolVersion,
      exchange: trade.exchange,
      orderHash: trade.orderHash,
      fees: classifyFees(itemFees, itemWei, feeRecipient),
      bundle: items.length > 1 ? { size: items.length, totalWei } : null,
      logIndex: trade.logIndex,
    };
  });
}
