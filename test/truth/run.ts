import type { ChainId } from "../../abis/deployments.ts";
import { contracts } from "../../devnet/contracts/addresses.ts";
import { compareOrders, type Disagreement, groupOf, groupsWithBoundary } from "./compare-orders.ts";
import { type Fixture, openFixture, waitUntilDerived } from "./fixture.ts";
import { playMove } from "./moves.ts";
import { reorganize } from "./reorg.ts";
import { stockOrders } from "./stock-orders.ts";
import { nftOf, type StoredOrder } from "./stored-order.ts";

type TruthOptions = {
  chainId: ChainId;
  seed: number;
  /** URL of an empty, migrated database. */
  databaseUrl: string;
  /** Number of comparisons. */
  rounds: number;
  /** Judgements after which no round is started. */
  judgements?: number;
  /** Minutes after which no round is started. */
  minutes?: number;
  /** Number of orders that have not ended with which each round begins; without it the moves alone make orders. */
  orders?: number;
  /** Seconds between two sweeps of all orders by the service. */
  sweepSeconds?: number;
  /** Called with each line of progress. */
  report: (line: string) => void;
};

export type TruthReport = {
  comparisons: number;
  /** Orders compared, counted once per comparison. */
  compared: number;
  /** Different orders among them. */
  orders: number;
  /** Of them those that agreed at the first comparison. */
  immediate: number;
  /** Those that agreed after the next check of the chain, by cause without an event; and how long the slowest took. */
  late: Record<string, { orders: number; slowestMs: number }>;
  /** One line for each order that did not agree at once. */
  lateOrders: string[];
  reorgs: number;
  /** How often a role was restarted. */
  restarts: number;
  /** The longest time until a chain was derived after a round. */
  slowestMs: number;
  /** How often each move was made, by what came of it. */
  moves: Record<string, number>;
  /** One line each. */
  disagreements: string[];
};

/** Time within which affected orders are rechecked, with a margin for a busy machine; less than until the next sweep. */
const recheckMs = 25_000;

/** Comparisons in which an ended order is still judged: a reorg may bring it back. */
const judgedAfterEnd = 5;

/** Runs a random market on the service and compares every stored order after each round. */
export async function measureTruth(options: TruthOptions): Promise<TruthReport> {
  const fixture = await openFixture(options);
  const truth: TruthReport = {
    ...{
      comparisons: 0,
      compared: 0,
      orders: 0,
      immediate: 0,
      late: {},
      lateOrders: [],
      reorgs: 0,
      restarts: 0,
      slowestMs: 0,
      moves: {},
    },
    disagreements: [],
  };
  try {
    const endsAt = performance.now() + (options.minutes ?? Infinity) * 60_000;
    const isOver = () =>
      performance.now() > endsAt || truth.compared >= (options.judgements ?? Infinity);
    for (let round = 1; round <= options.rounds && !isOver(); round += 1) {
      if (options.orders !== undefined) await stockOrders(fixture, options.orders);
      const events = await playRound(fixture, truth);
      const ms = await waitUntilDerived(fixture);
      truth.slowestMs = Math.max(truth.slowestMs, Math.round(ms));
      const comparedFrom = performance.now();
      const wrong = await compareRound(fixture, truth, options.report);
      const took = `${Math.round(ms)} + ${Math.round(performance.now() - comparedFrom)} ms`;
      options.report(`${round}: ${events.join("; ")} — ${fixture.orders.length} orders, ${took}`);
      for (const one of wrong) {
        const line = `round ${round}: ${describe(one)} (${events.join("; ")})`;
        truth.disagreements.push(line);
        options.report(`  ${line}`);
      }
    }
    truth.restarts = fixture.restarts();
    return truth;
  } finally {
    await fixture.stop();
  }
}

async function playRound(fixture: Fixture, truth: TruthReport): Promise<string[]> {
  const events: string[] = [];
  const count = 1 + fixture.random.below(10);
  for (let played = 0; played < count; played += 1) {
    const what = await playMove(fixture);
    truth.moves[what] = (truth.moves[what] ?? 0) + 1;
    events.push(what);
  }
  if (fixture.random.below(6) === 0) {
    events.push(await reorganize(fixture));
    truth.reorgs += 1;
  }
  return events;
}

async function compareRound(
  fixture: Fixture,
  truth: TruthReport,
  report: TruthOptions["report"],
): Promise<Disagreement[]> {
  const { chainId, pipeline, market, clock, orders } = fixture;
  const source = { chainId, baseUrl: pipeline.baseUrl, rpcUrl: market.anvil.rpcUrl };
  const compareSome = (some: readonly StoredOrder[]) => compareOrders(source, some, clock.now);
  const { disagreements, ended } = await compareSome(orders);
  truth.comparisons += 1;
  truth.compared += orders.length;
  truth.orders += orders.filter(({ isJudged }) => isJudged !== true).length;
  for (const order of orders) order.isJudged = true;
  const reasonOf = new Map(disagreements.map(({ order }) => [order, lateReason(fixture, order)]));
  truth.immediate += orders.length - reasonOf.size;
  for (const one of disagreements) {
    const line = `comparison ${truth.comparisons}, ${reasonOf.get(one.order)}: ${describe(one)}`;
    truth.lateOrders.push(line);
    report(`  late, ${line}`);
  }
  noteEnds(fixture, ended, truth.comparisons);
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

function addLate({ late }: TruthReport, reason: string, ms: number): void {
  const { orders: known, slowestMs } = late[reason] ?? { orders: 0, slowestMs: 0 };
  late[reason] = { orders: known + 1, slowestMs: Math.max(slowestMs, ms) };
}

/** Orders that ended some comparisons ago are judged no more. */
function noteEnds(fixture: Fixture, ended: ReadonlySet<string>, comparison: number): void {
  for (const order of fixture.orders) {
    order.endedAt = ended.has(order.id) ? (order.endedAt ?? comparison) : undefined;
  }
  fixture.orders = fixture.orders.filter(
    ({ endedAt = comparison }) => comparison - endedAt < judgedAfterEnd,
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

function describe({ order, shown, problem }: Disagreement): string {
  const { standard, contract, tokenId, quantity } = nftOf(order);
  const { offerer, startTime, endTime } = order.components;
  return [
    `${order.side} ${order.orderHash} of ${offerer}`,
    `for ${quantity} of ${standard} ${contract} ${tokenId}, ${startTime} to ${endTime},`,
    `is shown as ${shown.status} ${shown.reason ?? ""} ${shown.filled}+${shown.fillable}/${shown.remaining},`,
    `but ${problem}`,
  ].join(" ");
}
