import { type Address, encodeAbiParameters, type Hex, keccak256, stringToHex } from "viem";
import { ethereum } from "#chains/ethereum.ts";
import { blur } from "#projections/exchanges/blur/blur.ts";
import { looksrare } from "#projections/exchanges/looksrare/looksrare.ts";
import type { ExchangeEvent, TokenTransfer } from "#projections/exchanges/model/exchange.ts";
import { x2y2 } from "#projections/exchanges/x2y2/x2y2.ts";
import { type Block, type ChainEvent, zeroAddress } from "../database/given.ts";

/** An ERC-721 sold by a listing on an exchange other than Seaport, on Ethereum. */
export type GivenSale = {
  contract: Address;
  tokenId: bigint;
  seller: Address;
  buyer: Address;
  priceWei: bigint;
  /** The native currency unless named. */
  currency?: Address;
  /** Who hands the token on to the buyer, in the same transaction. */
  via?: Address;
  /** Who is paid 2 % of the price. */
  feeRecipient?: Address;
  /** To whom the token went instead of the buyer. */
  movedTo?: Address;
  /** Arguments of the event that are others. */
  args?: Record<string, unknown>;
};

type Position = { at: Block; log: number };

/** `TakerBid` of LooksRare's second version. */
export function soldOnLooksrare(sale: GivenSale, position: Position): ChainEvent {
  const { contract, tokenId, seller, priceWei, currency = zeroAddress } = sale;
  const taker = sale.via ?? sale.buyer;
  const feeWei = sale.feeRecipient === undefined ? 0n : priceWei / 50n;
  return exchangeEvent(sale, position, sourceOf(looksrare, "LooksRareV2"), "TakerBid", {
    nonceInvalidationParameters: { orderHash: hashOf(position), orderNonce: "1" },
    ...{ bidUser: taker, bidRecipient: taker, strategyId: "0", currency, collection: contract },
    ...{ itemIds: [String(tokenId)], amounts: ["1"] },
    feeRecipients: [seller, sale.feeRecipient ?? zeroAddress],
    feeAmounts: [String(priceWei - feeWei), String(feeWei), "0"],
  });
}

/** `EvInventory` of X2Y2. */
export function soldOnX2y2(sale: GivenSale, position: Position): ChainEvent {
  const { contract, tokenId, seller, priceWei, currency = zeroAddress } = sale;
  const price = String(priceWei);
  const fees =
    sale.feeRecipient === undefined ? [] : [{ percentage: "20000", to: sale.feeRecipient }];
  return exchangeEvent(sale, position, sourceOf(x2y2, "X2Y2"), "EvInventory", {
    ...{ itemHash: hashOf(position), maker: seller, taker: sale.via ?? sale.buyer },
    ...{ intent: "1", delegateType: "1", currency },
    item: { price, data: encodeAbiParameters(pairs, [[{ contract, tokenId }]]) },
    detail: { op: 1, price, fees },
  });
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

/** A packed event of Blur's second version. `type` is 0 for a listing, 1 for a bid. */
export function soldOnBlur(sale: GivenSale, type: bigint, position: Position): ChainEvent {
  const { contract, tokenId, seller, priceWei } = sale;
  return exchangeEvent(sale, position, sourceOf(blur, "BlurV2"), "Execution721Packed", {
    orderHash: hashOf(position),
    tokenIdListingIndexTrader: String((tokenId << 168n) | BigInt(seller)),
    collectionPriceSide: String((type << 248n) | (priceWei << 160n) | BigInt(contract)),
  });
}

function sourceOf({ sources }: typeof x2y2, name: string): { source: string; address: Address } {
  const address = sources.find((one) => one.name === name)?.deployed(ethereum)?.addresses?.[0];
  if (address === undefined) throw new Error(`no source ${name}`);
  return { source: name, address };
}

const hashOf = ({ at, log }: Position): Hex => keccak256(stringToHex(`${at.hash} ${log}`));

/** An event of an exchange, stored with the transfers that deliver the token. */
function exchangeEvent(
  { contract, tokenId, seller, buyer, via, movedTo = buyer, args: given }: GivenSale,
  { at, log }: Position,
  { source, address }: ReturnType<typeof sourceOf>,
  event: string,
  args: Record<string, unknown>,
): ChainEvent {
  const hands = via === undefined ? [seller, movedTo] : [seller, via, movedTo];
  const transfers = hands.slice(1).map((to, index): TokenTransfer => {
    const parties = { from: hands[index] ?? zeroAddress, to };
    const token = { standard: "erc721" as const, contract, tokenId: String(tokenId), amount: "1" };
    return { logIndex: log + 1 + index, ...token, ...parties };
  });
  const payload: ExchangeEvent = {
    ...{ source, event, args: { ...args, ...given }, transfers },
    ...{ sender: buyer, target: via ?? address, calldataTail: null },
  };
  return { kind: "exchange_event", block: at, logIndex: log, contract: address, payload };
}
