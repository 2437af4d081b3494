import { type AbiEvent, type Address, type Hex, numberToHex, zeroAddress } from "viem";
import { blendEvents, blurAddresses, blurV1Events, blurV2Events } from "#abis/blur.ts";
import {
  type Exchange,
  type ExchangeTransaction,
  eventsOf,
  type Fill,
  type PlacedEvent,
  sourceOf,
  type TokenTransfer,
  type Trade,
  translateEvents,
  UnresolvableEvent,
} from "../model/exchange.ts";
import { type FeeRate, paymentsOf, totalOf } from "../model/fees.ts";
import { createTransferMatcher, type TransferMatcher } from "../model/payments.ts";
import { selectSimpleBlurSales } from "./simple-sales.ts";

type BuyLocked = { collection: Address; buyer: Address; seller: Address; tokenId: string };

/** Purchases of tokens out of their loans: the only sales of the lending protocol. */
function tradesOfBlend(transaction: ExchangeTransaction): Fill[] {
  const { transfers } = transaction;
  const matcher = createTransferMatcher(transfers);
  const places = eventsOf(transaction).map(({ logIndex }) => logIndex);
  return translateEvents(transaction, (event) => {
    const { collection: contract, tokenId, buyer, seller } = event.args as BuyLocked;
    const { logIndex } = event;
    // The lending protocol holds the token, and hands it over after the event.
    const transfer = matcher.after({
      contract,
      tokenId,
      logIndex,
      from: blurAddresses.blend,
      to: buyer,
    });
    const item = { contract, tokenId, units: 1n, seller, buyer, transfer };
    return { ...priceOf(event, loanPaymentsOf(event, places, transfers)), items: [item] };
  });
}

/**
 * What left the buyer in the pool's coin: fees before the event, then the debt and the rest after it. Of several
 * purchases each is paid between its event and the next one.
 */
function loanPaymentsOf(
  { logIndex, args }: PlacedEvent,
  places: readonly number[],
  transfers: readonly TokenTransfer[],
): TokenTransfer[] {
  const index = places.indexOf(logIndex);
  const from = index === 0 ? -1 : logIndex;
  const to = places[index + 1] ?? Number.POSITIVE_INFINITY;
  const { buyer } = args as BuyLocked;
  return transfers.filter(
    (one) =>
      one.contract === blurAddresses.pool &&
      one.standard === "erc20" &&
      one.from === buyer &&
      one.logIndex > from &&
      one.logIndex < to,
  );
}

function priceOf(
  { contract: exchange, logIndex, args }: PlacedEvent,
  payments: readonly TokenTransfer[],
): Omit<Trade, "items"> {
  const { seller } = args as BuyLocked;
  const fees = payments.filter((one) => one.logIndex < logIndex && one.to !== seller);
  return {
    currency: zeroAddress,
    totalWei: payments.reduce((sum, { amount }) => sum + BigInt(amount), 0n),
    fees: fees.map(({ to, amount }) => ({ recipient: to, wei: BigInt(amount) })),
    side: "ask",
    exchange,
    logIndex,
    protocolVersion: "1",
    orderHash: null,
    zones: [],
  };
}

type Order = {
  trader: Address;
  collection: Address;
  tokenId: string;
  amount: string;
  paymentToken: Address;
  price: string;
  listingTime: string;
  fees: { rate: number; recipient: Address }[];
};
type OrdersMatched = { sell: Order; sellHash: Hex; buy: Order; buyHash: Hex };

function tradesOfV1(transaction: ExchangeTransaction): Fill[] {
  const matcher = createTransferMatcher(transaction.transfers);
  return translateEvents(transaction, (event) =>
    event.event === "OrdersMatched" ? tradeOfV1(event, matcher) : null,
  );
}

