import { encodeFunctionData } from "viem";
import { exchangeAbi } from "../abis.ts";
import { type Clients, callOptions } from "../clients.ts";
import { exchange } from "../exchange.ts";
import type { OrderRef } from "./actions.ts";
import type { Call, Plan } from "./plan.ts";
import { planOf, Steps } from "./steps.ts";

/** Named orders, or all of the account on every marketplace. */
export type CancelItems =
  | { readonly askIds?: readonly string[]; readonly bidIds?: readonly string[] }
  | { readonly all: true };

export type CallerOptions = { readonly signal?: AbortSignal };

/** Raises the counter, which all of the account's signatures name. */
export const cancelAllCall: Call = {
  to: exchange,
  data: encodeFunctionData({ abi: exchangeAbi, functionName: "incrementCounter" }),
  valueWei: 0n,
};

export async function planCancel(
  clients: Clients,
  items: CancelItems,
  options: CallerOptions,
): Promise<Plan> {
  const steps = new Steps();
  if ("all" in items) {
    const description = "Cancel all your orders on every marketplace by raising your counter";
    const orders = await listOpenOrders(clients, options);
    steps.send({ name: "cancelAll" }, description, orders, cancelAllCall);
  } else addCancellations(steps, refsOf(items));
  return planOf(clients, "cancel", steps);
}

/** A transaction may use 16,777,216 gas (EIP-7825), so that more orders are cancelled by several. */
export const mostCancelled = 200;

export function addCancellations(steps: Steps, orders: readonly OrderRef[]): void {
  for (let start = 0; start < orders.length; start += mostCancelled) {
    const part = orders.slice(start, start + mostCancelled);
    const what = part.length === 1 ? "the order" : `${part.length} orders`;
    steps.send({ name: "cancel", orders: part }, `Cancel ${what} on the chain`, part);
  }
}

function refsOf({ askIds = [], bidIds = [] }: Exclude<CancelItems, { all: true }>): OrderRef[] {
  const asks = askIds.map((id): OrderRef => ({ side: "ask", id }));
  return [...asks, ...bidIds.map((id): OrderRef => ({ side: "bid", id }))];
}

/** The most orders of a side that are synced after their counter was raised; the order book sees the others by itself. */
const mostSynced = 20;

async function listOpenOrders(
  { api, maker }: Clients,
  options: CallerOptions,
): Promise<OrderRef[]> {
  const query = { maker, per_page: mostSynced } as const;
  const [asks, bids] = await Promise.all([
    api.get("/v1/listings", { ...query, marketplace: "native" }, callOptions(options)),
    api.get("/v1/bids", query, callOptions(options)),
  ]);
  return [
    ...asks.data.map(({ askId }): OrderRef => ({ side: "ask", id: askId })),
    ...bids.data.map(({ bidId }): OrderRef => ({ side: "bid", id: bidId })),
  ];
}
