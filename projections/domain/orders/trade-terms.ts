import type { Address } from "viem";

/** What an order trades, derived from its components when it is accepted. Wei are per unit. */
export type TradeTerms = {
  side: "ask" | "bid";
  contract: Address;
  standard: "erc721" | "erc1155";
  /** Null for a bid on every token of the collection. */
  tokenId: bigint | null;
  quantity: bigint;
  /** What the buyer of a listing or the bidder pays, for one unit. */
  unitPriceWei: bigint;
  sellerNetWei: bigint;
  fees: readonly TradeFee[];
};

export type TradeFee = { recipient: Address; unitWei: bigint; kind: "service" | "royalty" };
