import type { Address, Hex } from "viem";
import type { OrderStatus } from "#projections/domain/orders/order-status.ts";
import { type Rejection, reject } from "#projections/domain/rejection.ts";
import type { SignedOrder } from "#projections/domain/seaport/order-components.ts";
import type { AcceptedOrder } from "#projections/orders/read-signed-orders.ts";
import type { ChainQuery } from "#jobs/chain/chain-query.ts";
import type { ChainResults } from "#jobs/chain/query-chain.ts";
import { chainUnavailable } from "../market/query-chain-or-reject.ts";

export type CheckedOrder = AcceptedOrder & { orderHash: Hex };

export type EndCode = "order_filled" | "order_cancelled" | "order_expired";
type OrderCode =
  | EndCode
  | "not_started"
  | "contract_signature_invalid"
  | "transfer_restricted"
  | "rpc_unavailable";

/** Order status, the maker's counter, the validity of the signature, and whether recipients take what they get. */
export function orderQueries(order: CheckedOrder) {
  const { orderHash, components, signature } = order;
  return {
    status: { kind: "order_status_read", orderHash },
    counter: { kind: "counter_read", maker: components.offerer },
    signature: {
      kind: "signature_read",
      orderHash,
      maker: components.offerer,
      order: { components, signature },
    },
    recipients: recipientsQuery(order),
  } as const satisfies Record<string, ChainQuery>;
}

/** Whether whom the order pays, or who bids for ERC-1155 units, takes what the order sends. */
export function recipientsQuery({
  orderHash,
  components,
  signature,
}: SignedOrder & { orderHash: Hex }) {
  return { kind: "recipients_read", orderHash, order: { components, signature } } as const;
}

/** Unfilled units of the order, regardless of balances; or why the exchange would not fill it. */
export function evaluateOrder(
  order: CheckedOrder,
  results: ChainResults,
  now: Date,
): bigint | Rejection<OrderCode> {
  const { components, terms } = order;
  const queries = orderQueries(order);
  const status = results.find(queries.status);
  const counter = results.find(queries.counter);
  if (status === undefined || counter === undefined) return chainUnavailable();
  const filledUnits = status.size === 0n ? 0n : (terms.quantity * status.filled) / status.size;
  if (filledUnits >= terms.quantity) return ended.filled();
  if (status.cancelled || counter.counter !== components.counter) return ended.cancelled();
  const signature = results.find(queries.signature);
  // The maker's contract may have used up its time or gas: nobody knows whether the exchange would fill the order.
  if (signature === undefined) return chainUnavailable();
  if (!signature.valid) {
    return reject(
      "contract_signature_invalid",
      "The maker's contract rejects the signature (EIP-1271)",
    );
  }
  return (
    evaluateTimes(order, results, now) ??
    evaluateRecipients(results.find(queries.recipients)) ??
    terms.quantity - filledUnits
  );
}

/** An unknown answer does not reject: nodes need not be able to simulate a payment. */
function evaluateRecipients(read: { refusing: Address | null } | undefined) {
  if (!read?.refusing) return null;
  const message = `The contract ${read.refusing} rejects the payment or the tokens that the order sends it`;
  return reject("transfer_restricted", message);
}

/** Uses the later of our clock and the latest block, which is old when nothing was mined for a while. */
function evaluateTimes(order: CheckedOrder, { basis }: ChainResults, now: Date) {
  const { startTime, endTime } = order.components;
  const mined = basis.timestamp;
  const seconds = BigInt(Math.floor(Math.max(now.getTime(), mined.getTime()) / 1000));
  if (endTime <= seconds) return ended.expired();
  if (startTime > seconds) return reject("not_started", "The order has not started yet");
  return null;
}

const ended = {
  filled: () => reject("order_filled", "The order is filled"),
  cancelled: () => reject("order_cancelled", "The order is cancelled"),
  expired: () => reject("order_expired", "The order has expired"),
};

/** Why an order is not fillable according to its stored state; null: it is. */
export function evaluateStoredOrder<Reason extends string>({
  status,
  reason,
}: {
  status: OrderStatus;
  reason: Reason | null;
}): Rejection<EndCode | Reason | "not_started"> | null {
  if (status === "active") return null;
  if (status !== "inactive") return ended[status]();
  const code = reason ?? "not_started";
  return reject(code, `The order is inactive: ${code}`);
}
