import type { IntakeCode } from "../intake/intake-codes.ts";
import { rejectField } from "../intake/reject-field.ts";
import type { Rejection } from "../rejection.ts";

/** Each bid is covered by itself; all open bids of a maker together are bounded by a multiple of the balance. */
export function validateExposure(
  bidWei: bigint,
  { openBidsWei, balanceWei }: { openBidsWei: bigint; balanceWei: bigint },
  maxTimes: number,
): Rejection<IntakeCode> | null {
  const totalWei = openBidsWei + bidWei;
  const maxWei = balanceWei * BigInt(maxTimes);
  if (totalWei <= maxWei) return null;
  return rejectField("offer_exposure_exceeded", {
    field: "parameters.offer[0].startAmount",
    expected: `open offers of at most ${maxWei} wei, ${maxTimes} times the balance`,
    actual: `${totalWei}`,
    message: `all open offers of the maker would be ${totalWei} wei; the maximum is ${maxTimes} times the balance of ${balanceWei} wei`,
  });
}
