import { type Address, decodeAbiParameters, type Hex } from "viem";
import { x2y2Events } from "#abis/x2y2.ts";
import {
  type Exchange,
  type ExchangeTransaction,
  type FeePayment,
  type Fill,
  type PlacedEvent,
  sourceOf,
  type Trade,
  type TradedItem,
  translateEvents,
  UnresolvableEvent,
} from "../model/exchange.ts";
import { createTransferMatcher } from "../model/payments.ts";

/** Arguments of `EvInventory` that a sale is made of. */
type Inventory = {
  itemHash: Hex;
  maker: Address;
  taker: Address;
  delegateType: string;
  currency: Address;
  item: { data: Hex };
  detail: { op: number; price: string; fees: { percentage: string; to: Address }[] };
};

/** What happened to an item. Offers, bids in auctions and refunds, the other numbers, sell nothing. */
const SELL = 1;
const BUY = 2;
const END_AUCTION = 5;

/** Values of `delegateType`. */
const ERC721 = "1";
const ERC1155 = "2";

/** Of the fees' percentages. */
const MILLION = 1_000_000n;

type Token = { contract: Address; tokenId: string; units: bigint };

/** An `EvInventory` is the whole of a trade; only the winner of an auction is who the token, until then held, is given to. */
function tradesOf(transaction: ExchangeTransaction): Fill[] {
  const transfers = createTransferMatcher(transaction.transfers);
  return translateEvents(transaction, (event) => {
    if (event.event !== "EvInventory") return null;
    const inventory = event.args as Inventory;
    const { maker, taker, delegateType, item } = inventory;
    const tokens = tokensOf(delegateType, item.data);
    switch (inventory.detail.op) {
      case SELL:
        return trade(event, inventory, "ask", between(tokens, maker, taker));
      case BUY:
        return trade(event, inventory, "bid", between(tokens, taker, maker));
      case END_AUCTION: {
        const { logIndex } = event;
        const items = tokens.map((token) => {
          const transfer = transfers.before({ ...token, logIndex });
          return { ...token, seller: maker, buyer: transfer.to, transfer };
        });
        return trade(event, inventory, "bid", items);
      }
      default:
        return null;
    }
  });
}

function between(tokens: readonly Token[], seller: Address, buyer: Address): TradedItem[] {
  return tokens.map((token) => ({ ...token, seller, buyer }));
}

function trade(
  { contract, logIndex }: PlacedEvent,
  { itemHash, currency, detail }: Inventory,
  side: Trade["side"],
  items: readonly TradedItem[],
): Trade {
  const totalWei = BigInt(detail.price);
  const fees = detail.fees.map(({ percentage, to }): FeePayment => {
    return { recipient: to, wei: (totalWei * BigInt(percentage)) / MILLION };
  });
  return {
    items,
    currency,
    totalWei,
    side,
    logIndex,
    fees: fees.filter(({ wei }) => wei > 0n),
    exchange: contract,
    protocolVersion: "1",
    orderHash: itemHash,
    zones: [],
  };
}

const pairs = [
  {
    type: "tuple[]",
    components: [
      { name: "contract", type: "address" },
      { name: "tokenId", type: "uint256" },
    ],
  },
] as const;
const triples = [
  {
    type: "tuple[]",
    components: [...pairs[0].components, { name: "units", type: "uint256" }],
  },
] as const;

/** The tokens of an item. Data that a collection offer masks is the replaced one in the event. */
function tokensOf(delegateType: string, data: Hex): Token[] {
  const tokens = decodeTokens(delegateType, data);
  if (tokens.length === 0) throw new UnresolvableEvent("undecodable");
  return tokens.map(({ contract, tokenId, units }) => {
    return { contract: contract.toLowerCase() as Address, tokenId: tokenId.toString(), units };
  });
}

function decodeTokens(delegateType: string, data: Hex) {
  switch (delegateType) {
    case ERC721:
      return decodeAbiParameters(pairs, data)[0].map((token) => ({ ...token, units: 1n }));
    case ERC1155:
      return decodeAbiParameters(triples, data)[0];
    default:
      throw new UnresolvableEvent("unknown_type");
  }
}

export const x2y2: Exchange = {
  protocol: "x2y2",
  marketplace: "x2y2",
  sources: [sourceOf("x2y2", "X2Y2", x2y2Events, ["EvInventory"])],
  tradesOf,
};
