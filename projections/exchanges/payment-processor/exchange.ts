import type { AbiEvent, Address } from "viem";
import {
  paymentProcessor as contracts,
  paymentProcessorEvents,
  paymentProcessorV1Events,
} from "../../../abis/payment-processor.ts";
import type { Exchange, ExchangeSource, ExchangeTransaction } from "../model/exchange.ts";
import type { Fill, Trade } from "../model/trade.ts";
import { type EmittedEvent, translateEvents } from "../model/translate-events.ts";
import { coinFees } from "./coin-fees.ts";
import { tradesOfV1 } from "./v1.ts";

const [v1, v2, v21, v3] = [contracts["1"], contracts["2"], contracts["2.1"], contracts["3"]];

const versions: ReadonlyMap<Address, string> = new Map(
  Object.entries(contracts).flatMap(([version, addresses]) =>
    addresses.map((address) => [address, version] as const),
  ),
);

export const paymentProcessor: Exchange = {
  protocol: "payment-processor",
  sources: [
    source("PaymentProcessorV1", paymentProcessorV1Events, {
      1: { addresses: v1, firstBlock: 16_700_000 },
    }),
    source("PaymentProcessor", paymentProcessorEvents, {
      1: { addresses: [...v2, ...v21, ...v3], firstBlock: 19_000_000 },
      33139: { addresses: v3, firstBlock: 0 },
    }),
  ],
  tradesOf,
};

function source(
  name: string,
  events: readonly AbiEvent[],
  chains: ExchangeSource["chains"],
): ExchangeSource {
  const trades = events.map((event) => event.name).filter((event) => /Buy|Sweep|Offer/.test(event));
  return { name, events, eventsWithCall: trades, eventsWithTransfers: trades, chains };
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
