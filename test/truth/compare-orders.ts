import type { ChainId } from "#chains/index.ts";
import type { FillAttempt } from "./fill-calls.ts";
import { type FillResult, simulateFills } from "./simulate-fills.ts";
import { nftOf, readListed, readShown, type Shown, type StoredOrder } from "./stored-order.ts";

/** An order that the API shows differently from what the exchange would do. */
export type Disagreement = {
  order: StoredOrder;
  shown: Shown;
  /** What is wrong with the shown order. */
  problem: string;
};

type Comparison = {
  disagreements: Disagreement[];
  /** What the API shows of each order, in their order. */
  shown: readonly Shown[];
};

type ApiAndNode = { baseUrl: string; chainId: ChainId; rpcUrl: string };

const concurrentReads = 6;
/** Number of orders from which on the lists are read. */
const listsFrom = 50;

/**
 * Compares what the API shows of every order with what the exchange would do, both now. `now` is unix seconds. Orders
 * of a token of which one starts or ends between the two answers are compared again.
 */
export async function compareOrders(
  source: ApiAndNode,
  orders: readonly StoredOrder[],
  now: () => number,
): Promise<Comparison> {
  const from = now();
  const shown = await readAll(source, orders);
  const to = now();
  const attempts = orders.map((order, index) => attemptOf(order, shown[index] as Shown));
  const results = await simulateFills(source.rpcUrl, attempts, to);
  const findings = orders.flatMap((order, index) => {
    const one = { order, shown: shown[index] as Shown };
    const problem = compare(one, attempts[index] as FillAttempt, results[index] as FillResult);
    return problem === null ? [] : [{ ...one, problem }];
  });
  const disagreements = [...findings, ...compareSuperseded(orders, shown)];
  const moving = groupsWithBoundary(orders, from, to);
  const isMoving = (order: StoredOrder) => moving.has(groupOf(order));
  if (!disagreements.some(({ order }) => isMoving(order))) return { disagreements, shown };
  const again = await compareOrders(source, orders.filter(isMoving), now);
  const others = disagreements.filter(({ order }) => !isMoving(order));
  return { disagreements: [...others, ...again.disagreements], shown };
}

/** The groups of which an order started or ended after `from` and up to `to` (unix seconds). */
export function groupsWithBoundary(
  orders: readonly StoredOrder[],
  from: number,
  to: number,
): Set<string> {
  const isWithin = (time: bigint) => Number(time) > from && Number(time) <= to;
  const moving = orders.filter(
    ({ components: { startTime, endTime } }) => isWithin(startTime) || isWithin(endTime),
  );
  return new Set(moving.map(groupOf));
}

/** Many are read from the lists of open orders, and those that these do not have one by one. */
async function readAll(source: ApiAndNode, orders: readonly StoredOrder[]): Promise<Shown[]> {
  const listed = new Map<string, Shown>();
  if (orders.length > listsFrom) {
    for (const side of ["listings", "bids"] as const) {
      for (const status of ["active", "inactive"] as const) {
        for (const [id, one] of await readListed(source, side, status)) listed.set(id, one);
      }
    }
  }
  const shown: Shown[] = [];
  const queue = orders.entries();
  const work = async () => {
    for (const [index, order] of queue)
      shown[index] = listed.get(order.id) ?? (await readShown(source, order));
  };
  await Promise.all(Array.from({ length: concurrentReads }, work));
  return shown;
}

const isFillable = ({ status, reason }: Shown) => status === "active" || reason === "superseded";

/**
 * A fillable order is tried with all units shown as fillable, others with the least possible. A bid is inactive when
 * its maker cannot pay for all remaining units, so all of them are tried.
 */
function attemptOf(order: StoredOrder, shown: Shown): FillAttempt {
  const { quantity } = nftOf(order);
  if (isFillable(shown)) {
    return { order, units: order.side === "listings" ? shown.fillable : shown.remaining };
  }
  if (order.side === "bids" && shown.status === "inactive") {
    return { order, units: shown.remaining };
  }
  return { order, units: order.components.orderType === 1 ? 1n : quantity };
}

function compare(
  { order, shown }: { order: StoredOrder; shown: Shown },
  { units }: FillAttempt,
  { fills, revertData, filled, held }: FillResult,
): string | null {
  if (filled !== shown.filled) return `${filled} units are filled`;
  if (fills && !isFillable(shown)) return `it fills with ${units} units`;
  if (!fills && isFillable(shown)) return `${units} units do not fill: ${revertData.slice(0, 74)}`;
  const left = nftOf(order).quantity - filled;
  const fillable = order.side === "bids" || left < held ? left : held;
  return !isFillable(shown) || units === fillable ? null : `${fillable} units could be filled`;
}

/** Of a maker's listings of one token exactly one is active, the cheapest. */
function compareSuperseded(
  orders: readonly StoredOrder[],
  shown: readonly Shown[],
): Disagreement[] {
  const groups = new Map<string, { order: StoredOrder; shown: Shown }[]>();
  for (const [index, order] of orders.entries()) {
    const one = { order, shown: shown[index] as Shown };
    if (order.side === "bids" || !isFillable(one.shown)) continue;
    const key = groupOf(order);
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return [...groups.values()].flatMap((group) => {
    const active = group.filter((one) => one.shown.status === "active");
    const [best] = active;
    if (best === undefined || active.length > 1) {
      return group.map((one) => ({ ...one, problem: `${active.length} of its token are active` }));
    }
    const cheaper = group.filter((one) => unitWei(one.order) < unitWei(best.order));
    return cheaper.map((one) => ({ ...one, problem: "it is cheaper than the active one" }));
  });
}

/** Listings of which one supersedes the others. */
export function groupOf(order: StoredOrder): string {
  const { contract, tokenId } = nftOf(order);
  return [contract, tokenId, order.components.offerer].join("/");
}

function unitWei({ components, ...order }: StoredOrder): bigint {
  const wholeWei = components.consideration.reduce((sum, leg) => sum + leg.startAmount, 0n);
  return wholeWei / nftOf({ components, ...order }).quantity;
}
