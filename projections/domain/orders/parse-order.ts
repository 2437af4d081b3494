import { type Address, type Hex, zeroAddress, zeroHash } from "viem";
import { commonConduit } from "#abis/deployments.ts";
import { type IntakeCode, rejectField } from "../intake-codes.ts";
import { isRejection, type Rejection } from "../rejection.ts";
import {
  itemType,
  type OfferItem,
  type OrderComponents,
  orderType,
} from "../seaport/order-components.ts";
import { orderHash } from "../seaport/order-hash.ts";
import type {
  Criteria,
  MarketTerms,
  OrderBody,
  OrderBounds,
  ParsedOrder,
  TradeTerms,
} from "./order-terms.ts";

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
 * A bid: wrapped currency for units of one token, of any token of a contract or of those of `criteria`, which is the first
 * consideration item. Bids on one token are filled whole, as basic orders. `criteria`: what was sent with the order, or why
 * that names no tokens; null: nothing.
 */
export function parseBid(
  body: OrderBody,
  terms: MarketTerms,
  criteria: Criteria | Rejection<IntakeCode> | null = null,
): ParseResult {
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
    () => validateCriteria(nft, criteria),
    () => validatePrice(unitPriceWei(), terms.bounds, `${offered.path}.startAmount`),
    () => validateConsiderationCount(body.totalOriginalConsiderationItems, considered.length),
    () => validateRecipients(components, "bid"),
  ]);
  if (refused !== null) return refused;
  const order = toParsedOrder("bid", body, nft.item, unitPriceWei());
  return criteria === null || isRejection(criteria) ? order : { ...order, criteria };
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

/** An item and its path in the order. */
type ItemAtPath = { path: string; item: OfferItem };

type Refusal = Rejection<IntakeCode> | null;

const withPaths = (side: "offer" | "consideration", items: readonly OfferItem[]) =>
  items.map((item, index): ItemAtPath => ({ path: `parameters.${side}[${index}]`, item }));

const isNft = (item: OfferItem) => item.itemType >= itemType.erc721;

/** Runs the checks in order up to the first rejection. */
function firstRejection(checks: readonly (() => Refusal)[]): Refusal {
  for (const check of checks) {
    const refused = check();
    if (refused !== null) return refused;
  }
  return null;
}

function validateOrderType(actual: number, allowed: readonly number[]): Refusal {
  if (allowed.includes(actual)) return null;
  const nameOf = (type: number) => (type === orderType.fullOpen ? "FULL_OPEN" : "PARTIAL_OPEN");
  const expected = allowed.map((type) => `${type} (${nameOf(type)})`).join(" or ");
  const field = "parameters.orderType";
  return rejectField("unsupported_order_type", { field, expected, actual: `${actual}` });
}

function validateZone({ zone, zoneHash }: OrderComponents): Refusal {
  for (const [name, actual] of Object.entries({ zone, zoneHash })) {
    const expected = `0x${"0".repeat(actual.length - 2)}`;
    if (actual === expected) continue;
    return rejectField("zone_not_allowed", { field: `parameters.${name}`, expected, actual });
  }
  return null;
}

function validateConduit(actual: Hex, expected: Hex): Refusal {
  if (actual === expected) return null;
  return rejectField("wrong_conduit", { field: "parameters.conduitKey", expected, actual });
}

function validateSingleOfferItem({ offer }: OrderComponents): Refusal {
  if (offer.length === 1) return null;
  const actual = `${offer.length} items`;
  return rejectField("bundle_not_supported", {
    field: "parameters.offer",
    expected: "1 item",
    actual,
  });
}

function validateSingleNft(considered: readonly ItemAtPath[]): Refusal {
  const count = considered.filter(({ item }) => isNft(item)).length;
  if (count <= 1) return null;
  return rejectField("bundle_not_supported", {
    field: "parameters.consideration",
    expected: "1 item that is an NFT",
    actual: `${count} NFTs`,
  });
}

function validateItemTypes(items: readonly ItemAtPath[], allowed: readonly number[]): Refusal {
  const other = items.find(({ item }) => !allowed.includes(item.itemType));
  if (other === undefined) return null;
  const names = Object.entries(itemType).filter(([, type]) => allowed.includes(type));
  return rejectField("unsupported_item_type", {
    field: `${other.path}.itemType`,
    expected: names.map(([name, type]) => `${type} (${name})`).join(" or "),
    actual: `${other.item.itemType}`,
  });
}

export function validateQuantity(
  { path, item }: ItemAtPath,
  { maxQuantity }: Pick<OrderBounds, "maxQuantity">,
): Refusal {
  const refuse = (name: "startAmount" | "endAmount", expected: string) =>
    rejectField("bad_quantity", { field: `${path}.${name}`, expected, actual: `${item[name]}` });
  const { startAmount, endAmount } = item;
  if (item.itemType === itemType.erc721 && startAmount !== 1n) {
    return refuse("startAmount", "1 for an ERC-721 token");
  }
  if (startAmount === 0n || startAmount > maxQuantity) {
    return refuse("startAmount", `from 1 to ${maxQuantity}`);
  }
  return endAmount === startAmount ? null : refuse("endAmount", `startAmount, ${startAmount}`);
}

/** A single unit cannot be filled in parts: either type is valid. */
function validatePartialFills(type: number, quantity: bigint): Refusal {
  if (quantity === 1n || type === orderType.partialOpen) return null;
  return rejectField("not_partially_fillable", {
    field: "parameters.orderType",
    expected: `${orderType.partialOpen} (PARTIAL_OPEN), as there are ${quantity} units`,
    actual: `${type}`,
  });
}

