import type { ChainId } from "../../abis/deployments.ts";
import { contracts } from "../../devnet/contracts/addresses.ts";
import { compareOrders, type Disagreement, groupOf, groupsWithBoundary } from "./compare-orders.ts";
import { type Fixture, openFixture, waitUntilDerived } from "./fixture.ts";
import { playMove } from "./moves.ts";
import { reorganize } from "./reorg.ts";
import { nftOf, type StoredOrder } from "./stored-order.ts";

type TruthOptions = {
  chainId: ChainId;
  seed: number;
  /** URL of an empty, migrated database. */
  databaseUrl: string;
  /** Number of comparisons. */
  rounds: number;
  /** Minutes after which no round is started. */
  minutes?: number;
  /** Seconds between two sweeps of all orders by the service. */
  sweepSeconds?: number;
  /** Called with each line of progress. */
  report: (line: string) => void;
};

export type TruthReport = {
  comparisons: number;
  /** Orders compared, counted once per comparison. */
  compared: number;
  /** Of them those that agreed at the first comparison. */
  immediate: number;
  /** Those that agreed after the next check of the chain, by cause without an event; and how long the slowest took. */
  late: Record<string, { orders: number; slowestMs: number }>;
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

/** Time within which affected orders are rechecked, with a margin for a busy machine. */
const sweepMs = 8_000;

/** Runs a random market on the service and compares every stored order after each round. */
export async function measureTruth(options: TruthOptions): Promise<TruthReport> {
  const fixture = await openFixture(options);
  const truth: TruthReport = {
    ...{
      comparisons: 0,
      compared: 0,
      immediate: 0,
      late: {},
      reorgs: 0,
      restarts: 0,
      slowestMs: 0,
      moves: {},
    },
    disagreements: [],
  };
  try {
    const endsAt = performance.now() + (options.minutes ?? Infinity) * 60_000;
    for (let round = 1; round <= options.rounds && performance.now() < endsAt; round += 1) {
      const events = await playRound(fixture, truth);
      const ms = await waitUntilDerived(fixture);
      truth.slowestMs = Math.max(truth.slowestMs, Math.round(ms));
      const wrong = await compareRound(fixture, truth, options.report);
      options.report(`${round}: ${events.join("; ")} — ${fixture.orders.length} orders`);
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
  let wrong = await compareSome(orders);
  truth.comparisons += 1;
  truth.compared += orders.length;
  truth.immediate += orders.length - new Set(wrong.map(({ order }) => order.id)).size;
  const lateReasons = new Map(wrong.map(({ order }) => [order.id, lateReason(fixture, order)]));
  for (const one of wrong) report(`  late, ${lateReasons.get(one.order.id)}: ${describe(one)}`);
  const startedAt = performance.now();
  const deadline = startedAt + sweepMs;
  while (wrong.some(({ order }) => lateReasons.get(order.id)) && performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    const before = wrong.filter(({ order }) => lateReasons.get(order.id));
    const again = await compareSome(orders);
    const still = new Set(again.map(({ order }) => order.id));
    for (const id of new Set(before.map(({ order }) => order.id))) {
      const reason = lateReasons.get(id);
      if (!reason || still.has(id)) continue;
      const { orders: known, slowestMs } = truth.late[reason] ?? { orders: 0, slowestMs: 0 };
      const ms = Math.round(performance.now() - startedAt);
      truth.late[reason] = { orders: known + 1, slowestMs: Math.max(slowestMs, ms) };
    }
    wrong = [...wrong.filter(({ order }) => !lateReasons.get(order.id) || still.has(order.id))];
  }
  fixture.unknownTraders.clear();
  fixture.reorged = false;
  fixture.comparedAt = clock.now();
  return wrong;
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
