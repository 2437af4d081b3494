import type { Address, Hex } from "viem";
import { z } from "zod";

const maxUint256 = 2n ** 256n - 1n;
const itemsAtMost = 50;
const signatureBytesAtMost = 4_096;

const digits = z.string().regex(/^(0|[1-9]\d{0,77})$/);
const hexInteger = z.string().regex(/^0x[0-9a-fA-F]{1,64}$/);

/** Partners write integers as decimal strings, as hex and, where they are small, as numbers. */
export const uint256 = z
  .union([digits, hexInteger, z.int().min(0)])
  .transform((value) => BigInt(value))
  .refine((value) => value <= maxUint256, "must be a uint256");

const uint8 = uint256.refine((value) => value < 256n, "must be a uint8").transform(Number);

export const address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .transform((text) => text.toLowerCase() as Address);

export const bytes32 = z
  .string()
  .regex(/^0x[0-9a-fA-F]{64}$/)
  .transform((text) => text.toLowerCase() as Hex);

export const bytes = z
  .string()
  .regex(/^0x([0-9a-fA-F]{2})*$/)
  .max(2 + 2 * signatureBytesAtMost)
  .transform((text) => text.toLowerCase() as Hex);

const offerItem = z.object({
  itemType: uint8,
  token: address,
  identifierOrCriteria: uint256,
  startAmount: uint256,
  endAmount: uint256,
});

/** What is filled: everything signed but the counter. */
export const orderParameters = z.object({
  offerer: address,
  zone: address,
  offer: z.array(offerItem).max(itemsAtMost),
  consideration: z.array(offerItem.extend({ recipient: address })).max(itemsAtMost),
  orderType: uint8,
  startTime: uint256,
  endTime: uint256,
  zoneHash: bytes32,
  salt: uint256,
  conduitKey: bytes32,
});

/** What is signed. */
export const orderComponents = orderParameters.extend({ counter: uint256 });

/** A signature, or null where none is told: some write it as an empty one. */
export const signatureOrNone = bytes
  .nullish()
  .transform((text) => (text === undefined || text === "0x" ? null : text));

/** Where in an answer something is that does not parse, and what is wrong with it. */
export function firstIssue({ issues }: z.ZodError): { path: string; message: string } {
  const [issue] = issues;
  const path = issue === undefined ? "" : issue.path.map(String).join(".");
  return { path: path || "(whole)", message: issue?.message ?? "unknown" };
}