function validateDivisibility(payments: readonly ItemAtPath[], quantity: bigint): Refusal {
  const indivisible = payments.find(({ item }) => item.startAmount % quantity !== 0n);
  if (indivisible === undefined) return null;
  return rejectField("amount_not_divisible", {
    field: `${indivisible.path}.startAmount`,
    expected: `a multiple of the quantity, ${quantity}`,
    actual: `${indivisible.item.startAmount}`,
  });
}

function validateFixedPrice(payments: readonly ItemAtPath[]): Refusal {
  const changing = payments.find(({ item }) => item.startAmount !== item.endAmount);
  if (changing === undefined) return null;
  return rejectField("dynamic_price_not_supported", {
    field: `${changing.path}.endAmount`,
    expected: `startAmount, ${changing.item.startAmount}`,
    actual: `${changing.item.endAmount}`,
  });
}

/** A listing that requires an NFT in return can only be filled by the owner of that NFT. */
function validateNotPrivate(considered: readonly ItemAtPath[]): Refusal {
  const nft = considered.find(({ item }) => isNft(item));
  if (nft === undefined) return null;
  return rejectField("private_order_not_supported", {
    field: `${nft.path}.itemType`,
    expected: `${itemType.native} (native)`,
    actual: `${nft.item.itemType}`,
  });
}

type Currency = { itemType: number; token: Address };

/** Currency has no identifier: the exchange rejects one. */
function validateCurrency(payments: readonly ItemAtPath[], currency: Currency): Refusal {
  const expected = { ...currency, identifierOrCriteria: 0n };
  for (const { path, item } of payments) {
    for (const name of ["itemType", "token", "identifierOrCriteria"] as const) {
      if (item[name] === expected[name]) continue;
      const field = `${path}.${name}`;
      const at = { field, expected: `${expected[name]}`, actual: `${item[name]}` };
      return rejectField("unsupported_currency", at);
    }
  }
  return null;
}

/** Seaport's criteria: 0 for any id, else the Merkle root of the ids that were sent with the order. */
function validateCriteria(
  { path, item }: ItemAtPath,
  criteria: Criteria | Rejection<IntakeCode> | null,
): Refusal {
  if (criteria !== null && isRejection(criteria)) return criteria;
  if (!criteriaTypes.some((type) => type === item.itemType)) return null;
  const signed = item.identifierOrCriteria;
  if (signed === (criteria === null ? 0n : BigInt(criteria.root))) return null;
  return rejectField("bad_criteria", {
    field: `${path}.identifierOrCriteria`,
    expected:
      criteria === null
        ? "0, for every token of the collection, or the root of the tokens in `criteria`, sent with the order"
        : `${BigInt(criteria.root)}, the root of the tokens in \`criteria\``,
    actual: `${signed}`,
  });
}

/** `field`: path of the price in the order. */
function validatePrice(unitPriceWei: bigint, bounds: OrderBounds, field: string): Refusal {
  const refuse = (code: IntakeCode, expected: string) =>
    rejectField(code, {
      field,
      expected,
      actual: `${unitPriceWei}`,
      message: `the price of one unit must be ${expected} wei, and is ${unitPriceWei}`,
    });
  const { minPriceWei, maxPriceWei } = bounds;
  if (unitPriceWei === 0n) return refuse("zero_price", `at least ${minPriceWei}`);
  if (unitPriceWei < minPriceWei) return refuse("price_too_low", `at least ${minPriceWei}`);
  if (unitPriceWei > maxPriceWei) return refuse("price_too_high", `at most ${maxPriceWei}`);
  return null;
}

function validateConsiderationCount(actual: bigint | null, count: number): Refusal {
  if (actual === null || actual === BigInt(count)) return null;
  return rejectField("consideration_mismatch", {
    field: "parameters.totalOriginalConsiderationItems",
    expected: `${count}`,
    actual: `${actual}`,
  });
}

/** What the maker receives, the service fee and the royalty. */
const maxItems = 3;

/**
 * The first item is what the maker receives: a seller's payment, or a bidder's NFT. The recipients
 * of the other items are validated with the fees.
 */
function validateRecipients(
  { offerer, consideration }: OrderComponents,
  side: TradeTerms["side"],
): Rejection<IntakeCode> | null {
  const unpaid = consideration.findIndex(({ recipient }) => BigInt(recipient) === 0n);
  if (unpaid >= 0) {
    const actual = `${consideration[unpaid]?.recipient}`;
    return refuse(`[${unpaid}].recipient`, "an address other than zero", actual);
  }
  const [first] = consideration;
  if (side === "bid" && first !== undefined && !isNft(first)) {
    return refuse(
      "[0].itemType",
      "an NFT type, as the NFT must be the first item",
      `${first.itemType}`,
    );
  }
  if (first?.recipient !== offerer) {
    const received = side === "ask" ? "the seller's payment" : "the NFT";
    return refuse(
      "[0].recipient",
      `the offerer ${offerer}, as ${received} must be the first item`,
      `${first?.recipient}`,
    );
  }
  if (consideration.length > maxItems) {
    const expected = `at most ${maxItems} items: the maker's, the service fee and the royalty`;
    return refuse("", expected, `${consideration.length} items`);
  }
  return null;
}

function refuse(path: string, expected: string, actual: string) {
  const field = `parameters.consideration${path}`;
  return rejectField("unexpected_consideration", { field, expected, actual });
}
