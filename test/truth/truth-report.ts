/** What a run found. */
export type TruthReport = {
  comparisons: number;
  /** Orders compared, counted once per comparison. */
  compared: number;
  /** Different orders among them. */
  orders: number;
  /** Evaluations of an order that the comparison before showed otherwise. */
  changes: number;
  /** Evaluations that agreed at the first comparison. */
  immediate: number;
  /** Further ones that agreed within a second: state without an event is read with a new block, once a second. */
  withinSecond: number;
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

export const emptyReport = (): TruthReport => ({
  ...{ comparisons: 0, compared: 0, orders: 0, changes: 0, immediate: 0, withinSecond: 0 },
  ...{ late: {}, lateOrders: [], moves: {}, disagreements: [] },
  ...{ reorgs: 0, restarts: 0, slowestMs: 0 },
});
