import { type Address, type Hex, zeroAddress, zeroHash } from "viem";
import { wyvernEvents } from "#abis/wyvern.ts";
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
import { type LogRange, nftTransfers, payments, sumOfAmounts } from "../model/payments.ts";

type Matched = { buyHash: Hex; sellHash: Hex; maker: Address; taker: Address; price: string };
type NftTransfer = ReturnType<typeof nftTransfers>[number];

/**
 * `OrdersMatched` says neither the token nor the currency: both are transferred right before it. Called directly, the
 * exchange matches one pair of orders, and all that moves between the same two is a bundle.
 */
function tradesOf(transaction: ExchangeTransaction): Fill[] {
  let previous = -1;
  return translateEvents(transaction, (event) => {
    if (event.event !== "OrdersMatched") return null;
    const range = { after: previous, before: event.logIndex };
    previous = event.logIndex;
    return tradeOf(event, transaction.transfers, range);
  });
}

function tradeOf(event: PlacedEvent, transfers: readonly TokenTransfer[], range: LogRange): Trade {
  const matched = event.args as Matched;
  const nfts = nftTransfers(transfers, range);
  const last = nfts.at(-1);
  if (last === undefined) throw new UnresolvableEvent("transfer_missing");
  const side = sideOf(matched, last);
  const { maker, taker } = matched;
  const [seller, buyer] = side === "ask" ? [maker, taker] : [taker, maker];
  const totalWei = BigInt(matched.price);
  const payment = paymentOf(payments(transfers, { ...range, from: buyer, to: seller }), totalWei);
  return {
    items: delivered(event, nfts, last).map((transfer) => ({
      seller,
      buyer,
      transfer,
      contract: transfer.contract,
      tokenId: transfer.tokenId,
      units: BigInt(transfer.amount),
    })),
    currency: payment?.contract ?? zeroAddress,
    totalWei,
    side,
    fees: payment === undefined ? [] : feesOf(payment, payments(transfers, range)),
    exchange: event.contract,
    protocolVersion: event.source === "WyvernV1" ? "1" : "2",
    orderHash: side === "ask" ? matched.sellHash : matched.buyHash,
    logIndex: event.logIndex,
    zones: [],
  };
}

/** The hash of the caller's own order is zero. With both, the token's way tells which order its maker's is. */
function sideOf({ buyHash, sellHash, maker }: Matched, { to }: NftTransfer): Trade["side"] {
  if (sellHash === zeroHash) return "bid";
  if (buyHash === zeroHash) return "ask";
  return to === maker ? "bid" : "ask";
}

function delivered(
  { contract, target }: PlacedEvent,
  nfts: readonly NftTransfer[],
  last: NftTransfer,
): readonly NftTransfer[] {
  if (target !== contract) return [last];
  return nfts.filter(({ from, to }) => from === last.from && to === last.to);
}

/**
 * The payment of a price in coins; undefined: it was paid in ether, and no coin moved between the two. Coins that are not
 * the price may be of one whose logs say something else than it moves, which would pass for ether.
 */
function paymentOf(paid: readonly TokenTransfer[], wei: bigint): TokenTransfer | undefined {
  const payment = paid.find(({ amount }) => BigInt(amount) === wei);
  if (payment === undefined && sumOfAmounts(paid) > 0n)
    throw new UnresolvableEvent("currency_unknown");
  return payment;
}

/** Of a price in coins the seller pays the fee, right after he is paid. How ether is divided no log tells. */
function feesOf(payment: TokenTransfer, paid: readonly TokenTransfer[]): FeePayment[] {
  return paid
    .filter(({ contract, from, to, logIndex }) => {
      const isOwn = contract === payment.contract && logIndex > payment.logIndex;
      return isOwn && from === payment.to && to !== payment.from;
    })
    .map(({ to, amount }) => ({ recipient: to, wei: BigInt(amount) }));
}

const [v1Events, nonceEvents] = [
  wyvernEvents.filter(({ name }) => name !== "NonceIncremented"),
  wyvernEvents,
];

/** OpenSea's exchange before Seaport. */
export const wyvern: Exchange = {
  protocol: "wyvern",
  marketplace: "opensea",
  sources: [
    sourceOf("wyvern", "WyvernV1", v1Events, ["OrdersMatched"]),
    sourceOf("wyvern", "WyvernV2", nonceEvents, ["OrdersMatched"]),
  ],
  tradesOf,
};
