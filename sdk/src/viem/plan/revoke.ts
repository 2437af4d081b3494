import type { Address } from "viem";
import type { Clients } from "../clients.ts";
import { bidCurrency } from "../exchange.ts";
import type { Plan } from "./plan.ts";
import { demandOwnAccount, planOf, Steps } from "./steps.ts";

/** Approvals that are taken back. */
export type RevokeItems = {
  /** Contracts whose tokens the marketplaces' conduit may move. */
  readonly contracts?: readonly Address[];
  /** What the exchange may take in WETH or WAPE. */
  readonly offers?: boolean;
};

export async function planRevoke(
  clients: Clients,
  { contracts = [], offers = false }: RevokeItems,
): Promise<Plan> {
  demandOwnAccount(clients);
  const steps = new Steps();
  for (const contract of contracts) steps.revokeTokens(contract);
  if (offers) steps.revokeAmount(bidCurrency[clients.api.chainId]);
  return planOf(clients, "revoke", steps);
}
