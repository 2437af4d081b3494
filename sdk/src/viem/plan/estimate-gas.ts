import type { Clients } from "../clients.ts";
import type { PlannedAction } from "./actions.ts";
import { callOfFixed, isFixed } from "./fixed-call.ts";
import type { Call, Step } from "./plan.ts";

/** What the exchange needs for common tokens, rounded up. */
const typicalUnits: Readonly<Record<PlannedAction["name"], bigint>> = {
  buy: 250_000n,
  sweep: 60_000n,
  accept: 300_000n,
  cancel: 35_000n,
  cancelAll: 60_000n,
};
const typicalApproval = 60_000n;
/** Of each order that is cancelled or bought with others, beside the transaction. */
const unitsPerCancel = 35_000n;
const unitsPerSwept = 160_000n;

/**
 * The steps with what their transactions will cost: as the node estimates those that can be simulated already, and as is
 * typical for those which need a step before them.
 */
export async function estimateGas(
  { publicClient, account }: Clients,
  steps: readonly Step[],
  calls: ReadonlyMap<string, Call>,
): Promise<Step[]> {
  const isFree = (step: Step) => !step.paysGas || (step.kind === "approve" && step.isApproved);
  if (steps.every(isFree)) return [...steps];
  const priceWei = await publicClient.getGasPrice();
  const needsApproval = steps.some((step) => step.kind === "approve" && !step.isApproved);

  async function estimate(step: Step): Promise<bigint> {
    const isSimulated = isFixed(step) || !needsApproval;
    const call = isFixed(step) ? callOfFixed(step) : calls.get(step.id);
    if (call === undefined || !isSimulated) return typicalOf(step);
    const { to, data, valueWei: value } = call;
    // It would fail as things are, for want of money or as it is sold: its own step says so.
    return publicClient
      .estimateGas({ account: account.address, to, data, value })
      .catch(() => typicalOf(step));
  }
  const estimated = async (step: Step): Promise<Step> => {
    if (isFree(step)) return step;
    const gasWei = `${(await estimate(step)) * priceWei}`;
    return { ...step, costs: { ...step.costs, gasWei } };
  };
  return Promise.all(steps.map(estimated));
}

function typicalOf(step: Step): bigint {
  if (step.kind !== "send") return typicalApproval;
  const { action } = step;
  const orders = action.name === "cancel" ? action.orders.length : 0;
  const swept = action.name === "sweep" ? action.items.length : 0;
  const ofOrders = BigInt(orders) * unitsPerCancel + BigInt(swept) * unitsPerSwept;
  return typicalUnits[action.name] + ofOrders;
}
