import type { Clients } from "../clients.ts";
import { wrongArgument } from "../wallet-error.ts";
import type { Plan } from "./plan.ts";
import { demandOwnAccount, planOf, Steps } from "./steps.ts";

/** What of the native coin becomes WETH or WAPE, which bids are paid in. */
export type WrapItems = { readonly wei: bigint };

export async function planWrap(clients: Clients, { wei }: WrapItems): Promise<Plan> {
  demandOwnAccount(clients);
  if (wei <= 0n) throw wrongArgument(`${wei} wei cannot be wrapped`);
  const steps = new Steps();
  steps.wrap(clients.api.chainId, wei);
  return planOf(clients, "wrap", steps);
}
