import { type Address, zeroAddress, zeroHash } from "viem";
import { commonConduit } from "#abis/deployments.ts";
import type { IntakeCode } from "../intake/intake-codes.ts";
import type { Rejection } from "../rejection.ts";
import { itemType, type OfferItem, orderType } from "../seaport/order-components.ts";
import { orderHash } from "../seaport/order-hash.ts";
import type { MarketTerms } from "./market-terms.ts";
import type { OrderBody } from "./order-body.ts";
import { firstRejection, type ItemAtPath, isNft, validateConduit, validateConsiderationCount, validateCriteria, validateCurrency, validateDivisibility, validateFixedPrice, validateItemTypes, validateNotPrivate, validateOrderType, validatePartialFills, validatePrice, validateQuantity, validateSingleNft, validateSingleOfferItem, validateZone, withPaths } from "./order-shape.ts";
import type { ParsedOrder } from "./parsed-order.ts";
import { validateRecipients } from "./validate-recipients.ts";

type ParseResult = ParsedOrder | Rejection<IntakeCode>;

const openTypes = [orderType.fullOpen, orderType.partialOpen];
const paymentTypes = [itemType.native, itemType.erc20];
const unitTypes = [itemType.erc721, itemType.erc1155];
const criteriaTypes = [itemType.erc721WithCriteria, itemType.erc1155WithCriteria];

/** A listing: units of one token for native currency, with the seller's payment first. */
export function parseListing(body: OrderBody, terms: MarketTerms): ParseResult {
  const { components } = body;
  const [nft = missingItem("offer")] = withPaths("offer", components.offer);
  const considered = withPaths("consideration", components.consideration);
  const payments = considered.filter(({ item }) => !isNft(item));
  const quantity = nft.item.startAmount;
  const unitPriceWei = () =>
    payments.reduce((wei, { item }) => wei + item.startAmount, 0n) / quantity;
  const refused = firstRejection([
    () => validateOrderType(components.orderType, openTypes),
    () => validateZone(components),
    () => validateConduit(components.conduitKey, commonConduit.key),
    () => validateSingleOfferItem(components),
    () => validateItemTypes([nft], unitTypes),
    () => validateItemTypes(considered, [...paymentTypes, ...unitTypes]),
    () => validateQuantity(nft, terms.bounds),
    () => validatePartialFills(components.orderType, quantity),
    () => validateDivisibility(payments, quantity),
    () => validateFixedPrice(payments),
    () => validateNotPrivate(considered),
    () => validateCurrency(payments, { itemType: itemType.native, token: zeroAddress }),
    () => validatePrice(unitPriceWei(), terms.bounds, "parameters.consideration"),
    () => validateConsiderationCount(body.totalOriginalConsiderationItems, considered.length),
    () => validateRecipients(components, "ask"),
  ]);
  return refused ?? toParsedOrder("ask", body, nft.item, unitPriceWei());
}

/**
 * A bid: wrapped currency for units of one token or of any token of a contract, which is the first
 * consideration item. Bids on one token are filled whole, as basic orders.
 */
export function parseBid(body: OrderBody, terms: MarketTerms): ParseResult {
  const { components } = body;
  const [offered = missingItem("offer")] = withPaths("offer", components.offer);
  const considered = withPaths("consideration", components.consideration);
  const [first = missingItem("consideration")] = considered;
  const nft = considered.find(({ item }) => isNft(item)) ?? first;
  const payments = [offered, ...considered.filter(({ item }) => !isNft(item))];
  const quantity = nft.item.startAmount;
  const isItemBid = unitTypes.some((type) => type === nft.item.itemType);
  const currency = { itemType: itemType.erc20, token: terms.currency.toLowerCase() as Address };
  const unitPriceWei = () => offered.item.startAmount / quantity;
  const refused = firstRejection([
    () => validateOrderType(components.orderType, isItemBid ? [orderType.fullOpen] : openTypes),
    () => validateZone(components),
    () => validateConduit(components.conduitKey, zeroHash),
    () => validateSingleOfferItem(components),
    () => validateSingleNft(considered),
    () => validateItemTypes([offered], [itemType.erc20]),
    () => validateItemTypes([nft], [...unitTypes, ...criteriaTypes]),
    () => validateQuantity(nft, terms.bounds),
    () => (isItemBid ? null : validatePartialFills(components.orderType, quantity)),
    () => validateDivisibility(payments, quantity),
    () => validateFixedPrice(payments),
    () => validateCurrency(payments, currency),
    () => (isItemBid ? null : validateCriteria(nft)),
    () => validatePrice(unitPriceWei(), terms.bounds, `${offered.path}.startAmount`),
    () => validateConsiderationCount(body.totalOriginalConsiderationItems, considered.length),
    () => validateRecipients(components, "bid"),
  ]);
  return refused ?? toParsedOrder("bid", body, nft.item, unitPriceWei());
}

function toParsedOrder(
  side: ParsedOrder["side"],
  { components, signature }: OrderBody,
  nft: OfferItem,
  unitPriceWei: bigint,
): ParsedOrder {
  const quantity = nft.startAmount;
  const feeLegs = components.consideration
    .slice(1)
    .map(({ recipient, startAmount }) => ({ recipient, unitWei: startAmount / quantity }));
  const is1155 = nft.itemType === itemType.erc1155 || nft.itemType === itemType.erc1155WithCriteria;
  const isCriteria = criteriaTypes.some((type) => type === nft.itemType);
  return {
    side,
    orderHash: orderHash(components),
    components,
    signature,
    maker: components.offerer,
    contract: nft.token,
    standard: is1155 ? "erc1155" : "erc721",
    tokenId: isCriteria ? null : nft.identifierOrCriteria,
    quantity,
    unitPriceWei,
    feeLegs,
    sellerNetWei: feeLegs.reduce((wei, leg) => wei - leg.unitWei, unitPriceWei),
  };
}

/** Placeholder for a missing item, until the check that requires the item rejects the order. */
const missingItem = (side: "offer" | "consideration"): ItemAtPath => ({
  path: `parameters.${side}[0]`,
  item: {
    itemType: itemType.native,
    token: zeroAddress,
    identifierOrCriteria: 0n,
    startAmount: 0n,
    endAmount: 0n,
  },
});
