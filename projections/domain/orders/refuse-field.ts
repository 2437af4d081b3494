import { type Rejection, reject } from "../rejection.ts";
import type { IntakeCode } from "./intake-codes.ts";

/**
 * A refusal that points at one place of an order: `field` is a path such as
 * `parameters.offer[0].token`. Without `because` the message is made of the three.
 */
export function refuseField(
  code: IntakeCode,
  at: { field: string; expected: string; actual: string; because?: string },
): Rejection<IntakeCode> {
  const { field, expected, actual } = at;
  const message = at.because ?? `${field} must be ${expected}, and is ${actual}`;
  return reject(code, message, [{ field, expected, actual, message }]);
}
