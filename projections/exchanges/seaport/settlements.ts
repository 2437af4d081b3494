import { zeroAddress } from "viem";
import type { FulfilledOrder, OrdersMatched } from "./order-facts.ts";

/**
 * Orders that were settled against each other, each settlement in log order; an order filled directly is one by itself.
 * `OrdersMatched` names them where it is recorded. Elsewhere a match is a run of logs of one call that either has no
 * recipient (Seaport 1.1), as only a match has none, or are adjacent and contain the caller's own order.
 */
export function settlements(
  orders: readonly FulfilledOrder[],
  matches: readonly OrdersMatched[],
): FulfilledOrder[][] {
  if (orders.length === 1) return [[...orders]];
  const taken = new Set<FulfilledOrder>();
  const found: FulfilledOrder[][] = [];
  for (const match of matches) {
    const members = matchedOrders(orders, match, taken);
    for (const order of members) taken.add(order);
    if (members.length > 0) found.push(members);
  }
  for (const run of adjacentRuns(orders.filter((order) => !taken.has(order)))) {
    if (isMatch(run)) found.push(run);
    else found.push(...run.map((order) => [order]));
  }
  return found;
}

/** The last fulfilments before the match's log that have its hashes; a hash may occur more than once. */
function matchedOrders(
  orders: readonly FulfilledOrder[],
  match: OrdersMatched,
  taken: ReadonlySet<FulfilledOrder>,
): FulfilledOrder[] {
  const wanted = [...match.orderHashes];
  const members: FulfilledOrder[] = [];
  for (const order of orders.toReversed()) {
    if (order.logIndex > match.logIndex || order.exchange !== match.exchange) continue;
    const index = taken.has(order) ? -1 : wanted.indexOf(order.orderHash);
    if (index < 0) continue;
    wanted.splice(index, 1);
    members.unshift(order);
  }
  return members;
}

function adjacentRuns(orders: readonly FulfilledOrder[]): FulfilledOrder[][] {
  const runs: FulfilledOrder[][] = [];
  for (const order of orders) {
    const run = runs.at(-1);
    const last = run?.at(-1);
    const continues =
      last !== undefined &&
      (order.recipient === zeroAddress || last.logIndex === order.logIndex - 1) &&
      last.exchange === order.exchange &&
      last.recipient === order.recipient;
    if (continues) run?.push(order);
    else runs.push([order]);
  }
  return runs;
}

function isMatch(run: readonly FulfilledOrder[]): boolean {
  return run.some(({ recipient, offerer }) => recipient === zeroAddress || recipient === offerer);
}
