import type { Hex } from "viem";
import type { OrderStatus } from "../../../../projections/domain/orders/order-status.ts";
import { type Rejection, reject } from "../../../../projections/domain/rejection.ts";
import type { StoredOrder } from "../../../../projections/reads/orders/read-signed-order.ts";
import type { ChainAnswers } from "../../chain/ask-chain.ts";
import type { Question } from "../../chain/questions.ts";

export type CheckedOrder = StoredOrder & { orderHash: Hex };

export type EndCode = "order_filled" | "order_cancelled" | "order_expired";
type OrderCode = EndCode | "not_started" | "contract_signature_invalid" | "rpc_unavailable";

/** What the exchange tells of an order, its maker's counter and its signature. */
export function orderQuestions(order: CheckedOrder) {
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
  } as const satisfies Record<string, Question>;
}

/** Units of the order that nobody has taken yet, whoever holds them; or why the exchange would not fill it. */
export function judgeOrder(
  order: CheckedOrder,
  answers: ChainAnswers,
  now: Date,
): bigint | Rejection<OrderCode> {
  const { components, terms } = order;
  const questions = orderQuestions(order);
  const status = answers.find(questions.status);
  const counter = answers.find(questions.counter);
  if (status === undefined || counter === undefined) return unanswered();
  const takenUnits = status.size === 0n ? 0n : (terms.quantity * status.filled) / status.size;
  if (takenUnits >= terms.quantity) return ended.filled();
  if (status.cancelled || counter.counter !== components.counter) return ended.cancelled();
  if (answers.find(questions.signature)?.valid === false) {
    return reject("contract_signature_invalid", "Its maker does not stand by the signature");
  }
  return judgeTimes(order, answers, now) ?? terms.quantity - takenUnits;
}

/** The chain's own time may be ahead of ours; behind it is when nothing was mined for a while. */
function judgeTimes(order: CheckedOrder, { basis }: ChainAnswers, now: Date) {
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

/** Why an order of the book is not fillable as it stands there; null: it is. */
export function judgeStored<Reason extends string>({
  status,
  reason,
}: {
  status: OrderStatus;
  reason: Reason | null;
}): Rejection<EndCode | Reason | "not_started"> | null {
  if (status === "active") return null;
  if (status !== "inactive") return ended[status]();
  const because = reason ?? "not_started";
  return reject(because, `The order is inactive: ${because}`);
}

export function unanswered(): Rejection<"rpc_unavailable"> {
  return reject("rpc_unavailable", "The chain did not answer; try again");
}
