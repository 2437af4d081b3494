import type { Address } from "viem";
import type { Trade } from "../model/trade.ts";
import type { EmittedEvent } from "../model/translate-events.ts";
import { UnresolvableEvent } from "../model/unresolved-event.ts";

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
export function tradesOfV1(event: EmittedEvent): Trade[] {
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

function fillsOf({ event, args }: EmittedEvent): Single[] {
  if (event === "BuySingleListing") return [args as Single];
  const { unsuccessfulFills, sellers, tokenIds, amounts, salePrices, ...common } = args as Sweep;
  return unsuccessfulFills.flatMap((isUnsuccessful, index) => {
    const [seller, tokenId, salePrice] = [sellers[index], tokenIds[index], salePrices[index]];
    const amount = amounts === undefined ? "1" : amounts[index];
    if (!seller || !tokenId || !salePrice || !amount) throw new UnresolvableEvent("undecodable");
    return isUnsuccessful ? [] : [{ ...common, seller, tokenId, amount, salePrice }];
  });
}
