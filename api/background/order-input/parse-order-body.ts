import { z } from "zod";
import type { OrderBody } from "#projections/domain/orders/order-terms.ts";
import { type Rejection, type RejectionDetail, reject } from "#projections/domain/rejection.ts";
import { isRetiredProtocol, namesOtherProtocol, protocolNames } from "./order-protocol.ts";
import { bytes, closed, decimalUint256, orderParametersSchema } from "#jobs/partners/order-schema.ts";

const components = orderParametersSchema(decimalUint256, closed).extend({
  counter: decimalUint256,
});
const parameters = components.extend({ totalOriginalConsiderationItems: decimalUint256.nullish() });
/** A missing signature is rejected later, with its own code, unless the order is validated on chain. */
const signature = z.union([z.literal("").transform(() => "0x" as const), bytes]).nullish();

const canonical = z.strictObject({ parameters, signature, ...protocolNames });
const flat = parameters.extend({ signature, ...protocolNames });
const flatAsCanonical = flat.transform(({ signature, ...rest }) => ({
  parameters: withoutNames(rest),
  signature,
}));

function withoutNames<Fields extends object>(fields: Fields): Omit<Fields, keyof ProtocolNames> {
  const own = Object.entries(fields).filter(([name]) => !(name in protocolNames));
  return Object.fromEntries(own) as Omit<Fields, keyof ProtocolNames>;
}
type ProtocolNames = typeof protocolNames;

const { $schema: _, ...document } = z.toJSONSchema(z.union([canonical, flat]), { io: "input" });

/** JSON schema of a signed order in both of its forms. */
export const signedOrderDocument: Record<string, unknown> = document;

type BodyCode = "bad_structure" | "pp_retired" | "wrong_protocol";

/** Parses a signed order, `{parameters, signature}` or flat. It may name its protocol; other fields are refused. */
export function parseOrderBody(
  raw: unknown,
  {
    chainId,
    envelope,
    field = "seaport",
  }: {
    chainId: number;
    envelope: unknown;
    /** What the body calls the order. */
    field?: string;
  },
): OrderBody | Rejection<BodyCode> {
  if (isRetiredProtocol(raw) || (raw === undefined && isRetiredProtocol(envelope))) {
    return reject("pp_retired", "Payment Processor orders are no longer accepted");
  }
  const parsed = (hasParameters(raw) ? canonical : flatAsCanonical).safeParse(raw);
  if (!parsed.success) return badStructure(parsed.error, field);
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

function badStructure({ issues }: z.ZodError, field: string): Rejection<"bad_structure"> {
  const details = issues.slice(0, maxDetails).map((issue) => detailOf(issue, field));
  const [first] = details;
  return reject("bad_structure", `${first?.field}: ${first?.message}`, details);
}

function detailOf(issue: z.core.$ZodIssue, whole: string): RejectionDetail {
  const path = issue.path.map(String);
  if (issue.code === "unrecognized_keys") {
    const field = [...path, issue.keys[0]?.slice(0, 100)].join(".");
    return { field, message: "is not a field of an order" };
  }
  return { field: path.length === 0 ? whole : path.join("."), message: issue.message };
}
