import type { Address, Hex } from "viem";
import type { Rejection } from "../rejection.ts";
import {
  itemType,
  type OfferItem,
  type OrderComponents,
  orderType,
} from "../seaport/order-components.ts";
import type { IntakeCode } from "./intake-codes.ts";
import type { OrderBounds } from "./market-terms.ts";
import { refuseField } from "./refuse-field.ts";

/** An item with where it stands in the order. */
export type PlacedItem = { path: string; item: OfferItem };

type Refusal = Rejection<IntakeCode> | null;

export const placeItems = (side: "offer" | "consideration", items: readonly OfferItem[]) =>
  items.map((item, index): PlacedItem => ({ path: `parameters.${side}[${index}]`, item }));

export const isNft = (item: OfferItem) => item.itemType >= itemType.erc721;

/** The first that refuses answers; those after it are not run. */
export function firstRefusal(checks: readonly (() => Refusal)[]): Refusal {
  for (const check of checks) {
    const refused = check();
    if (refused !== null) return refused;
  }
  return null;
}

export function judgeOrderType(actual: number, allowed: readonly number[]): Refusal {
  if (allowed.includes(actual)) return null;
  const nameOf = (type: number) => (type === orderType.fullOpen ? "FULL_OPEN" : "PARTIAL_OPEN");
  const expected = allowed.map((type) => `${type} (${nameOf(type)})`).join(" or ");
  const field = "parameters.orderType";
  return refuseField("unsupported_order_type", { field, expected, actual: `${actual}` });
}

export function judgeZone({ zone, zoneHash }: OrderComponents): Refusal {
  for (const [name, actual] of Object.entries({ zone, zoneHash })) {
    const expected = `0x${"0".repeat(actual.length - 2)}`;
    if (actual === expected) continue;
    return refuseField("zone_not_allowed", { field: `parameters.${name}`, expected, actual });
  }
  return null;
}

export function judgeConduit(actual: Hex, expected: Hex): Refusal {
  if (actual === expected) return null;
  return refuseField("wrong_conduit", { field: "parameters.conduitKey", expected, actual });
}

export function judgeOneOffered({ offer }: OrderComponents): Refusal {
  if (offer.length === 1) return null;
  const actual = `${offer.length} items`;
  return refuseField("bundle_not_supported", {
    field: "parameters.offer",
    expected: "1 item",
    actual,
  });
}

export function judgeOneNftAsked(considered: readonly PlacedItem[]): Refusal {
  const count = considered.filter(({ item }) => isNft(item)).length;
  if (count <= 1) return null;
  return refuseField("bundle_not_supported", {
    field: "parameters.consideration",
    expected: "1 item that is an NFT",
    actual: `${count} of them`,
  });
}

export function judgeItemTypes(items: readonly PlacedItem[], allowed: readonly number[]): Refusal {
  const other = items.find(({ item }) => !allowed.includes(item.itemType));
  if (other === undefined) return null;
  const names = Object.entries(itemType).filter(([, type]) => allowed.includes(type));
  return refuseField("unsupported_item_type", {
    field: `${other.path}.itemType`,
    expected: names.map(([name, type]) => `${type} (${name})`).join(" or "),
    actual: `${other.item.itemType}`,
  });
}

/** The exchange keeps what is filled as fractions of 120 bits: more units could not be told apart. */
const maxQuantity = 2n ** 120n - 1n;

export function judgeQuantity({ path, item }: PlacedItem): Refusal {
  const refuse = (name: "startAmount" | "endAmount", expected: string) =>
    refuseField("bad_quantity", { field: `${path}.${name}`, expected, actual: `${item[name]}` });
  const { startAmount, endAmount } = item;
  if (item.itemType === itemType.erc721 && startAmount !== 1n) {
    return refuse("startAmount", "1, as there is one of an ERC-721 token");
  }
  if (startAmount === 0n || startAmount > maxQuantity) {
    return refuse("startAmount", `from 1 to ${maxQuantity}`);
  }
  return endAmount === startAmount ? null : refuse("endAmount", `startAmount, ${startAmount}`);
}

