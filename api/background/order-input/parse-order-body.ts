import { z } from "zod";
import type { OrderBody } from "../../../projections/domain/orders/order-body.ts";
import {
  type Rejection,
  type RejectionDetail,
  reject,
} from "../../../projections/domain/rejection.ts";
import { isRetiredProtocol, namesOtherProtocol } from "./order-protocol.ts";
import { bytes, decimalUint256, orderParametersSchema } from "./order-schema.ts";

const components = orderParametersSchema(decimalUint256).extend({ counter: decimalUint256 });
const parameters = components.extend({ totalOriginalConsiderationItems: decimalUint256.nullish() });
/** A missing signature is rejected later, with its own code. */
const signature = bytes.nullish();

const canonical = z.object({ parameters, signature });
const flat = parameters.extend({ signature });
const flatAsCanonical = flat.transform(({ signature, ...rest }) => ({
  parameters: rest,
  signature,
}));

const { $schema: _, ...document } = z.toJSONSchema(z.union([canonical, flat]), { io: "input" });

/** JSON schema of a signed order in both of its forms. */
export const signedOrderDocument: Record<string, unknown> = document;

type BodyCode = "bad_structure" | "pp_retired" | "wrong_protocol";

/** Parses a signed order, `{parameters, signature}` or flat; other fields are ignored. */
export function parseOrderBody(
  raw: unknown,
  { chainId, envelope }: { chainId: number; envelope: unknown },
): OrderBody | Rejection<BodyCode> {
  if (isRetiredProtocol(raw) || (raw === undefined && isRetiredProtocol(envelope))) {
    return reject("pp_retired", "Payment Processor orders are no longer accepted");
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

const maxDetails = 20;

function badStructure({ issues }: z.ZodError): Rejection<"bad_structure"> {
  const details = issues.slice(0, maxDetails).map((issue): RejectionDetail => {
    const field = issue.path.length === 0 ? "seaport" : issue.path.map(String).join(".");
    return { field, message: issue.message };
  });
  const [first] = details;
  return reject("bad_structure", `${first?.field}: ${first?.message}`, details);
}
