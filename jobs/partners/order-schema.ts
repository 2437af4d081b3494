import type { Address, Hex } from "viem";
import { z } from "zod";

const maxUint256 = 2n ** 256n - 1n;
const maxItems = 50;
/** 24 levels of a bulk order are 836 bytes; contract signatures may be longer. */
const maxSignatureBytes = 4_096;

const decimal = z.string().regex(/^(0|[1-9]\d{0,77})$/, "must be a decimal uint256");
const smallInteger = z.int().min(0);
const hexInteger = z.string().regex(/^0x[0-9a-fA-F]{1,64}$/, "must be a uint256");

const bounded = <Schema extends z.ZodType<string | number>>(schema: Schema) =>
  schema
    .transform((value) => BigInt(value))
    .refine((value) => value <= maxUint256, "must be a decimal uint256");

/** A decimal string or a small number. */
export const decimalUint256 = bounded(
  z.union([decimal, smallInteger], "must be a decimal uint256"),
).meta({ title: "SignedInteger" });

/** A decimal string, a hex string or a small number. */
export const signedUint256 = bounded(
  z.union([decimal, hexInteger, smallInteger], "must be a uint256"),
);

export const signedAddress = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, "must be an address")
  .transform((text) => text.toLowerCase() as Address);

export const bytes32 = z
  .string()
  .regex(/^0x[0-9a-fA-F]{64}$/, "must be 32 bytes of hex")
  .transform((text) => text.toLowerCase() as Hex);

export const signedBytes = z
  .string()
  .regex(/^0x([0-9a-fA-F]{2})*$/, "must be bytes of hex")
  .max(2 + 2 * maxSignatureBytes, `must not exceed ${maxSignatureBytes} bytes`)
  .transform((text) => text.toLowerCase() as Hex);

/** Clients write Merkle roots as 32 bytes of hex. */
const criteriaRoot = bytes32.transform(BigInt);

/** Refuses fields that it does not have. */
export const closed = <Schema extends z.ZodObject>(schema: Schema): Schema =>
  schema.strict() as unknown as Schema;

/**
 * All signed fields of an order but the counter; `integer` parses its amounts and times. Clients write salts as hex.
 * `close` is applied to every object.
 */
export function orderParametersSchema<Integer extends z.ZodType<bigint>>(
  integer: Integer,
  close: typeof closed = (schema) => schema,
) {
  const uint8 = integer.refine((value) => value < 256n, "must be a uint8").transform(Number);
  const offerItem = z.object({
    itemType: uint8,
    token: signedAddress,
    identifierOrCriteria: z.union([criteriaRoot, integer], "must be a decimal uint256"),
    startAmount: integer,
    endAmount: integer,
  });
  const fields = z.object({
    offerer: signedAddress,
    zone: signedAddress,
    offer: z.array(close(offerItem)).max(maxItems),
    consideration: z.array(close(offerItem.extend({ recipient: signedAddress }))).max(maxItems),
    orderType: uint8,
    startTime: integer,
    endTime: integer,
    zoneHash: bytes32,
    salt: signedUint256,
    conduitKey: bytes32,
  });
  return close(fields);
}
