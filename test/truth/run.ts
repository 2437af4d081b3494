import type { ChainId } from "#chains/index.ts";
import { compareRound, describe } from "./compare-round.ts";
import { type Fixture, openFixture, waitUntilDerived } from "./fixture.ts";
import { playMove } from "./moves.ts";
import { reorganize } from "./reorg.ts";
import { stockOrders } from "./stock-orders.ts";
import { emptyReport, type TruthReport } from "./truth-report.ts";

type TruthOptions = {
  chainId: ChainId;
  seed: number;
  /** URL of an empty, migrated database. */
  databaseUrl: string;
  /** Number of comparisons. */
  rounds: number;
  /** Evaluations after which no round is started. */
  evaluations?: number;
  /** Minutes after which no round is started. */
  minutes?: number;
  /** Number of orders that have not ended with which each round begins; without it the moves alone make orders. */
  orders?: number;
  /** Seconds between two sweeps of all orders by the service. */
  sweepSeconds?: number;
  /** Called with each line of progress. */
  report: (line: string) => void;
};

/** Runs a random market on the service and compares every stored order after each round. */
export async function measureTruth(options: TruthOptions): Promise<TruthReport> {
  const fixture = await openFixture(options);
  const truth = emptyReport();
  try {
    const endsAt = performance.now() + (options.minutes ?? Infinity) * 60_000;
    const isOver = () =>
      performance.now() > endsAt || truth.compared >= (options.evaluations ?? Infinity);
    for (let round = 1; round <= options.rounds && !isOver(); round += 1) {
      if (options.orders !== undefined) await stockOrders(fixture, options.orders);
      const events = await playRound(fixture, truth, round);
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

/** Of every so many rounds at least one ends with a reorg, whatever is drawn. */
const reorgRounds = 10;

async function playRound(fixture: Fixture, truth: TruthReport, round: number): Promise<string[]> {
  const events: string[] = [];
  const count = 1 + fixture.random.below(10);
  for (let played = 0; played < count; played += 1) {
    const what = await playMove(fixture);
    truth.moves[what] = (truth.moves[what] ?? 0) + 1;
    events.push(what);
  }
  if (fixture.random.below(6) === 0 || round % reorgRounds === 0) {
    events.push(await reorganize(fixture));
    truth.reorgs += 1;
  }
  return events;
}
