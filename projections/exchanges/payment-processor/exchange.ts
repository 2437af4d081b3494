import type { AbiEvent, Address } from "viem";
import { paymentProcessor as contracts, paymentProcessorEvents, paymentProcessorV1Events } from "#abis/payment-processor.ts";
import type { ExchangeSources } from "#chains/chain.ts";
import type { Exchange, ExchangeSource, ExchangeTransaction } from "../model/exchange.ts";
import type { Fill, Trade } from "../model/trade.ts";
import { type EmittedEvent, translateEvents } from "../model/translate-events.ts";
import { coinFees } from "./coin-fees.ts";
import { tradesOfV1 } from "./v1.ts";

const versions: ReadonlyMap<Address, string> = new Map(
  Object.entries(contracts).flatMap(([version, addresses]) =>
    addresses.map((address) => [address, version] as const),
  ),
);

export const paymentProcessor: Exchange = {
  protocol: "payment-processor",
  sources: [
    source("PaymentProcessorV1", paymentProcessorV1Events),
    source("PaymentProcessor", paymentProcessorEvents),
  ],
  tradesOf,
};

function source(
  name: ExchangeSources["paymentProcessor"],
  events: readonly AbiEvent[],
): ExchangeSource {
  const trades = events.map((event) => event.name).filter((event) => /Buy|Sweep|Offer/.test(event));
  return {
    name,
    events,
    eventsWithCall: trades,
    eventsWithTransfers: trades,
    deployed: ({ exchanges }) => exchanges.paymentProcessor?.[name] ?? null,
  };
}

function tradesOf(transaction: ExchangeTransaction): Fill[] {
  let after = -1;
  return translateEvents(transaction, (event) => {
    if (event.source === "PaymentProcessorV1") return tradesOfV1(event);
    const trade = tradeOf(event);
    if (trade === null) return null;
    const fees = coinFees(trade, transaction.transfers, after);
    after = event.logIndex;
    return { ...trade, fees };
  });
}

type Args = {
  buyer: Address;
  seller: Address;
  tokenAddress: Address;
  beneficiary: Address;
  paymentCoin: Address;
  tokenId: string;
  /** Of ERC-1155 events. */
  amount?: string;
  salePrice: string;
};

/** Versions 2, 2.1 and 3 emit the same trades. The token goes to the beneficiary, the price is of all units. */
function tradeOf({ event, args, contract: exchange, logIndex }: EmittedEvent): Trade | null {
  const isListing = event.startsWith("BuyListing");
  if (!isListing && !event.startsWith("AcceptOffer")) return null;
  const { buyer, seller, tokenAddress, beneficiary, paymentCoin, salePrice, ...token } =
    args as Args;
  const item = { contract: tokenAddress, tokenId: token.tokenId, units: BigInt(token.amount ?? 1) };
  const via = beneficiary === buyer ? {} : { via: buyer };
  return {
    items: [{ ...item, seller, buyer: beneficiary, ...via }],
    currency: paymentCoin,
    totalWei: BigInt(salePrice),
    fees: [],
    side: isListing ? "ask" : "bid",
    exchange,
    logIndex,
    protocolVersion: versions.get(exchange) ?? "unknown",
    orderHash: null,
    zones: [],
  };
}
