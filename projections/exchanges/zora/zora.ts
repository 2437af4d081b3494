import { type Address, zeroAddress } from "viem";
import { zoraAsksEvents, zoraAuctionEvents } from "#abis/zora.ts";
import {
  type Exchange,
  type ExchangeTransaction,
  type FeePayment,
  type Fill,
  type PlacedEvent,
  sourceOf,
  type Trade,
  translateEvents,
} from "../model/exchange.ts";
import { createTransferMatcher, type TransferMatcher } from "../model/payments.ts";

type AskFilled = {
  tokenContract: Address;
  tokenId: string;
  buyer: Address;
  finder: Address;
  ask: { seller: Address; askCurrency: Address; findersFeeBps: number; askPrice: string };
};
type RoyaltyPayout = {
  tokenContract: Address;
  tokenId: string;
  recipient: Address;
  amount: string;
};
type AuctionEnded = {
  tokenContract: Address;
  tokenId: string;
  tokenOwner: Address;
  curator: Address;
  winner: Address;
  amount: string;
  curatorFee: string;
  auctionCurrency: Address;
};

/** Royalties of an ask are paid, with an event each, before it is filled. */
function tradesOf(transaction: ExchangeTransaction): Fill[] {
  const transfers = createTransferMatcher(transaction.transfers);
  let royalties: RoyaltyPayout[] = [];
  return translateEvents(transaction, (event) => {
    if (event.event === "RoyaltyPayout") royalties.push(event.args as RoyaltyPayout);
    if (event.event === "AuctionEnded") return auction(event, transfers);
    if (event.event !== "AskFilled") return null;
    const filled = event.args as AskFilled;
    const own = royalties.filter(({ tokenContract, tokenId }) => {
      return tokenContract === filled.tokenContract && tokenId === filled.tokenId;
    });
    royalties = [];
    return ask(event, filled, own);
  });
}

/** The finder's fee is a share of what remains after royalties. */
function ask(event: PlacedEvent, filled: AskFilled, royalties: readonly RoyaltyPayout[]): Trade {
  const { tokenContract, tokenId, buyer, finder } = filled;
  const { seller, askCurrency, findersFeeBps, askPrice } = filled.ask;
  const fees: FeePayment[] = royalties.map(({ recipient, amount }) => {
    return { recipient, wei: BigInt(amount) };
  });
  const rest = fees.reduce((wei, fee) => wei - fee.wei, BigInt(askPrice));
  const finderWei = finder === zeroAddress ? 0n : (rest * BigInt(findersFeeBps)) / 10_000n;
  return {
    ...common(event, [...fees, { recipient: finder, wei: finderWei }]),
    items: [{ contract: tokenContract, tokenId, units: 1n, seller, buyer }],
    currency: askCurrency,
    totalWei: BigInt(askPrice),
    side: "ask",
    protocolVersion: "3",
  };
}

/** The winner pays the curator on top of the amount, and gets the token from the auction house. */
function auction(event: PlacedEvent, transfers: TransferMatcher): Trade {
  const ended = event.args as AuctionEnded;
  const { tokenContract, tokenId, tokenOwner, winner, curator, curatorFee } = ended;
  const token = { contract: tokenContract, tokenId };
  const transfer = transfers.before({ ...token, to: winner, logIndex: event.logIndex });
  return {
    ...common(event, [{ recipient: curator, wei: BigInt(curatorFee) }]),
    items: [{ ...token, units: 1n, seller: tokenOwner, buyer: winner, transfer }],
    currency: ended.auctionCurrency,
    totalWei: BigInt(ended.amount) + BigInt(curatorFee),
    side: "bid",
    protocolVersion: "2",
  };
}

function common({ contract, logIndex }: PlacedEvent, fees: readonly FeePayment[]) {
  return {
    exchange: contract,
    fees: fees.filter(({ wei }) => wei > 0n),
    logIndex,
    orderHash: null,
    zones: [],
  };
}

/** Asks of the third version, and the auction house. */
export const zora: Exchange = {
  protocol: "zora",
  marketplace: "zora",
  sources: [
    sourceOf("zora", "ZoraAsks", zoraAsksEvents, ["AskFilled"]),
    sourceOf("zora", "ZoraAuctions", zoraAuctionEvents, ["AuctionEnded"]),
  ],
  tradesOf,
};
