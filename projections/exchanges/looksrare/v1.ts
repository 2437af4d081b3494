import type { Address, Hex } from "viem";
import type { TokenTransfer } from "#projections/facts/token-transfer.ts";
import type { FeePayment, Trade } from "../model/trade.ts";
import type { EmittedEvent } from "../model/translate-events.ts";

/** Who receives the protocol's fee of the first version. */
const protocolFees: Address = "0x5924a28caaf1cc016617874a2f0c3710d881f3c1";

/** The protocol's fee by strategy, in hundredths of a percent. */
const strategyFees: ReadonlyMap<Address, bigint> = new Map([
  ["0x56244bb70cbd3ea9dc8007399f61dfc065190031", 200n],
  ["0x86f909f70813cdb1bc733f4d97dc6b03b8e7e8f3", 200n],
  ["0x579af6fd30bf83a5ac0d636bc619f98dbdeb930c", 150n],
  ["0x09f93623019049c76209c26517acc2af9d49c69b", 150n],
]);

type Taken = {
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
export function createV1Translator(
  transfers: readonly TokenTransfer[],
): (event: EmittedEvent) => Trade | null {
  let royalties: Royalty[] = [];
  let previousTrade = -1;
  return (event) => {
    if (event.event === "RoyaltyPayment") royalties.push(event.args as Royalty);
    if (event.event !== "TakerAsk" && event.event !== "TakerBid") return null;
    const taken = event.args as Taken;
    const fees = [
      ...royalties.filter((royalty) => isOf(royalty, taken)).map(royaltyFee),
      {
        recipient: protocolFees,
        wei: protocolWei(taken, transfers, [previousTrade, event.logIndex]),
      },
    ];
    royalties = [];
    previousTrade = event.logIndex;
    return tradeOf(event, taken, fees);
  };
}

const isOf = (royalty: Royalty, { collection, tokenId }: Taken) =>
  royalty.collection === collection && royalty.tokenId === tokenId;

const royaltyFee = ({ royaltyRecipient, amount }: Royalty): FeePayment => {
  return { recipient: royaltyRecipient, wei: BigInt(amount) };
};

function protocolWei(
  { currency, strategy, price }: Taken,
  transfers: readonly TokenTransfer[],
  [after, before]: readonly [number, number],
): bigint {
  if (transfers.length === 0) return (BigInt(price) * (strategyFees.get(strategy) ?? 0n)) / 10_000n;
  return transfers
    .filter(({ logIndex }) => logIndex > after && logIndex < before)
    .filter(({ contract, to }) => contract === currency && to === protocolFees)
    .reduce((sum, { amount }) => sum + BigInt(amount), 0n);
}

function tradeOf(
  { event, contract, logIndex }: EmittedEvent,
  { taker, maker, currency, collection, tokenId, amount, price, orderHash }: Taken,
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
