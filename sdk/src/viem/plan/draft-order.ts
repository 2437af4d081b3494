import { bytesToHex, zeroAddress, zeroHash } from "viem";
import type { components } from "../../document.ts";
import { checkOrder } from "../checks/check-order.ts";
import { type Clients, callOptions } from "../clients.ts";
import { conduitKey } from "../exchange.ts";
import { readCounter } from "../read-approvals.ts";
import { assertSafe, checked, WalletError } from "../wallet-error.ts";
import type { PlannedOrder } from "./actions.ts";
import { parseComponents } from "./components.ts";
import type { RefusedItem } from "./plan.ts";

/** What all orders of a plan have in common. */
export type Header = {
  readonly clients: Clients;
  readonly counter: bigint;
  /** First four bytes of the salt, by which the marketplace is known on the chain. */
  readonly saltPrefix: string;
  /** Unix seconds. */
  readonly startTime: number;
  /** From when the duration is counted. */
  readonly durationFrom: number;
};

export async function readHeader(
  clients: Clients,
  options: { readonly signal?: AbortSignal },
): Promise<Header> {
  const [counter, head, { data }] = await Promise.all([
    // From the chain: an order that is valid only with a later counter could be used then.
    readCounter(clients),
    clients.publicClient.getBlock(),
    clients.api.get("/v1/orders/params", {}, callOptions(options)),
  ]);
  const isPrefix = /^0x[0-9a-f]{8}$/.test(data.saltPrefix);
  checked(() => assertSafe(isPrefix, "`saltPrefix` is not four bytes of hex"));
  const now = Math.floor(Date.now() / 1_000);
  // The exchange goes by the time of the newest block, which is behind ours: the order is to be valid at once.
  const startTime = Math.min(now, Number(head.timestamp));
  const isRecent = startTime >= now - data.bounds.clockSkewSeconds;
  const durationFrom = isRecent ? startTime : now;
  return { clients, counter, saltPrefix: data.saltPrefix, startTime, durationFrom };
}

type Requirement = Pick<
  components["schemas"]["ListingRequirement"],
  "offer" | "consideration" | "orderType" | "blocked" | "message"
> & { readonly criteria?: { readonly tokenIds: readonly string[] } | null };

/** What the caller wants, not what was answered. */
export type Intent = Omit<PlannedOrder, "components" | "netWei"> & {
  readonly days: number;
  /** The least that the seller must receive in all. */
  readonly minNetWei: bigint;
};

export type DraftedOrders = { readonly orders: PlannedOrder[]; readonly refused: RefusedItem[] };

type Drafting = {
  readonly start: number;
  readonly drafted: DraftedOrders;
  /** A code that does not hold any more when the plan is carried out. */
  readonly tolerated?: string | undefined;
};

/** Adds the orders of a part of the items, which begins at `start`, or why the order book would reject them. */
export function draftOrders(
  header: Header,
  intents: readonly Intent[],
  rows: readonly Requirement[],
  { start, drafted, tolerated }: Drafting,
): void {
  for (const [index, intent] of intents.entries()) {
    const row = rows[index];
    if (row === undefined) throw new WalletError("unsafe_answer", "Items are missing");
    const { blocked: code, message } = row;
    if (code === null || code === tolerated) drafted.orders.push(draftOrder(header, intent, row));
    else drafted.refused.push({ index: start + index, code, message: message ?? code });
  }
}

const secondsPerDay = 86_400;

/** The order that the API describes, after it was checked against what the caller wants. */
function draftOrder(
  { clients, counter, saltPrefix, startTime, durationFrom }: Header,
  { days, minNetWei, ...wanted }: Intent,
  { offer, consideration, orderType, criteria }: Requirement,
): PlannedOrder {
  const { maker, api } = clients;
  const drafted = checked(() => {
    assertSafe(
      offer !== null && consideration !== null && orderType !== null,
      "nothing can be signed",
    );
    const intent = { ...wanted, ...criteriaOf(wanted, criteria?.tokenIds) };
    const components = {
      offerer: maker,
      zone: zeroAddress,
      offer,
      orderType,
      consideration: consideration.map((leg) => ({ ...leg, recipient: leg.recipient ?? maker })),
      startTime: `${startTime}`,
      endTime: `${durationFrom + Math.round(days * secondsPerDay)}`,
      zoneHash: zeroHash,
      salt: `${BigInt(saltPrefix + randomHex(28))}`,
      conduitKey: intent.side === "ask" ? conduitKey : zeroHash,
      counter: `${counter}`,
    };
    const order = { ...intent, netWei: netOf(intent, components), components };
    checkOrder(parseComponents(components), { ...order, chainId: api.chainId, maker });
    return order;
  });
  demandNet(drafted, minNetWei);
  return drafted;
}

/** Tokens that the caller named are those; which have its traits only the answer says. */
function criteriaOf({ criteria }: Pick<PlannedOrder, "criteria">, answer: readonly string[] = []) {
  if (criteria === undefined) return {};
  const tokenIds = criteria.tokenIds.length > 0 ? criteria.tokenIds : answer;
  assertSafe(tokenIds.length > 0, "it names no tokens");
  return { criteria: { ...criteria, tokenIds: tokenIds.map(String) } };
}

/** Throws when a sale brings less than the caller demands. */
export function demandNet({ netWei }: { readonly netWei: string }, minNetWei: bigint): void {
  if (BigInt(netWei) >= minNetWei) return;
  const message = `The seller would receive ${netWei} wei, less than ${minNetWei}`;
  throw new WalletError("price_limit", message);
}

const randomHex = (bytes: number) =>
  bytesToHex(crypto.getRandomValues(new Uint8Array(bytes))).slice(2);

type Legs = {
  readonly consideration: readonly { readonly startAmount: string }[];
};

/** The first payment of a listing is its seller's; of a bid the seller receives what the fees leave. */
function netOf(
  { side, unitPriceWei, quantity }: Omit<Intent, "days" | "minNetWei">,
  { consideration }: Legs,
) {
  const [first, ...fees] = consideration;
  if (side === "ask") return first?.startAmount ?? "0";
  const feesWei = fees.reduce((sum, { startAmount }) => sum + BigInt(startAmount), 0n);
  return `${BigInt(unitPriceWei) * BigInt(quantity) - feesWei}`;
}
