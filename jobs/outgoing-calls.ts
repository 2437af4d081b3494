import diagnostics from "node:diagnostics_channel";
import type { Logger } from "pino";
import { openDatabase } from "../projections/log/database.ts";
import {
  type CallCount,
  type CallKey,
  type PartnerBudget,
  storeBudgets,
  storeCalls,
} from "../projections/log/outgoing-calls.ts";

/** A call to a node or a partner that has ended. */
export type EndedCall = CallKey & {
  /** Several calls that ended alike; one without it. */
  readonly calls?: number;
  /** Why it failed, without keys. */
  readonly message?: string;
};

const calls = diagnostics.channel("order-book:outgoing-call");
const budgets = diagnostics.channel("order-book:partner-budget");

/** Where no meter of this process listens, these cost nothing. */
export const publishCall = (call: EndedCall): void => calls.publish(call);
export const publishBudget = (budget: PartnerBudget): void => budgets.publish(budget);

type Listener = { onCall: (call: EndedCall) => void; onBudget: (budget: PartnerBudget) => void };

/** Returns how to end it. */
function listenToCalls({ onCall, onBudget }: Listener): () => void {
  const call = (message: unknown) => onCall(message as EndedCall);
  const budget = (message: unknown) => onBudget(message as PartnerBudget);
  calls.subscribe(call);
  budgets.subscribe(budget);
  return () => {
    calls.unsubscribe(call);
    budgets.unsubscribe(budget);
  };
}

const everyMs = 10_000;

type Options = { url: string; role: string; logger: Logger; now?: () => Date };

export type CallMeter = {
  /** Stores what was counted since the last time. */
  store(): Promise<void>;
  stop(): Promise<void>;
};

type Added = CallKey & { readonly calls?: number; readonly message?: string | null };

/** Counts this process's calls to nodes and partners, and stores them every ten seconds on a connection of its own. */
export function openCallMeter({ url, role, logger, now = () => new Date() }: Options): CallMeter {
  const db = openDatabase({
    url,
    applicationName: role,
    max: 1,
    statementTimeoutMs: 5_000,
    onIdleError: (error) => logger.debug({ err: error }, "database connection lost"),
  });
  let counts = new Map<string, CallCount>();
  let budgets = new Map<string, PartnerBudget>();
  const add = ({ calls = 1, message = null, ...key }: Added) => {
    const id = [key.kind, key.target, key.host, key.method, key.outcome].join(" ");
    const counted = counts.get(id);
    if (counted === undefined) counts.set(id, { ...key, calls, message });
    else {
      counted.calls += calls;
      counted.message = message ?? counted.message;
    }
  };
  const unsubscribe = listenToCalls({
    onCall: add,
    onBudget: (one) => budgets.set(`${one.marketplace} ${one.budget}`, one),
  });
  async function store(): Promise<void> {
    const [counted, used] = [counts, budgets];
    [counts, budgets] = [new Map(), new Map()];
    try {
      await storeCalls(db, role, [...counted.values()], now());
    } catch (error) {
      for (const one of counted.values()) add(one);
      throw error;
    }
    await storeBudgets(db, role, [...used.values()], now());
  }
  let storing = Promise.resolve();
  const timer = setInterval(() => {
    storing = storing.then(store).catch((error: unknown) => {
      logger.debug({ err: error }, "storing call counts failed");
    });
  }, everyMs);
  timer.unref();
  return {
    store,
    async stop() {
      clearInterval(timer);
      unsubscribe();
      await storing;
      await store().catch(() => {});
      await db.destroy();
    },
  };
}
