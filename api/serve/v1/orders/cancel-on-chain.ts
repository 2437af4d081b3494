import { reject } from "../../../../projections/domain/rejection.ts";

export const cancelRefusals = { bad_structure: 422, cancel_on_chain: 409 } as const;

/** The service holds no order back that its maker has signed: only the exchange can. */
export async function refuseCancel() {
  return reject(
    "cancel_on_chain",
    "Only its maker can cancel an order, by the exchange's cancel or incrementCounter; then ask for a sync",
  );
}
