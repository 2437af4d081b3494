import type { Address, Hex } from "viem";
import { z } from "zod";
import type { OrderBody } from "../../../../projections/domain/orders/order-body.ts";
import {
  type Rejection,
  type RejectionDetail,
  reject,
} from "../../../../projections/domain/rejection.ts";
import { isRetiredProtocol, namesOtherProtocol } from "../order-protocol.ts";

const maxUint256 = 2n ** 256n - 1n;
const itemsAtMost = 50;
/** 24 levels of a bulk order are 836 bytes; what contracts take for a signature may be longer. */
const signatureBytesAtMost = 4_096;

const decimal = z.string().regex(/^(0|[1-9]\d{0,77})$/, "must be a decimal uint256");
const smallInteger = z.int().min(0);
const hexInteger = z.string().regex(/^0x[0-9a-fA-F]{1,64}$/, "must be a uint256");

const bounded = <Schema extends z.ZodType<string | number>>(schema: Schema) =>
  schema
    .transform((value) => BigInt(value))
    .refine((value) => value <= maxUint256, "must be a decimal uint256");

/** A decimal string; small numbers are taken too. */
const uint256 = bounded(z.union([decimal, smallInteger], "must be a decimal uint256"));
/** Clients write salts as hex. */
const salt = bounded(z.union([decimal, hexInteger, smallInteger], "must be a uint256"));
const uint8 = uint256.refine((value) => value < 256n, "must be a uint8").transform(Number);

const address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, "must be an address")
  .transform((text) => text.toLowerCase() as Address);
const bytes32 = z
  .string()
  .regex(/^0x[0-9a-fA-F]{64}$/, "must be 32 bytes of hex")
  .transform((text) => text.toLowerCase() as Hex);
const bytes = z
  .string()
  .regex(/^0x([0-9a-fA-F]{2})*$/, "must be bytes of hex")
  .max(2 + 2 * signatureBytesAtMost, `must not exceed ${signatureBytesAtMost} bytes`)
  .transform((text) => text.toLowerCase() as Hex);

const offerItem = z.object({
  itemType: uint8,
  token: address,
  identifierOrCriteria: uint256,
  startAmount: uint256,
  endAmount: uint256,
});

const components = z.object({
  offerer: address,
  zone: address,
  offer: z.array(offerItem).max(itemsAtMost),
  consideration: z.array(offerItem.extend({ recipient: address })).max(itemsAtMost),
  orderType: uint8,
  startTime: uint256,
  endTime: uint256,
  zoneHash: bytes32,
  salt,
  conduitKey: bytes32,
  counter: uint256,
});

const parameters = components.extend({ totalOriginalConsiderationItems: uint256.nullish() });
/** None is a refusal of its own, with its own code. */
const signature = bytes.nullish();

const canonical = z.object({ parameters, signature });
const flat = parameters.extend({ signature });
const flatAsCanonical = flat.transform(({ signature, ...rest }) => ({
  parameters: rest,
  signature,
}));

const { $schema: _, ...document } = z.toJSONSchema(z.union([canonical, flat]), { io: "input" });

/** The JSON schema of a signed order, in both of its forms. */
export const signedOrderDocument: Record<string, unknown> = document;

type BodyCode = "bad_structure" | "pp_retired" | "wrong_protocol";

/** A signed order as it came, `{parameters, signature}` or flat; fields it does not need are not looked at. */
export function parseOrder(
  raw: unknown,
  { chainId, envelope }: { chainId: number; envelope: unknown },
): OrderBody | Rejection<BodyCode> {
  if (isRetiredProtocol(raw) || (raw === undefined && isRetiredProtocol(envelope))) {
    return reject("pp_retired", "Orders of the payment processor are no longer taken");
  }
  const parsed = (hasParameters(raw) ? canonical : flatAsCanonical).safeParse(raw);
  if (!parsed.success) return badStructure(parsed.error);
  const other = namesOtherProtocol([raw, envelope], chainId);
  if (other !== null) {
    return reject("wrong_protocol", `${other.field} ${other.message}`, [other]);
  }
  const { totalOriginalConsiderationItems, ...signed } = parsed.data.parameters;
  return {
    components: signed,
    signature: parsed.data.signature ?? "0x",
    totalOriginalConsiderationItems: totalOriginalConsiderationItems ?? null,
  };
}

function hasParameters(raw: unknown): boolean {
  return typeof raw === "object" && raw !== null && "parameters" in raw;
}

const detailsAtMost = 20;

function badStructure({ issues }: z.ZodError): Rejection<"bad_structure"> {
  const details = issues.slice(0, detailsAtMost).map((issue): RejectionDetail => {
    const field = issue.path.length === 0 ? "seaport" : issue.path.map(String).join(".");
    return { field, message: issue.message };
  });
  const [first] = details;
  return reject("bad_structure", `${first?.field}: ${first?.message}`, details);
}
