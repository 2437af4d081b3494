import type { Address, Hex } from "viem";
import type { IntakeCode } from "../intake/intake-codes.ts";
import { rejectField } from "../intake/reject-field.ts";
import type { Rejection } from "../rejection.ts";
import {
  itemType,
  type OfferItem,
  type OrderComponents,
  orderType,
} from "../seaport/order-components.ts";
import type { OrderBounds } from "./market-terms.ts";

/** An item and its path in the order. */
export type ItemAtPath = { path: string; item: OfferItem };

type Refusal = Rejection<IntakeCode> | null;

export const withPaths = (side: "offer" | "consideration", items: readonly OfferItem[]) =>
  items.map((item, index): ItemAtPath => ({ path: `parameters.${side}[${index}]`, item }));

export const isNft = (item: OfferItem) => item.itemType >= itemType.erc721;

/** Runs the checks in order up to the first rejection. */
export function firstRejection(checks: readonly (() => Refusal)[]): Refusal {
  for (const check of checks) {
    const refused = check();
    if (refused !== null) return refused;
  }
  return null;
}

export function validateOrderType(actual: number, allowed: readonly number[]): Refusal {
  if (allowed.includes(actual)) return null;
  const nameOf = (type: number) => (type === orderType.fullOpen ? "FULL_OPEN" : "PARTIAL_OPEN");
  const expected = allowed.map((type) => `${type} (${nameOf(type)})`).join(" or ");
  const field = "parameters.orderType";
  return rejectField("unsupported_order_type", { field, expected, actual: `${actual}` });
}

export function validateZone({ zone, zoneHash }: OrderComponents): Refusal {
  for (const [name, actual] of Object.entries({ zone, zoneHash })) {
    const expected = `0x${"0".repeat(actual.length - 2)}`;
    if (actual === expected) continue;
    return rejectField("zone_not_allowed", { field: `parameters.${name}`, expected, actual });
  }
  return null;
}

export function validateConduit(actual: Hex, expected: Hex): Refusal {
  if (actual === expected) return null;
  return rejectField("wrong_conduit", { field: "parameters.conduitKey", expected, actual });
}

export function validateSingleOfferItem({ offer }: OrderComponents): Refusal {
  if (offer.length === 1) return null;
  const actual = `${offer.length} items`;
  return rejectField("bundle_not_supported", {
    field: "parameters.offer",
    expected: "1 item",
    actual,
  });
}

export function validateSingleNft(considered: readonly ItemAtPath[]): Refusal {
  const count = considered.filter(({ item }) => isNft(item)).length;
  if (count <= 1) return null;
  return rejectField("bundle_not_supported", {
    field: "parameters.consideration",
    expected: "1 item that is an NFT",
    actual: `${count} NFTs`,
  });
}

export function validateItemTypes(
  items: readonly ItemAtPath[],
  allowed: readonly number[],
): Refusal {
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
export function validatePartialFills(type: number, quantity: bigint): Refusal {
  if (quantity === 1n || type === orderType.partialOpen) return null;
  return rejectField("not_partially_fillable", {
    field: "parameters.orderType",
    expected: `${orderType.partialOpen} (PARTIAL_OPEN), as there are ${quantity} units`,
    actual: `${type}`,
  });
}

export function validateDivisibility(payments: readonly ItemAtPath[], quantity: bigint): Refusal {
  const indivisible = payments.find(({ item }) => item.startAmount % quantity !== 0n);
  if (indivisible === undefined) return null;
  return rejectField("amount_not_divisible", {
    field: `${indivisible.path}.startAmount`,
    expected: `a multiple of the quantity, ${quantity}`,
    actual: `${indivisible.item.startAmount}`,
  });
}

export function validateFixedPrice(payments: readonly ItemAtPath[]): Refusal {
  const changing = payments.find(({ item }) => item.startAmount !== item.endAmount);
  if (changing === undefined) return null;
  return rejectField("dynamic_price_not_supported", {
    field: `${changing.path}.endAmount`,
    expected: `startAmount, ${changing.item.startAmount}`,
    actual: `${changing.item.endAmount}`,
  });
}

/** A listing that requires an NFT in return can only be filled by the owner of that NFT. */
export function validateNotPrivate(considered: readonly ItemAtPath[]): Refusal {
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
export function validateCurrency(payments: readonly ItemAtPath[], currency: Currency): Refusal {
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

/** Seaport's criteria 0: any id. A Merkle root or a single id is not a collection bid. */
export function validateCriteria({ path, item }: ItemAtPath): Refusal {
  if (item.identifierOrCriteria === 0n) return null;
  return rejectField("bad_criteria", {
    field: `${path}.identifierOrCriteria`,
    expected: "0, for every token of the collection",
    actual: `${item.identifierOrCriteria}`,
  });
}

/** `field`: path of the price in the order. */
export function validatePrice(unitPriceWei: bigint, bounds: OrderBounds, field: string): Refusal {
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

export function validateConsiderationCount(actual: bigint | null, count: number): Refusal {
  if (actual === null || actual === BigInt(count)) return null;
  return rejectField("consideration_mismatch", {
    field: "parameters.totalOriginalConsiderationItems",
    expected: `${count}`,
    actual: `${actual}`,
  });
}
