import { type Rejection, reject } from "../rejection.ts";
import type { IntakeCode } from "./intake-codes.ts";

/**
 * A rejection of one field of an order: `field` is a path such as `parameters.offer[0].token`.
 * Without `message` one is composed of the three values.
 */
export function rejectField(
  code: IntakeCode,
  at: { field: string; expected: string; actual: string; message?: string },
): Rejection<IntakeCode> {
  const { field, expected, actual } = at;
  const message = at.message ?? `${field} must be ${expected}, and is ${actual}`;
  return reject(code, message, [{ field, expected, actual, message }]);
}
