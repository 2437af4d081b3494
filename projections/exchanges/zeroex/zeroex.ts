import { type Address, zeroAddress } from "viem";
import { zeroexNftEvents } from "#abis/zeroex.ts";
import {
  type Exchange,
  type ExchangeTransaction,
  type Fill,
  type PlacedEvent,
  sourceOf,
  type TokenTransfer,
  type Trade,
  translateEvents,
  UnresolvableEvent,
} from "../model/exchange.ts";
import { type LogRange, withFeesOnTop } from "../model/payments.ts";

type Order = { direction: number; maker: Address; taker: Address; erc20Token: Address };
type Erc721Filled = Order & {
  erc20TokenAmount: string;
  erc721Token: Address;
  erc721TokenId: string;
};
type Erc1155Filled = Order & {
  erc20FillAmount: string;
  erc1155Token: Address;
  erc1155TokenId: string;
  erc1155FillAmount: string;
};

const native: Address = "0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee";

/** Values of `direction`. */
const sides: readonly (Trade["side"] | undefined)[] = ["ask", "bid"];

/** The amounts are without fees, which the buyer pays on top. */
function tradesOf(transaction: ExchangeTransaction): Fill[] {
  let previous = -1;
  return translateEvents(transaction, (event) => {
    const token = tokenOf(event);
    if (token === null) return null;
    const range = { after: previous, before: event.logIndex };
    previous = event.logIndex;
    return tradeOf(event, token, transaction.transfers, range);
  });
}

type Token = { contract: Address; tokenId: string; units: bigint; wei: bigint };

function tokenOf({ event, args }: PlacedEvent): Token | null {
  if (event === "ERC721OrderFilled") {
    const { erc721Token, erc721TokenId, erc20TokenAmount } = args as Erc721Filled;
    const wei = BigInt(erc20TokenAmount);
    return { contract: erc721Token, tokenId: erc721TokenId, units: 1n, wei };
  }
  if (event !== "ERC1155OrderFilled") return null;
  const filled = args as Erc1155Filled;
  return {
    contract: filled.erc1155Token,
    tokenId: filled.erc1155TokenId,
    units: BigInt(filled.erc1155FillAmount),
    wei: BigInt(filled.erc20FillAmount),
  };
}

function tradeOf(
  event: PlacedEvent,
  { wei, ...token }: Token,
  transfers: readonly TokenTransfer[],
  range: LogRange,
): Trade {
  const { direction, maker, taker, erc20Token: currency } = event.args as Order;
  const side = sides[direction];
  if (side === undefined) throw new UnresolvableEvent("unknown_type");
  const [seller, buyer] = side === "ask" ? [maker, taker] : [taker, maker];
  return {
    items: [{ ...token, seller, buyer }],
    currency: currency === native ? zeroAddress : currency,
    ...withFeesOnTop(transfers, range, { buyer, seller, currency, wei }),
    side,
    exchange: event.contract,
    protocolVersion: "4",
    orderHash: null,
    logIndex: event.logIndex,
    zones: [],
  };
}

const trades = ["ERC721OrderFilled", "ERC1155OrderFilled"];

/** NFT orders of 0x v4. Its coin swaps are other events. */
export const zeroex: Exchange = {
  protocol: "0x",
  sources: [sourceOf("zeroex", "ZeroExNft", zeroexNftEvents, trades)],
  tradesOf,
};
