import type { Address } from "viem";
import type { Clients } from "../clients.ts";
import { bidCurrency } from "../exchange.ts";
import type { Plan } from "./plan.ts";
import { planOf, Steps } from "./steps.ts";

export type ApproveItems = {
  /** Contracts whose tokens are to be listed or sold into bids. */
  readonly contracts?: readonly Address[];
  /** What bids may take in WETH or WAPE, in all. */
  readonly offersWei?: bigint;
};

export async function planApprove(clients: Clients, items: ApproveItems): Promise<Plan> {
  const steps = new Steps();
  await steps.approveTokens(clients, items.contracts ?? []);
  if (items.offersWei !== undefined)
    await steps.approveAmount(clients, bidCurrency[clients.api.chainId], items.offersWei);
  return planOf(clients, "approve", steps);
}