/** One unit has no parts: there either type will do. */
export function judgePartialFills(type: number, quantity: bigint): Refusal {
  if (quantity === 1n || type === orderType.partialOpen) return null;
  return refuseField("not_partially_fillable", {
    field: "parameters.orderType",
    expected: `${orderType.partialOpen} (PARTIAL_OPEN), as there are ${quantity} units`,
    actual: `${type}`,
  });
}

export function judgeDivisibility(payments: readonly PlacedItem[], quantity: bigint): Refusal {
  const odd = payments.find(({ item }) => item.startAmount % quantity !== 0n);
  if (odd === undefined) return null;
  return refuseField("amount_not_divisible", {
    field: `${odd.path}.startAmount`,
    expected: `a multiple of the quantity, ${quantity}`,
    actual: `${odd.item.startAmount}`,
  });
}

export function judgeFixedPrice(payments: readonly PlacedItem[]): Refusal {
  const moving = payments.find(({ item }) => item.startAmount !== item.endAmount);
  if (moving === undefined) return null;
  return refuseField("dynamic_price_not_supported", {
    field: `${moving.path}.endAmount`,
    expected: `startAmount, ${moving.item.startAmount}`,
    actual: `${moving.item.endAmount}`,
  });
}

/** A listing that asks for an NFT can only be filled by whoever has that NFT. */
export function judgePublic(considered: readonly PlacedItem[]): Refusal {
  const nft = considered.find(({ item }) => isNft(item));
  if (nft === undefined) return null;
  return refuseField("private_order_not_supported", {
    field: `${nft.path}.itemType`,
    expected: `${itemType.native} (native)`,
    actual: `${nft.item.itemType}`,
  });
}

type Currency = { itemType: number; token: Address };

/** Currency has no identifier: the exchange refuses one. */
export function judgeCurrency(payments: readonly PlacedItem[], currency: Currency): Refusal {
  const expected = { ...currency, identifierOrCriteria: 0n };
  for (const { path, item } of payments) {
    for (const name of ["itemType", "token", "identifierOrCriteria"] as const) {
      if (item[name] === expected[name]) continue;
      const field = `${path}.${name}`;
      const at = { field, expected: `${expected[name]}`, actual: `${item[name]}` };
      return refuseField("unsupported_currency", at);
    }
  }
  return null;
}

/** Seaport's criteria 0: any id. A root of ids, or one id, is no bid on a collection. */
export function judgeCriteria({ path, item }: PlacedItem): Refusal {
  if (item.identifierOrCriteria === 0n) return null;
  return refuseField("bad_criteria", {
    field: `${path}.identifierOrCriteria`,
    expected: "0, for every token of the collection",
    actual: `${item.identifierOrCriteria}`,
  });
}

/** `field` is where the price stands. */
export function judgePrice(unitPriceWei: bigint, bounds: OrderBounds, field: string): Refusal {
  const refuse = (code: IntakeCode, expected: string) =>
    refuseField(code, {
      field,
      expected,
      actual: `${unitPriceWei}`,
      because: `the price of one unit must be ${expected} wei, and is ${unitPriceWei}`,
    });
  const { minPriceWei, maxPriceWei } = bounds;
  if (unitPriceWei === 0n) return refuse("zero_price", `at least ${minPriceWei}`);
  if (unitPriceWei < minPriceWei) return refuse("price_too_low", `at least ${minPriceWei}`);
  if (unitPriceWei > maxPriceWei) return refuse("price_too_high", `at most ${maxPriceWei}`);
  return null;
}

export function judgeConsiderationCount(actual: bigint | null, count: number): Refusal {
  if (actual === null || actual === BigInt(count)) return null;
  return refuseField("consideration_mismatch", {
    field: "parameters.totalOriginalConsiderationItems",
    expected: `${count}`,
    actual: `${actual}`,
  });
}
