import type { Address, Hex } from "viem";
import type { ExchangeTransaction } from "../model/exchange.ts";
import type { FeePayment, Fill, Trade, TradedItem } from "../model/trade.ts";
import { type EmittedEvent, translateEvents } from "../model/translate-events.ts";
import { createV1Translator } from "./v1.ts";

/** Trades of both versions, in log order. */
export function tradesOf(transaction: ExchangeTransaction): Fill[] {
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

function translateV2(event: EmittedEvent): Trade | null {
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
  { contract, logIndex }: EmittedEvent,
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
