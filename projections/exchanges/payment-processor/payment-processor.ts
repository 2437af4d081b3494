import { type AbiEvent, type Address, zeroAddress } from "viem";
import {
  paymentProcessorAddresses as contracts,
  paymentProcessorEvents,
  paymentProcessorV1Events,
} from "#abis/payment-processor.ts";
import type { ExchangeSources } from "#chains/chain.ts";
import {
  type Exchange,
  type ExchangeTransaction,
  type FeePayment,
  type Fill,
  type PlacedEvent,
  sourceOf,
  type TokenTransfer,
  type Trade,
  translateEvents,
  UnresolvableEvent,
} from "../model/exchange.ts";

/**
 * What a coin's transfers show: the legs that leave the buyer, or the caller for him, and do not reach the seller. None
 * where the legs do not add up to the price, and for native money, whose parts no log tells.
 */
function coinFees(
  { items, currency, totalWei, logIndex }: Trade,
  transfers: readonly TokenTransfer[],
  after: number,
): FeePayment[] {
  const [item] = items;
  if (currency === zeroAddress || item === undefined) return [];
  const payers = [item.buyer, item.via];
  const legs = transfers.filter(
    (one) =>
      one.contract === currency &&
      one.logIndex > after &&
      one.logIndex < logIndex &&
      payers.includes(one.from),
  );
  const paid = legs.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
  if (paid !== totalWei) return [];
  return legs
    .filter(({ to }) => to !== item.seller)
    .map(({ to, amount }) => ({ recipient: to, wei: BigInt(amount) }));
}

type Common = { marketplace: Address; tokenAddress: Address; paymentCoin: Address; buyer: Address };
type Single = Common & { seller: Address; tokenId: string; amount: string; salePrice: string };
type Sweep = Common & {
  unsuccessfulFills: boolean[];
  sellers: Address[];
  tokenIds: string[];
  amounts?: string[];
  salePrices: string[];
};

/** The trades of an event of version 1: one, or those of a sweep, without the items that were not filled. */
function tradesOfV1(event: PlacedEvent): Trade[] {
  return fillsOf(event).map(({ seller, buyer, tokenId, amount, salePrice, ...common }) => {
    const { contract: exchange, logIndex, sender } = event;
    const contract = common.tokenAddress;
    return {
      items: [{ contract, tokenId, units: BigInt(amount), seller, buyer }],
      currency: common.paymentCoin,
      totalWei: BigInt(salePrice),
      fees: [],
      // The event does not tell it: who sends the transaction takes the other's order.
      side: sender === seller ? "bid" : "ask",
      exchange,
      logIndex,
      protocolVersion: "1",
      orderHash: null,
      zones: [],
    };
  });
}

function fillsOf({ event, args }: PlacedEvent): Single[] {
  if (event === "BuySingleListing") return [args as Single];
  const { unsuccessfulFills, sellers, tokenIds, amounts, salePrices, ...common } = args as Sweep;
  return unsuccessfulFills.flatMap((isUnsuccessful, index) => {
    const [seller, tokenId, salePrice] = [sellers[index], tokenIds[index], salePrices[index]];
    const amount = amounts === undefined ? "1" : amounts[index];
    if (!seller || !tokenId || !salePrice || !amount) throw new UnresolvableEvent("undecodable");
    return isUnsuccessful ? [] : [{ ...common, seller, tokenId, amount, salePrice }];
  });
}

const versions: ReadonlyMap<Address, string> = new Map(
  Object.entries(contracts).flatMap(([version, addresses]) =>
    addresses.map((address) => [address, version] as const),
  ),
);

export const paymentProcessorExchange: Exchange = {
  protocol: "payment-processor",
  sources: [
    source("PaymentProcessorV1", paymentProcessorV1Events),
    source("PaymentProcessor", paymentProcessorEvents),
  ],
  tradesOf,
};

function source(name: ExchangeSources["paymentProcessor"], events: readonly AbiEvent[]) {
  const trades = events.map((event) => event.name).filter((event) => /Buy|Sweep|Offer/.test(event));
  return sourceOf("paymentProcessor", name, events, trades);
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
function tradeOf({ event, args, contract: exchange, logIndex }: PlacedEvent): Trade | null {
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
