import { type Address, type Hex, zeroAddress } from "viem";
import { elementEvents, elementFeeEvents } from "#abis/element.ts";
import {
  type Exchange,
  type ExchangeTransaction,
  type Fill,
  type PlacedEvent,
  sourceOf,
  type TokenTransfer,
  type Trade,
  translateEvents,
} from "../model/exchange.ts";
import { type LogRange, withFeesOnTop } from "../model/payments.ts";

type Filled = {
  orderHash: Hex;
  maker: Address;
  taker: Address;
  erc20Token: Address;
  /** Of an ERC-721. */
  erc20TokenAmount?: string;
  /** Of an ERC-1155. */
  erc20FillAmount?: string;
  token: Address;
  tokenId: string;
  /** Units of an ERC-1155. */
  amount?: string;
  /** In the second form, inside the amount. */
  fees?: { recipient: Address; amount: string }[];
};

const native: Address = "0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee";

/** The amount of the first form is the seller's: the buyer pays fees on top. That of the second is the whole price. */
function tradesOf(transaction: ExchangeTransaction): Fill[] {
  let previous = -1;
  return translateEvents(transaction, (event) => {
    const range = { after: previous, before: event.logIndex };
    previous = event.logIndex;
    return tradeOf(event, transaction.transfers, range);
  });
}

function tradeOf(event: PlacedEvent, transfers: readonly TokenTransfer[], range: LogRange): Trade {
  const filled = event.args as Filled;
  const { maker, taker, erc20Token, erc20TokenAmount, erc20FillAmount, fees } = filled;
  const side = event.event.endsWith("SellOrderFilled") ? "ask" : "bid";
  const [seller, buyer] = side === "ask" ? [maker, taker] : [taker, maker];
  const wei = BigInt(erc20TokenAmount ?? erc20FillAmount ?? 0);
  const paid =
    fees === undefined
      ? withFeesOnTop(transfers, range, { buyer, seller, currency: erc20Token, wei })
      : {
          totalWei: wei,
          fees: fees.map(({ recipient, amount }) => ({ recipient, wei: BigInt(amount) })),
        };
  const units = BigInt(filled.amount ?? 1);
  return {
    items: [{ contract: filled.token, tokenId: filled.tokenId, units, seller, buyer }],
    currency: erc20Token === native ? zeroAddress : erc20Token,
    totalWei: paid.totalWei,
    fees: paid.fees.filter((fee) => fee.wei > 0n),
    side,
    exchange: event.contract,
    protocolVersion: fees === undefined ? "1" : "2",
    orderHash: filled.orderHash,
    logIndex: event.logIndex,
    zones: [],
  };
}

/** One contract, whose events got new arguments. */
export const element: Exchange = {
  protocol: "element",
  marketplace: "element",
  sources: [
    sourceOf("element", "Element", elementEvents),
    sourceOf("element", "ElementFees", elementFeeEvents),
  ],
  tradesOf,
};
