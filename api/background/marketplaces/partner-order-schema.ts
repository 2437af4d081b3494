import type { z } from "zod";
import { bytes, orderParametersSchema, uint256 } from "../order-input/order-schema.ts";

/** What a fulfillment contains: all signed fields but the counter. Partners write integers as decimal, hex or numbers. */
export const orderParameters = orderParametersSchema(uint256);

/** All signed fields. */
export const orderComponents = orderParameters.extend({ counter: uint256 });

/** A signature, or null: some partners write a missing one as `0x`. */
export const signatureOrNone = bytes
  .nullish()
  .transform((text) => (text === undefined || text === "0x" ? null : text));

/** Path and message of the first problem of an unparsable response. */
export function firstIssue({ issues }: z.ZodError): { path: string; message: string } {
  const [issue] = issues;
  const path = issue === undefined ? "" : issue.path.map(String).join(".");
  return { path: path || "(whole)", message: issue?.message ?? "unknown" };
}
