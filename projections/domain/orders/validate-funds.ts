import { seaport } from "#abis/deployments.ts";
import type { IntakeCode } from "../intake/intake-codes.ts";
import { rejectField } from "../intake/reject-field.ts";
import type { Rejection } from "../rejection.ts";
import type { OrderIntent } from "./parsed-order.ts";

export type BidFunds = {
  /** The maker's, of the bid's currency. */
  balanceWei: bigint;
  /** From the maker to the exchange itself. */
  allowanceWei: bigint;
  /** What the maker's other open bids may spend of the same allowance. */
  openBidsWei: bigint;
};

/** The balance must cover this bid alone, the allowance every other open one too. */
export function validateFunds(order: OrderIntent, state: BidFunds): Rejection<IntakeCode> | null {
  const { balanceWei, allowanceWei, openBidsWei } = state;
  const bidWei = order.unitPriceWei * order.quantity;
  const field = "parameters.offer[0].startAmount";
  if (balanceWei < bidWei) {
    return rejectField("insufficient_balance", {
      field,
      expected: `at most the balance, ${balanceWei}`,
      actual: `${bidWei}`,
      message: `the bid offers ${bidWei} wei and ${order.maker} has ${balanceWei} of the currency`,
    });
  }
  const requiredWei = openBidsWei + bidWei;
  if (allowanceWei >= requiredWei) return null;
  return rejectField("insufficient_allowance", {
    field,
    expected: `an allowance of at least ${requiredWei}`,
    actual: `${allowanceWei}`,
    message: `${order.maker} must allow the exchange ${seaport["1.6"]} to spend ${requiredWei} wei, ${openBidsWei} of it for open bids, and allows ${allowanceWei}`,
  });
}
