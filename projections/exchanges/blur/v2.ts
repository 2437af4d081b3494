import { type Address, type Hex, zeroAddress } from "viem";
import { blur } from "#abis/blur.ts";
import type { ExchangeTransaction } from "../model/exchange.ts";
import { createTransferMatcher, type TransferMatcher } from "../model/match-transfers.ts";
import { type FeeRate, paymentsOf, totalOf } from "../model/rates.ts";
import type { Fill, Trade } from "../model/trade.ts";
import { type EmittedEvent, translateEvents } from "../model/translate-events.ts";
import { UnresolvableEvent } from "../model/unresolved-event.ts";
import { personOf } from "./parties.ts";
import { type Execution, sideOfType, unpack } from "./unpack.ts";

type Rate = { recipient: Address; rate: number };
type ExecutionArgs = {
  transfer: { trader: Address; id: string; amount: string; collection: Address; assetType: number };
  orderHash: Hex;
  price: string;
  makerFee: Rate;
  fees: { protocolFee: Rate; takerFee: Rate };
  orderType: number;
};

export function tradesOfV2(transaction: ExchangeTransaction): Fill[] {
  const matcher = createTransferMatcher(transaction.transfers);
  return translateEvents(transaction, (event) => tradeOf(event, matcher));
}

/** The events name the order's maker alone: the other party is at the other end of the token's transfer. */
function tradeOf(event: EmittedEvent, matcher: TransferMatcher): Trade {
  const { contract: exchange, logIndex } = event;
  const execution = executionOf(event);
  const { contract, tokenId, units, trader, side, orderHash, priceWei } = execution;
  const end = side === "ask" ? "from" : "to";
  const transfer = matcher.before({ contract, tokenId, logIndex, [end]: trader });
  const taken = paymentsOf(execution.takerRates, priceWei);
  const buyer = personOf(transfer.to, event);
  const item = { contract, tokenId, units, buyer, transfer };
  return {
    items: [
      {
        ...item,
        seller: personOf(transfer.from, event),
        ...(transfer.to === blur.blend ? { isHeldForBuyer: true as const } : {}),
      },
    ],
    currency: zeroAddress,
    side,
    exchange,
    orderHash,
    logIndex,
    totalWei: side === "ask" ? priceWei + totalOf(taken) : priceWei,
    fees: [...paymentsOf(execution.rates, priceWei), ...taken],
    protocolVersion: "2",
    zones: [],
  };
}

function executionOf({ event, args }: EmittedEvent): Execution {
  if (event !== "Execution") return unpack(args as Parameters<typeof unpack>[0]);
  const { transfer, orderHash, price, makerFee, fees, orderType } = args as ExecutionArgs;
  if (transfer.assetType !== 0 && transfer.assetType !== 1)
    throw new UnresolvableEvent("unknown_type");
  return {
    orderHash,
    trader: transfer.trader,
    side: sideOfType(BigInt(orderType)),
    contract: transfer.collection,
    tokenId: transfer.id,
    units: BigInt(transfer.amount),
    priceWei: BigInt(price),
    rates: [makerFee, fees.protocolFee].map(feeRate),
    takerRates: [feeRate(fees.takerFee)],
  };
}

const feeRate = ({ recipient, rate }: Rate): FeeRate => ({ recipient, rate: BigInt(rate) });
