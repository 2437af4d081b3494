import { type Address, zeroAddress } from "viem";
import { foundationEvents } from "#abis/foundation.ts";
import {
  type Exchange,
  type ExchangeTransaction,
  type FeePayment,
  type Fill,
  type PlacedEvent,
  sourceOf,
  type TokenTransfer,
  type Trade,
  type TradedItem,
  translateEvents,
  UnresolvableEvent,
} from "../model/exchange.ts";
import { createTransferMatcher, nftTransfers, type TransferMatcher } from "../model/payments.ts";

/** Who receives the protocol's fee. */
const treasury: Address = "0x67df244584b67e8c51b10ad610aaffa9a402fdb6";

type Amounts = { protocolFee: string; creatorFee: string; sellerRev: string };
type Sold = Amounts & { nftContract: Address; tokenId: string; seller: Address; buyer: Address };
type AuctionEnded = Amounts & { seller: Address; bidder: Address };

/** Sides of the events that announce a trade. An auction is the bid that the seller takes. */
const sides: Readonly<Record<string, Trade["side"]>> = {
  BuyPriceAccepted: "ask",
  PrivateSaleFinalized: "ask",
  OfferAccepted: "bid",
  ReserveAuctionFinalized: "bid",
};

function tradesOf(transaction: ExchangeTransaction): Fill[] {
  const transfers = createTransferMatcher(transaction.transfers);
  return translateEvents(transaction, (event) => {
    const side = sides[event.event];
    if (side === undefined) return null;
    const item =
      event.event === "ReserveAuctionFinalized"
        ? auctioned(event, transaction.transfers)
        : sold(event.args as Sold, event.logIndex, transfers);
    return tradeOf(event, side, item);
  });
}

/** The market may hold the token for the seller. */
function sold(
  { nftContract: contract, tokenId, seller, buyer }: Sold,
  logIndex: number,
  transfers: TransferMatcher,
): TradedItem {
  const transfer = transfers.before({ contract, tokenId, to: buyer, logIndex });
  return { contract, tokenId, units: 1n, seller, buyer, transfer };
}

/** An auction's token is named when the auction is opened. The market holds it and hands it over right before the event. */
function auctioned(
  { args, contract, logIndex }: PlacedEvent,
  transfers: readonly TokenTransfer[],
): TradedItem {
  const { seller, bidder } = args as AuctionEnded;
  const transfer = nftTransfers(transfers, { after: -1, before: logIndex }).findLast(
    ({ from, to }) => from === contract && to === bidder,
  );
  if (transfer === undefined) throw new UnresolvableEvent("transfer_missing");
  const { contract: nft, tokenId } = transfer;
  return { contract: nft, tokenId, units: 1n, seller, buyer: bidder, transfer };
}

/** Of a first sale the creator's part is the seller's. Who the creator is no event says. */
function tradeOf(
  { contract, logIndex, args }: PlacedEvent,
  side: Trade["side"],
  item: TradedItem,
): Trade {
  const { protocolFee, creatorFee, sellerRev } = args as Amounts;
  const isFirstSale = BigInt(sellerRev) === 0n;
  const fees: FeePayment[] = [
    { recipient: treasury, wei: BigInt(protocolFee) },
    { recipient: zeroAddress, wei: isFirstSale ? 0n : BigInt(creatorFee) },
  ];
  return {
    items: [item],
    currency: zeroAddress,
    totalWei: BigInt(protocolFee) + BigInt(creatorFee) + BigInt(sellerRev),
    fees: fees.filter(({ wei }) => wei > 0n),
    side,
    logIndex,
    exchange: contract,
    protocolVersion: "1",
    orderHash: null,
    zones: [],
  };
}

const trades = [
  ...["BuyPriceAccepted", "OfferAccepted", "PrivateSaleFinalized"],
  "ReserveAuctionFinalized",
];

export const foundation: Exchange = {
  protocol: "foundation",
  marketplace: "foundation",
  sources: [sourceOf("foundation", "Foundation", foundationEvents, trades)],
  tradesOf,
};
