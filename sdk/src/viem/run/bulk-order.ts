import { concatHex, type Hex, keccak256, numberToHex } from "viem";
import { emptyOrder, type OrderComponents, orderHash, orderTypes } from "../exchange.ts";

const heightOf = (count: number) => Math.max(1, Math.ceil(Math.log2(count)));

/** EIP-712 data of many orders at once: `OrderComponents[2]…[2]`, gaps filled with empty orders. */
export function bulkTypedData(orders: readonly OrderComponents[]) {
  const height = heightOf(orders.length);
  const tree = { name: "tree", type: `OrderComponents${"[2]".repeat(height)}` };
  let level: unknown[] = Array.from(
    { length: 2 ** height },
    (_, index) => orders[index] ?? emptyOrder,
  );
  while (level.length > 2) level = pairs(level);
  return { types: { ...orderTypes, BulkOrder: [tree] }, message: { tree: level } };
}

const pairs = <One>(level: readonly One[]): [One, One][] =>
  level.flatMap((one, index) => (index % 2 === 0 ? [[one, level[index + 1] as One]] : []));

/** The signature of each order: that of the tree, the order's index, and its siblings up to the root. */
export function splitBulkSignature(signature: Hex, orders: readonly OrderComponents[]): Hex[] {
  const empty = orderHash(emptyOrder);
  const leaves = Array.from({ length: 2 ** heightOf(orders.length) }, (_, index): Hex => {
    const order = orders[index];
    return order === undefined ? empty : orderHash(order);
  });
  const levels: Hex[][] = [leaves];
  for (let level = leaves; level.length > 2; levels.push(level))
    level = pairs(level).map((pair) => keccak256(concatHex(pair)));
  return orders.map((_, index) => {
    const siblings = levels.map((level, depth) => level[(index >> depth) ^ 1] ?? empty);
    return concatHex([signature, numberToHex(index, { size: 3 }), ...siblings]);
  });
}
