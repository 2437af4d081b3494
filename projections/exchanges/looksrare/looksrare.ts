import type { Address, Hex } from "viem";
import { looksrareV1Events, looksrareV2Events } from "#abis/looksrare.ts";
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
} from "../model/exchange.ts";

/** Trades of both versions, in log order. */
function tradesOf(transaction: ExchangeTransaction): Fill[] {
  const translateV1 = createV1Translator(transaction.transfers);
  return translateEvents(transaction, (event) =>
    event.source === "LooksRareV1" ? translateV1(event) : translateV2(event),
  );
}

/** Who receives the protocol's fee of the second version. */
const protocolFees: Address = "0x1838de7d4e4e42c8eb7b204a91e28e9fad14f536";

type Taken = {
  nonceInvalidationParameters: { orderHash: Hex };
  currency: Address;
  collection: Address;
  itemIds: string[];
  amounts: string[];
  /** The seller and the creator. */
  feeRecipients: [Address, Address];
  /** What the seller, the creator and the protocol get; their sum is the price. */
  feeAmounts: [string, string, string];
};

/** `TakerAsk`: the taker sells. `TakerBid`: the taker buys, for `bidRecipient`. */
type TakerAsk = Taken & { askUser: Address; bidUser: Address };
type TakerBid = Taken & { bidUser: Address; bidRecipient: Address };

function translateV2(event: PlacedEvent): Trade | null {
  if (event.event === "TakerAsk") {
    const { askUser, bidUser, ...taken } = event.args as TakerAsk;
    return tradeV2(event, taken, "bid", { seller: askUser, buyer: bidUser });
  }
  if (event.event === "TakerBid") {
    const { bidUser, bidRecipient, ...taken } = event.args as TakerBid;
    const [seller] = taken.feeRecipients;
    const via = bidUser === bidRecipient ? {} : { via: bidUser };
    return tradeV2(event, taken, "ask", { seller, buyer: bidRecipient, ...via });
  }
  return null;
}

function tradeV2(
  { contract, logIndex }: PlacedEvent,
  taken: Taken,
  side: Trade["side"],
  parties: Pick<TradedItem, "seller" | "buyer" | "via">,
): Trade {
  const [netWei, creatorWei, protocolWei] = taken.feeAmounts.map(BigInt) as [
    bigint,
    bigint,
    bigint,
  ];
  const fees: FeePayment[] = [
    { recipient: taken.feeRecipients[1], wei: creatorWei },
    { recipient: protocolFees, wei: protocolWei },
  ];
  return {
    items: taken.itemIds.map((tokenId, index) => ({
      contract: taken.collection,
      tokenId,
      units: BigInt(taken.amounts[index] ?? 1),
      ...parties,
    })),
    side,
    logIndex,
    currency: taken.currency,
    totalWei: netWei + creatorWei + protocolWei,
    fees: fees.filter(({ wei }) => wei > 0n),
    exchange: contract,
    protocolVersion: "2",
    orderHash: taken.nonceInvalidationParameters.orderHash,
    zones: [],
  };
}

/** Who receives the protocol's fee of the first version. */
const protocolFeesV1: Address = "0x5924a28caaf1cc016617874a2f0c3710d881f3c1";

/** The protocol's fee by strategy, in hundredths of a percent. */
const strategyFees: ReadonlyMap<Address, bigint> = new Map([
  ["0x56244bb70cbd3ea9dc8007399f61dfc065190031", 200n],
  ["0x86f909f70813cdb1bc733f4d97dc6b03b8e7e8f3", 200n],
  ["0x579af6fd30bf83a5ac0d636bc619f98dbdeb930c", 150n],
  ["0x09f93623019049c76209c26517acc2af9d49c69b", 150n],
]);

type TakenV1 = {
  orderHash: Hex;
  taker: Address;
  maker: Address;
  strategy: Address;
  currency: Address;
  collection: Address;
  tokenId: string;
  amount: string;
  price: string;
};
type Royalty = { collection: Address; tokenId: string; royaltyRecipient: Address; amount: string };

/**
 * Translates the events of a transaction in log order. `TakerAsk`: the taker sells; `TakerBid`: the taker buys. The
 * royalty is an event of its own before the trade; the protocol's fee is a transfer or, where transfers are unknown,
 * the strategy's.
 */
function createV1Translator(
  transfers: readonly TokenTransfer[],
): (event: PlacedEvent) => Trade | null {
  let royalties: Royalty[] = [];
  let previousTrade = -1;
  return (event) => {
    if (event.event === "RoyaltyPayment") royalties.push(event.args as Royalty);
    if (event.event !== "TakerAsk" && event.event !== "TakerBid") return null;
    const taken = event.args as TakenV1;
    const fees = [
      ...royalties.filter((royalty) => isOf(royalty, taken)).map(royaltyFee),
      {
        recipient: protocolFeesV1,
        wei: protocolWei(taken, transfers, [previousTrade, event.logIndex]),
      },
    ];
    royalties = [];
    previousTrade = event.logIndex;
    return tradeOf(event, taken, fees);
  };
}

const isOf = (royalty: Royalty, { collection, tokenId }: TakenV1) =>
  royalty.collection === collection && royalty.tokenId === tokenId;

const royaltyFee = ({ royaltyRecipient, amount }: Royalty): FeePayment => {
  return { recipient: royaltyRecipient, wei: BigInt(amount) };
};

function protocolWei(
  { currency, strategy, price }: TakenV1,
  transfers: readonly TokenTransfer[],
  [after, before]: readonly [number, number],
): bigint {
  if (transfers.length === 0) return (BigInt(price) * (strategyFees.get(strategy) ?? 0n)) / 10_000n;
  return transfers
    .filter(({ logIndex }) => logIndex > after && logIndex < before)
    .filter(({ contract, to }) => contract === currency && to === protocolFeesV1)
    .reduce((sum, { amount }) => sum + BigInt(amount), 0n);
}

function tradeOf(
  { event, contract, logIndex }: PlacedEvent,
  { taker, maker, currency, collection, tokenId, amount, price, orderHash }: TakenV1,
  fees: readonly FeePayment[],
): Trade {
  const takerSells = event === "TakerAsk";
  const [seller, buyer] = takerSells ? [taker, maker] : [maker, taker];
  return {
    items: [{ contract: collection, tokenId, units: BigInt(amount), seller, buyer }],
    currency,
    orderHash,
    logIndex,
    totalWei: BigInt(price),
    fees: fees.filter(({ wei }) => wei > 0n),
    side: takerSells ? "bid" : "ask",
    exchange: contract,
    protocolVersion: "1",
    zones: [],
  };
}

const trades = ["TakerAsk", "TakerBid"];

/** Two contracts with events of the same names. */
export const looksrare: Exchange = {
  protocol: "looksrare",
  marketplace: "looksrare",
  sources: [
    sourceOf("looksrare", "LooksRareV1", looksrareV1Events, trades),
    sourceOf("looksrare", "LooksRareV2", looksrareV2Events, trades),
  ],
  tradesOf,
};
