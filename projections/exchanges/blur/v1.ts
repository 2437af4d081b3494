import { type Address, type Hex, zeroAddress } from "viem";
import type { ExchangeTransaction } from "../model/exchange.ts";
import { createTransferMatcher, type TransferMatcher } from "../model/match-transfers.ts";
import { paymentsOf } from "../model/rates.ts";
import type { Fill, Trade } from "../model/trade.ts";
import { type EmittedEvent, translateEvents } from "../model/translate-events.ts";
import { currencyOf, personOf } from "./parties.ts";

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

export function tradesOfV1(transaction: ExchangeTransaction): Fill[] {
  const matcher = createTransferMatcher(transaction.transfers);
  return translateEvents(transaction, (event) =>
    event.event === "OrdersMatched" ? tradeOf(event, matcher) : null,
  );
}

function tradeOf(event: EmittedEvent, matcher: TransferMatcher): Trade {
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
