import { type Address, zeroAddress } from "viem";
import type { TokenTransfer } from "#projections/facts/token-transfer.ts";
import type { ExchangeTransaction } from "../model/exchange.ts";
import type { Fill, Trade } from "../model/trade.ts";
import { type EmittedEvent, translateEvents } from "../model/translate-events.ts";
import { UnresolvableEvent } from "../model/unresolved-event.ts";

type Bought = { punkIndex: string; value: string; fromAddress: Address; toAddress: Address };

/** The market takes no fee. */
export function tradesOf(transaction: ExchangeTransaction): Fill[] {
  return translateEvents(transaction, (event) =>
    event.event === "PunkBought" ? tradeOf(event, transaction.transfers) : null,
  );
}

function tradeOf(event: EmittedEvent, transfers: readonly TokenTransfer[]): Trade {
  const { contract, logIndex, args } = event;
  const { punkIndex: tokenId, fromAddress: seller, toAddress } = args as Bought;
  const transfer = transfers.find((one) => one.logIndex === logIndex && one.tokenId === tokenId);
  if (transfer === undefined) throw new UnresolvableEvent("transfer_missing");
  const { to: buyer } = transfer;
  return {
    items: [{ contract, tokenId, units: 1n, seller, buyer, transfer }],
    currency: zeroAddress,
    ...(toAddress === zeroAddress ? bidTaken(event, buyer) : offerTaken(event)),
    fees: [],
    exchange: contract,
    protocolVersion: "1",
    orderHash: null,
    logIndex,
    zones: [],
  };
}

function offerTaken({ args }: EmittedEvent) {
  return { side: "ask" as const, totalWei: BigInt((args as Bought).value) };
}

/** The contract deletes the bid before it emits the event, which says zero. */
function bidTaken({ bid }: EmittedEvent, buyer: Address) {
  if (bid === undefined) throw new UnresolvableEvent("price_unknown");
  if (bid.bidder !== buyer) throw new UnresolvableEvent("transfer_mismatch");
  return { side: "bid" as const, totalWei: BigInt(bid.wei) };
}
