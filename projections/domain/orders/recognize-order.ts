import { type Address, zeroAddress, zeroHash } from "viem";
import { commonConduit } from "../../../abis/deployments.ts";
import type { Rejection } from "../rejection.ts";
import { itemType, type OfferItem, orderType } from "../seaport/order-components.ts";
import { orderHash } from "../seaport/order-hash.ts";
import type { IntakeCode } from "./intake-codes.ts";
import { judgeRecipients } from "./judge-recipients.ts";
import type { MarketTerms } from "./market-terms.ts";
import type { OrderBody } from "./order-body.ts";
import {
  firstRefusal,
  isNft,
  judgeConduit,
  judgeConsiderationCount,
  judgeCriteria,
  judgeCurrency,
  judgeDivisibility,
  judgeFixedPrice,
  judgeItemTypes,
  judgeOneNftAsked,
  judgeOneOffered,
  judgeOrderType,
  judgePartialFills,
  judgePrice,
  judgePublic,
  judgeQuantity,
  judgeZone,
  type PlacedItem,
  placeItems,
} from "./order-shape.ts";
import type { RecognizedOrder } from "./recognized-order.ts";

type Recognized = RecognizedOrder | Rejection<IntakeCode>;

const openTypes = [orderType.fullOpen, orderType.partialOpen];
const paymentTypes = [itemType.native, itemType.erc20];
const unitTypes = [itemType.erc721, itemType.erc1155];
const criteriaTypes = [itemType.erc721WithCriteria, itemType.erc1155WithCriteria];

/** Reads a listing out of an order: units of one token for native currency, the seller paid first. */
export function recognizeListing(body: OrderBody, terms: MarketTerms): Recognized {
  const { components } = body;
  const [nft = nowhere("offer")] = placeItems("offer", components.offer);
  const considered = placeItems("consideration", components.consideration);
  const payments = considered.filter(({ item }) => !isNft(item));
  const quantity = nft.item.startAmount;
  const unitPriceWei = () =>
    payments.reduce((wei, { item }) => wei + item.startAmount, 0n) / quantity;
  const refused = firstRefusal([
    () => judgeOrderType(components.orderType, openTypes),
    () => judgeZone(components),
    () => judgeConduit(components.conduitKey, commonConduit.key),
    () => judgeOneOffered(components),
    () => judgeItemTypes([nft], unitTypes),
    () => judgeItemTypes(considered, [...paymentTypes, ...unitTypes]),
    () => judgeQuantity(nft),
    () => judgePartialFills(components.orderType, quantity),
    () => judgeDivisibility(payments, quantity),
    () => judgeFixedPrice(payments),
    () => judgePublic(considered),
    () => judgeCurrency(payments, { itemType: itemType.native, token: zeroAddress }),
    () => judgePrice(unitPriceWei(), terms.bounds, "parameters.consideration"),
    () => judgeConsiderationCount(body.totalOriginalConsiderationItems, considered.length),
    () => judgeRecipients(components, "ask"),
  ]);
  return refused ?? recognized("ask", body, nft.item, unitPriceWei());
}

/**
 * Reads a bid out of an order: wrapped currency for units of one token, or of any of a contract,
 * which the bidder receives first. Bids on one token are filled whole, by the basic order.
 */
export function recognizeBid(body: OrderBody, terms: MarketTerms): Recognized {
  const { components } = body;
  const [offered = nowhere("offer")] = placeItems("offer", components.offer);
  const considered = placeItems("consideration", components.consideration);
  const [first = nowhere("consideration")] = considered;
  const nft = considered.find(({ item }) => isNft(item)) ?? first;
  const payments = [offered, ...considered.filter(({ item }) => !isNft(item))];
  const quantity = nft.item.startAmount;
  const isItemBid = unitTypes.some((type) => type === nft.item.itemType);
  const currency = { itemType: itemType.erc20, token: terms.currency.toLowerCase() as Address };
  const unitPriceWei = () => offered.item.startAmount / quantity;
  const refused = firstRefusal([
    () => judgeOrderType(components.orderType, isItemBid ? [orderType.fullOpen] : openTypes),
    () => judgeZone(components),
    () => judgeConduit(components.conduitKey, zeroHash),
    () => judgeOneOffered(components),
    () => judgeOneNftAsked(considered),
    () => judgeItemTypes([offered], [itemType.erc20]),
    () => judgeItemTypes([nft], [...unitTypes, ...criteriaTypes]),
    () => judgeQuantity(nft),
    () => (isItemBid ? null : judgePartialFills(components.orderType, quantity)),
    () => judgeDivisibility(payments, quantity),
    () => judgeFixedPrice(payments),
    () => judgeCurrency(payments, currency),
    () => (isItemBid ? null : judgeCriteria(nft)),
    () => judgePrice(unitPriceWei(), terms.bounds, `${offered.path}.startAmount`),
    () => judgeConsiderationCount(body.totalOriginalConsiderationItems, considered.length),
    () => judgeRecipients(components, "bid"),
  ]);
  return refused ?? recognized("bid", body, nft.item, unitPriceWei());
}

function recognized(
  side: RecognizedOrder["side"],
  { components, signature }: OrderBody,
  nft: OfferItem,
  unitPriceWei: bigint,
): RecognizedOrder {
  const quantity = nft.startAmount;
  const taken = components.consideration
    .slice(1)
    .map(({ recipient, startAmount }) => ({ recipient, unitWei: startAmount / quantity }));
  const is1155 = nft.itemType === itemType.erc1155 || nft.itemType === itemType.erc1155WithCriteria;
  const byCriteria = criteriaTypes.some((type) => type === nft.itemType);
  return {
    side,
    orderHash: orderHash(components),
    components,
    signature,
    maker: components.offerer,
    contract: nft.token,
    standard: is1155 ? "erc1155" : "erc721",
    tokenId: byCriteria ? null : nft.identifierOrCriteria,
    quantity,
    unitPriceWei,
    taken,
    sellerNetWei: taken.reduce((wei, leg) => wei - leg.unitWei, unitPriceWei),
  };
}

/** Stands for an item that is not there, until the check that misses it answers. */
const nowhere = (side: "offer" | "consideration"): PlacedItem => ({
  path: `parameters.${side}[0]`,
  item: {
    itemType: itemType.native,
    token: zeroAddress,
    identifierOrCriteria: 0n,
    startAmount: 0n,
    endAmount: 0n,
  },
});