function tradeOfV1(event: PlacedEvent, matcher: TransferMatcher): Trade {
  const { contract: exchange, logIndex } = event;
  const { sell, buy, sellHash, buyHash } = event.args as OrdersMatched;
  const { collection: contract, tokenId } = sell;
  const [seller, buyer] = [sell.trader, buy.trader];
  const transfer = matcher.before({ contract, tokenId, from: seller, to: buyer, logIndex });
  const totalWei = BigInt(sell.price);
  const side = sideOf(sell, buy);
  const rates = sell.fees.map(({ recipient, rate }) => ({ recipient, rate: BigInt(rate) }));
  const item = { contract, tokenId, units: BigInt(sell.amount), buyer, transfer };
  return {
    items: [{ ...item, seller: personOf(seller, event) }],
    currency: currencyOf(sell.paymentToken),
    totalWei,
    side,
    exchange,
    logIndex,
    protocolVersion: "1",
    zones: [],
    fees: paymentsOf(rates, totalWei),
    orderHash: side === "ask" ? sellHash : buyHash,
  };
}

/**
 * Ether can only come from the caller, so that a listing was taken, whichever order is older: a router's may be. Where
 * the pool pays, the older order was made first.
 */
function sideOf(sell: Order, buy: Order): Trade["side"] {
  if (sell.paymentToken === zeroAddress) return "ask";
  return BigInt(sell.listingTime) <= BigInt(buy.listingTime) ? "ask" : "bid";
}

type Rate = { recipient: Address; rate: number };
type ExecutionArgs = {
  transfer: { trader: Address; id: string; amount: string; collection: Address; assetType: number };
  orderHash: Hex;
  price: string;
  makerFee: Rate;
  fees: { protocolFee: Rate; takerFee: Rate };
  orderType: number;
};

function tradesOfV2(transaction: ExchangeTransaction): Fill[] {
  const matcher = createTransferMatcher(transaction.transfers);
  return translateEvents(transaction, (event) => tradeOfV2(event, matcher));
}

/** The events name the order's maker alone: the other party is at the other end of the token's transfer. */
function tradeOfV2(event: PlacedEvent, matcher: TransferMatcher): Trade {
  const { contract: exchange, logIndex } = event;
  const execution = executionOf(event);
  const { contract, tokenId, units, trader, side, orderHash, priceWei } = execution;
  const end = side === "ask" ? "from" : "to";
  const transfer = matcher.before({ contract, tokenId, logIndex, [end]: trader });
  const taken = paymentsOf(execution.takerRates, priceWei);
  const buyer = personOf(transfer.to, event);
  const item = { contract, tokenId, units, buyer, transfer };
  return {
    items: [
      {
        ...item,
        seller: personOf(transfer.from, event),
        ...(transfer.to === blurAddresses.blend ? { isHeldForBuyer: true as const } : {}),
      },
    ],
    currency: zeroAddress,
    side,
    exchange,
    orderHash,
    logIndex,
    totalWei: side === "ask" ? priceWei + totalOf(taken) : priceWei,
    fees: [...paymentsOf(execution.rates, priceWei), ...taken],
    protocolVersion: "2",
    zones: [],
  };
}

function executionOf({ event, args }: PlacedEvent): Execution {
  if (event !== "Execution") return unpack(args as Parameters<typeof unpack>[0]);
  const { transfer, orderHash, price, makerFee, fees, orderType } = args as ExecutionArgs;
  if (transfer.assetType !== 0 && transfer.assetType !== 1)
    throw new UnresolvableEvent("unknown_type");
  return {
    orderHash,
    trader: transfer.trader,
    side: sideOfType(BigInt(orderType)),
    contract: transfer.collection,
    tokenId: transfer.id,
    units: BigInt(transfer.amount),
    priceWei: BigInt(price),
    rates: [makerFee, fees.protocolFee].map(feeRate),
    takerRates: [feeRate(fees.takerFee)],
  };
}

const feeRate = ({ recipient, rate }: Rate): FeeRate => ({ recipient, rate: BigInt(rate) });

/**
 * A loan is closed by a sale of its collateral, or opened by a purchase on credit: the lending protocol sells and buys
 * for the borrower, who sent the transaction.
 */
