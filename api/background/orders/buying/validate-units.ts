import { type Rejection, reject } from "#projections/domain/rejection.ts";
import { isFilledWhole } from "#projections/domain/seaport/fill.ts";
import type { OrderComponents } from "#projections/domain/seaport/order-components.ts";

/** Whether so many of the units that can be bought may be bought at once; null: they may. */
export function validateUnits(
  units: bigint,
  fillable: bigint,
  components: OrderComponents,
): Rejection<"bad_amount"> | null {
  if (units > fillable) {
    return reject("bad_amount", `amount: ${fillable} units can be bought now, not ${units}`);
  }
  if (units < fillable && isFilledWhole(components)) {
    return reject("bad_amount", `amount: this order can only be bought whole: ${fillable} units`);
  }
  return null;
}
