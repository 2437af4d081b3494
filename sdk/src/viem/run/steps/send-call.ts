import { type Address, encodeFunctionData, type Hex } from "viem";
import { exchangeAbi } from "../../abis.ts";
import { encodeAcceptance } from "../../checks/check-acceptance.ts";
import { checkOrderId } from "../../checks/check-order-id.ts";
import { checkPurchase } from "../../checks/check-purchase.ts";
import { callOptions } from "../../clients.ts";
import { exchange, isSame, type OrderComponents, orderHash } from "../../exchange.ts";
import type {
  AcceptAction,
  BuyAction,
  CancelAction,
  OrderRef,
  PlannedAction,
  SweepAction,
} from "../../plan/actions.ts";
import { cancelAllCall } from "../../plan/cancel.ts";
import { parseComponents } from "../../plan/components.ts";
import type { Call, SendStep } from "../../plan/plan.ts";
import { sweepAgain } from "../../plan/sweep.ts";
import { assertSafe, checked, WalletError } from "../../wallet-error.ts";
import type { Run } from "../context.ts";

export const callOfSend = (run: Run, step: SendStep): Promise<Call> =>
  step.action.name === "sweep" ? sweepCall(run, step, step.action) : callOf(run, step.action);

/** The call as the API returns it now, after it was checked against the plan. */
function callOf(run: Run, action: Exclude<PlannedAction, SweepAction>): Promise<Call> {
  switch (action.name) {
    case "buy":
      return buyCall(run, action);
    case "accept":
      return acceptCall(run, action);
    case "cancel":
      return cancelCall(run, action);
    case "cancelAll":
      return Promise.resolve(cancelAllCall);
  }
}

/** What is left of the sweep; what is not is named with the step. */
async function sweepCall(run: Run, step: SendStep, action: SweepAction): Promise<Call> {
  const { call, missed } = await sweepAgain(run, action, run.options);
  await run.store(() => {
    step.missed = missed;
  });
  if (call !== null) return call;
  const [first] = missed;
  const message = `None of its listings can be bought any more: ${first?.message}`;
  throw new WalletError("blocked", message, { reason: first?.code ?? "unavailable" });
}

const toExchange = (data: Hex): Call => ({ to: exchange, data, valueWei: 0n });

/** More units than a number holds can only be all that are left, which is what is meant when none are named. */
const amountOf = (quantity: string): { amount?: number } =>
  Number.isSafeInteger(Number(quantity)) ? { amount: Number(quantity) } : {};

async function buyCall(run: Run, action: BuyAction): Promise<Call> {
  const { api, plan, options } = run;
  const { askId, quantity, priceWei } = action;
  const { data: call } = await api.post(
    "/v1/listings/{askId}/buy-data",
    { askId, buyer: plan.account, ...amountOf(quantity), maxPriceWei: priceWei },
    callOptions(options),
  );
  checked(() => checkPurchase(call, action, plan.account));
  await checkOrderId(run, call, askId);
  // As it came: it is checked, and not made anew.
  return { to: call.to as Address, data: call.data as Hex, valueWei: BigInt(call.value) };
}

async function acceptCall({ api, plan, options }: Run, action: AcceptAction): Promise<Call> {
  const { bidId, tokenId, quantity } = action;
  const { data } = await api.post(
    "/v1/bids/{bidId}/accept-data",
    { bidId, fulfiller: plan.account, tokenId, ...amountOf(quantity) },
    callOptions(options),
  );
  return checked(() => toExchange(encodeAcceptance(data, action, plan.account)));
}

async function cancelCall(run: Run, action: CancelAction): Promise<Call> {
  const orders: OrderComponents[] = [];
  for (const ref of action.orders) orders.push(await fetchOrder(run, ref));
  const args = [orders] as const;
  return toExchange(encodeFunctionData({ abi: exchangeAbi, functionName: "cancel", args }));
}

/** The id ends with the hash of what was answered: it is the caller who named somebody else's order. */
function notMaker(id: string, maker: Address): WalletError {
  const message = `${id} is an order of ${maker}: only its maker can cancel it`;
  return new WalletError("blocked", message, { reason: "not_maker" });
}

/** The order of that id and no other: the id ends with its hash. */
async function fetchOrder({ api, plan, options }: Run, { side, id }: OrderRef) {
  const { data } =
    side === "ask"
      ? await api.get("/v1/orders/asks/{askId}/components", { askId: id }, callOptions(options))
      : await api.get("/v1/orders/bids/{bidId}/components", { bidId: id }, callOptions(options));
  return checked(() => {
    const order = parseComponents(data.components);
    assertSafe(id.toLowerCase().endsWith(orderHash(order)), `${id} is another order`);
    if (!isSame(order.offerer, plan.maker)) throw notMaker(id, order.offerer);
    return order;
  });
}