function personOf(party: Address, { sender }: PlacedEvent): Address {
  return party === blurAddresses.blend && sender !== null ? sender : party;
}

/** The pool's coin is ether. */
function currencyOf(paymentToken: Address): Address {
  return paymentToken === blurAddresses.pool
    ? "0x0000000000000000000000000000000000000000"
    : paymentToken;
}

/** What an event of the second exchange says of a fill. */
type Execution = {
  readonly orderHash: Hex;
  /** Who made the order. */
  readonly trader: Address;
  readonly side: Trade["side"];
  readonly contract: Address;
  readonly tokenId: string;
  readonly units: bigint;
  /** Of all units. */
  readonly priceWei: bigint;
  /** Shares of the price that the seller does not get. */
  readonly rates: readonly FeeRate[];
  /** The taker's fee: on top of a listing's price, part of a bid's. */
  readonly takerRates: readonly FeeRate[];
};

/** Bits of a packed word, counted from the lowest. */
function bits(word: bigint, from: number, count: number): bigint {
  return (word >> BigInt(from)) & ((1n << BigInt(count)) - 1n);
}

const addressIn = (word: bigint): Address => numberToHex(bits(word, 0, 160), { size: 20 });

/** Side of an order by its type. */
function sideOfType(type: bigint): Trade["side"] {
  if (type === 0n) return "ask";
  if (type === 1n) return "bid";
  throw new UnresolvableEvent("unknown_type");
}

type Packed = {
  orderHash: Hex;
  tokenIdListingIndexTrader: string;
  collectionPriceSide: string;
  takerFeeRecipientRate?: string;
  makerFeeRecipientRate?: string;
};

/**
 * Most significant first: token id (88 bits), listing index (8), trader (160); order type (8), price (88), collection
 * (160); of a fee its rate (96) and recipient (160). Always one unit.
 */
function unpack(args: Packed): Execution {
  const token = BigInt(args.tokenIdListingIndexTrader);
  const price = BigInt(args.collectionPriceSide);
  return {
    orderHash: args.orderHash,
    trader: addressIn(token),
    side: sideOfType(bits(price, 248, 8)),
    contract: addressIn(price),
    tokenId: `${bits(token, 168, 88)}`,
    units: 1n,
    priceWei: bits(price, 160, 88),
    rates: rateIn(args.makerFeeRecipientRate),
    takerRates: rateIn(args.takerFeeRecipientRate),
  };
}

function rateIn(word: string | undefined): FeeRate[] {
  if (word === undefined) return [];
  const value = BigInt(word);
  return [{ recipient: addressIn(value), rate: bits(value, 160, 96) }];
}

/** Events that announce no trade. */
const cancels = ["OrderCancelled", "NonceIncremented"];

export const blur: Exchange = {
  protocol: "blur",
  marketplace: "blur",
  sources: [
    sourceOf("blur", "Blur", blurV1Events, tradesIn(blurV1Events)),
    sourceOf("blur", "BlurV2", blurV2Events, tradesIn(blurV2Events)),
  ],
  tradesOf: (transaction) => [
    ...tradesOfV1(ofContract(transaction, blurAddresses.v1)),
    ...tradesOfV2(ofContract(transaction, blurAddresses.v2)),
  ],
  selectSimpleSales: selectSimpleBlurSales,
};

export const blend: Exchange = {
  protocol: "blend",
  marketplace: "blur",
  sources: [sourceOf("blend", "Blend", blendEvents, tradesIn(blendEvents))],
  tradesOf: tradesOfBlend,
};

function tradesIn(events: readonly AbiEvent[]): string[] {
  return events.map(({ name }) => name).filter((name) => !cancels.includes(name));
}

function ofContract(
  transaction: ExchangeTransaction,
  address: ExchangeTransaction["facts"][number]["contract"],
): ExchangeTransaction {
  const facts = transaction.facts.filter(({ contract }) => contract === address);
  return { ...transaction, facts };
}
