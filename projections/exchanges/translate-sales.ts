import { createHash } from "node:crypto";
import type { Address, Hex } from "viem";
import type { ExchangeEvent } from "../facts/exchange-event.ts";
import { factKind } from "../log/fact-kind.ts";
import { exchanges } from "./exchanges.ts";
import { apportion } from "./model/apportion.ts";
import { attributeMarketplace } from "./model/attribution.ts";
import type { Exchange, ExchangeFact, ExchangeTransaction } from "./model/exchange.ts";
import { classifyFees, type Fee } from "./model/fees.ts";
import type { Trade } from "./model/trade.ts";

/** An NFT sold. */
export type Sale = {
  /** Position among the transaction's sales, from 0. */
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
  readonly protocol: string;
  readonly protocolVersion: string;
  readonly exchange: Address;
  readonly orderHash: Hex | null;
  readonly fees: readonly Fee[];
  readonly bundle: { readonly size: number; readonly totalWei: bigint } | null;
  readonly logIndex: number;
};

/** The sales of a transaction on all exchanges, one exchange after the other. */
export function translateSales(transaction: ExchangeTransaction, feeRecipient: Address): Sale[] {
  const calldataTail = calldataTailOf(transaction.facts);
  return exchanges
    .flatMap((exchange) => {
      const facts = transaction.facts.filter((fact) => isFactOf(exchange, fact));
      if (facts.length === 0) return [];
      return exchange
        .tradesOf({ ...transaction, facts })
        .flatMap((trade) => saleFields(exchange, trade, { calldataTail, feeRecipient }));
    })
    .map((sale, ordinal) => ({ ordinal, saleId: saleId(transaction, ordinal), ...sale }));
}

function isFactOf({ factKinds, sources }: Exchange, { kind, payload }: ExchangeFact): boolean {
  if (factKinds !== undefined) return factKinds.some((own) => factKind[own] === kind);
  if (kind !== factKind.exchange_event) return false;
  const { source } = payload as ExchangeEvent;
  return sources.some(({ name }) => name === source);
}

/** It is the transaction's: equal in all facts that have it. */
function calldataTailOf(facts: readonly ExchangeFact[]): Hex | null {
  for (const { payload } of facts) {
    const { calldataTail } = payload as { calldataTail?: Hex | null };
    if (calldataTail) return calldataTail;
  }
  return null;
}

/** Stays the same when the transaction is mined again. SHA-256, which is native here; Keccak was a sixth of a rebuild's translation. */
function saleId({ chainId, hash }: ExchangeTransaction, ordinal: number): Hex {
  return `0x${createHash("sha256").update(`${chainId} ${hash} ${ordinal}`).digest("hex")}`;
}

type Attribution = { calldataTail: Hex | null; feeRecipient: Address };

/** A sale per NFT. A bundle's price and fees are split equally, the remainder on the first. */
function saleFields(
  { protocol, marketplace = "unknown" }: Exchange,
  trade: Trade,
  { calldataTail, feeRecipient }: Attribution,
): Omit<Sale, "ordinal" | "saleId">[] {
  const { items, fees, zones, totalWei } = trade;
  const weights = items.map(() => 1n);
  const totals = apportion(totalWei, weights);
  const splitFees = fees.map(({ wei }) => apportion(wei, weights));
  const recipients = fees.map(({ recipient }) => recipient);
  const attributed = attributeMarketplace({ recipients, zones, calldataTail }, feeRecipient);
  return items.map(({ contract, tokenId, units, seller, buyer }, index) => {
    const itemWei = totals[index] ?? 0n;
    const itemFees = recipients.map((recipient, fee) => {
      return { recipient, wei: splitFees[fee]?.[index] ?? 0n };
    });
    return {
      ...{ contract, tokenId, quantity: units, seller, buyer },
      priceWei: itemWei / units,
      totalWei: itemWei,
      currency: trade.currency,
      side: trade.side,
      marketplace: attributed ?? marketplace,
      protocol,
      protocolVersion: trade.protocolVersion,
      exchange: trade.exchange,
      orderHash: trade.orderHash,
      fees: classifyFees(itemFees, itemWei, feeRecipient),
      bundle: items.length > 1 ? { size: items.length, totalWei } : null,
      logIndex: trade.logIndex,
    };
  });
}
