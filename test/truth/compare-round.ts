import { isDeepStrictEqual } from "node:util";
import { contracts } from "#devnet/contracts/addresses.ts";
import { compareOrders, type Disagreement, groupOf, groupsWithBoundary } from "./compare-orders.ts";
import type { Fixture } from "./fixture.ts";
import { nftOf, type Shown, type StoredOrder } from "./stored-order.ts";
import type { TruthReport } from "./truth-report.ts";

/** Time within which affected orders are rechecked, with a margin for a busy machine; less than until the next sweep. */
const recheckMs = 25_000;

/** Comparisons in which an ended order is still evaluated: a reorg may bring it back. */
const evaluatedAfterEnd = 5;

/**
 * Compares every order with the chain, and those that differ again until they agree. Returns those that still differ, and
 * those that differ although events cover them.
 */
export async function compareRound(
  fixture: Fixture,
  truth: TruthReport,
  report: (line: string) => void,
): Promise<Disagreement[]> {
  const { chainId, pipeline, market, clock, orders } = fixture;
  const source = { chainId, baseUrl: pipeline.baseUrl, rpcUrl: market.anvil.rpcUrl };
  const compareSome = (some: readonly StoredOrder[]) => compareOrders(source, some, clock.now);
  const { disagreements, shown } = await compareSome(orders);
  truth.comparisons += 1;
  truth.compared += orders.length;
  const reasonOf = new Map(disagreements.map(({ order }) => [order, lateReason(fixture, order)]));
  truth.immediate += orders.length - reasonOf.size;
  for (const one of disagreements) {
    const line = `comparison ${truth.comparisons}, ${reasonOf.get(one.order)}: ${describe(one)}`;
    truth.lateOrders.push(line);
    report(`  late, ${line}`);
  }
  noteShown(fixture, truth, shown);
  const isExplained = ({ order }: Disagreement) => reasonOf.get(order) !== undefined;
  const startedAt = performance.now();
  let wrong = disagreements.filter(isExplained);
  while (wrong.length > 0 && performance.now() < startedAt + recheckMs) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    const groups = new Set(wrong.map(({ order }) => groupOf(order)));
    const again = await compareSome(orders.filter((order) => groups.has(groupOf(order))));
    const still = new Set(again.disagreements.map(({ order }) => order));
    const ms = Math.round(performance.now() - startedAt);
    for (const order of new Set(wrong.map(({ order }) => order))) {
      if (!still.has(order)) addLate(truth, reasonOf.get(order) ?? "", ms);
    }
    wrong = wrong.filter(({ order }) => still.has(order));
  }
  fixture.unknownTraders.clear();
  fixture.reorged = false;
  fixture.comparedAt = clock.now();
  return [...disagreements.filter((one) => !isExplained(one)), ...wrong];
}

function addLate(truth: TruthReport, reason: string, ms: number): void {
  const { late } = truth;
  if (ms <= 1_000) truth.withinSecond += 1;
  const { orders: known, slowestMs } = late[reason] ?? { orders: 0, slowestMs: 0 };
  late[reason] = { orders: known + 1, slowestMs: Math.max(slowestMs, ms) };
}

/** Orders that ended some comparisons ago are evaluated no more. */
function noteShown(fixture: Fixture, truth: TruthReport, shown: readonly Shown[]): void {
  const { comparisons } = truth;
  for (const [index, order] of fixture.orders.entries()) {
    const now = shown[index];
    if (now === undefined) throw new Error(`${order.id} was not compared`);
    if (order.lastShown === undefined) truth.orders += 1;
    else if (!isDeepStrictEqual(order.lastShown, now)) truth.changes += 1;
    order.lastShown = now;
    const isOpen = now.status === "active" || now.status === "inactive";
    order.endedAt = isOpen ? undefined : (order.endedAt ?? comparisons);
  }
  fixture.orders = fixture.orders.filter(
    ({ endedAt = comparisons }) => comparisons - endedAt < evaluatedAfterEnd,
  );
}

/** What the chain emits no event for, so that the service may notice it later; undefined: events cover this order. */
function lateReason(fixture: Fixture, order: StoredOrder): string | undefined {
  const { offerer } = order.components;
  if (order.side === "listings" && nftOf(order).contract === contracts.guarded)
    return "restriction";
  if (offerer === contracts.smartWallet) return "signature";
  if (order.side === "bids" && fixture.unknownTraders.has(offerer)) return "unknown trade";
  if (hasTimeBoundary(fixture, order)) return "start or end time";
  if (order.side === "bids" && fixture.chainId === 1) return "wrapped currency";
  return fixture.reorged ? "reorg" : undefined;
}

/** Whether an order of the same maker and token started or ended since the last comparison. */
const hasTimeBoundary = ({ orders, comparedAt, clock }: Fixture, order: StoredOrder): boolean =>
  groupsWithBoundary(orders, comparedAt - 3, clock.now() + 1).has(groupOf(order));

/** One line. */
export function describe({ order, shown, problem }: Disagreement): string {
  const { standard, contract, tokenId, quantity } = nftOf(order);
  const { offerer, startTime, endTime } = order.components;
  return [
    `${order.side} ${order.orderHash} of ${offerer}`,
    `for ${quantity} of ${standard} ${contract} ${tokenId}, ${startTime} to ${endTime},`,
    `is shown as ${shown.status} ${shown.reason ?? ""} ${shown.filled}+${shown.fillable}/${shown.remaining},`,
    `but ${problem}`,
  ].join(" ");
}
