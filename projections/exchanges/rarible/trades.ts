import { type Address, type Hex, zeroAddress } from "viem";
import type { TokenTransfer } from "#projections/facts/token-transfer.ts";
import type { ExchangeTransaction } from "../model/exchange.ts";
import { type LogRange, nftTransfers, payments, sumOfAmounts } from "../model/payments.ts";
import type { FeePayment, Fill, Trade } from "../model/trade.ts";
import { type EmittedEvent, translateEvents } from "../model/translate-events.ts";
import { UnresolvableEvent } from "../model/unresolved-event.ts";
import { createAssetTranslator } from "./asset-match.ts";

/** Each source is a form of its own. */
export function tradesOf(transaction: ExchangeTransaction): Fill[] {
  const translateAssets = createAssetTranslator();
  let previous = -1;
  return translateEvents(transaction, (event) => {
    if (event.source === "RaribleV1") return buyTrade(event);
    if (event.source === "RaribleAssets") return translateAssets(event);
    const range = { after: previous, before: event.logIndex };
    previous = event.logIndex;
    return matchTrade(event, transaction.transfers, range);
  });
}

type Buy = {
  sellToken: Address;
  sellTokenId: string;
  /** Units that the order sells, for `buyValue` in all. */
  sellValue: string;
  owner: Address;
  buyToken: Address;
  buyValue: string;
  buyer: Address;
  /** Units sold. */
  amount: string;
};

/** The price is without the buyer's fee, of which no log tells. */
function buyTrade({ args, contract, logIndex }: EmittedEvent): Trade {
  const { sellToken, sellTokenId, sellValue, owner, buyToken, buyValue, buyer, amount } =
    args as Buy;
  const units = BigInt(amount);
  return {
    items: [{ contract: sellToken, tokenId: sellTokenId, units, seller: owner, buyer }],
    currency: buyToken,
    totalWei: (BigInt(buyValue) * units) / BigInt(sellValue),
    fees: [],
    side: "ask",
    exchange: contract,
    protocolVersion: "1",
    orderHash: null,
    logIndex,
    zones: [],
  };
}

type Match = { leftHash: Hex; newLeftFill: string; newRightFill: string };

/**
 * `Match` without parties and assets: the token is the one transferred before it. The left order was made first; what
 * it gives is the right fill.
 */
function matchTrade(
  { args, contract, logIndex }: EmittedEvent,
  transfers: readonly TokenTransfer[],
  range: LogRange,
): Trade {
  const { leftHash, newLeftFill, newRightFill } = args as Match;
  const transfer = nftTransfers(transfers, range).at(-1);
  if (transfer === undefined) throw new UnresolvableEvent("transfer_missing");
  const { contract: nft, tokenId, amount, from: seller, to: buyer } = transfer;
  if ((newLeftFill === amount) === (newRightFill === amount)) {
    throw new UnresolvableEvent("unknown_type");
  }
  const isAsk = newRightFill === amount;
  const wei = BigInt(isAsk ? newLeftFill : newRightFill);
  return {
    items: [{ contract: nft, tokenId, units: BigInt(amount), seller, buyer, transfer }],
    ...paidIn(payments(transfers, { ...range, from: buyer }), seller, wei),
    side: isAsk ? "ask" : "bid",
    exchange: contract,
    protocolVersion: "2",
    orderHash: leftHash,
    logIndex,
    zones: [],
  };
}

/**
 * Of a price in coins the buyer's transfers are all of it. More of them are another matter as well; less may hide a coin
 * that moves without its log.
 */
function paidIn(
  paid: readonly TokenTransfer[],
  seller: Address,
  wei: bigint,
): Pick<Trade, "currency" | "totalWei" | "fees"> {
  const currency = paid.findLast(({ to }) => to === seller)?.contract;
  if (currency === undefined) return { currency: zeroAddress, totalWei: wei, fees: [] };
  const own = paid.filter(({ contract }) => contract === currency);
  const totalWei = sumOfAmounts(own);
  if (totalWei < wei) throw new UnresolvableEvent("currency_unknown");
  if (totalWei > wei + wei / 10n) return { currency, totalWei: wei, fees: [] };
  const fees = own
    .filter(({ to }) => to !== seller)
    .map(({ to, amount }): FeePayment => ({ recipient: to, wei: BigInt(amount) }));
  return { currency, totalWei, fees };
}
