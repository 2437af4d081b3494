import { z } from "zod";
import { seaport } from "#abis/deployments.ts";
import type { RejectionDetail } from "#projections/domain/rejection.ts";

type Fields = Readonly<Record<string, unknown>>;

const name = z.string().max(100).nullish();

/** Fields by which clients name the protocol of an order, beside the order's own; read by `namesOtherProtocol`. */
export const protocolNames = {
  protocol: name,
  protocolAddress: name,
  protocol_address: name,
  kind: name,
  orderKind: name,
  type: name,
  domain: z
    .strictObject({
      name,
      version: name,
      chainId: z.union([name, z.number()]),
      verifyingContract: name,
      salt: name,
    })
    .partial()
    .nullish(),
};

const retiredName = /^(pp|payment[-_ ]?processor)([-_ ]?v?\d+([._]\d+)*)?$/i;
const retiredFields = ["sellerAcceptedOffer", "marketplaceFeeNumerator", "masterNonce"];
const retiredObjects = ["paymentProcessor", "payment_processor"];

/** Whether a body is a Payment Processor order: it names that protocol or has its specific fields. */
export function isRetiredProtocol(raw: unknown): boolean {
  return orderObjects(raw).some(
    (fields) =>
      ["protocol", "kind", "orderKind", "type"].some((name) => isRetiredName(fields[name])) ||
      retiredObjects.some((name) => fields[name] !== undefined) ||
      (fields.consideration === undefined && retiredFields.some((name) => name in fields)),
  );
}

const isRetiredName = (value: unknown) => typeof value === "string" && retiredName.test(value);

/** The first field that names an exchange other than the chain's Seaport 1.6; null: none. */
export function namesOtherProtocol(
  bodies: readonly unknown[],
  chainId: number,
): RejectionDetail | null {
  for (const fields of bodies.flatMap(orderObjects)) {
    const domain = asFields(fields.domain) ?? {};
    const named: [string, unknown, string][] = [
      ["protocolAddress", fields.protocolAddress, seaport["1.6"]],
      ["protocol_address", fields.protocol_address, seaport["1.6"]],
      ["domain.verifyingContract", domain.verifyingContract, seaport["1.6"]],
      ["domain.version", domain.version, "1.6"],
      ["domain.chainId", domain.chainId, String(chainId)],
      ["protocol", versionOf(fields.protocol), "1.6"],
    ];
    const other = named.find(
      ([, value, expected]) =>
        value !== undefined && value !== null && textOf(value).toLowerCase() !== expected,
    );
    if (other !== undefined) {
      const [field, value, expected] = other;
      const actual = textOf(value).slice(0, 80);
      return { field, expected, actual, message: "is not Seaport 1.6 of the order's chain" };
    }
  }
  return null;
}

/** An object has no text of its own: its `toString` is the caller's, and it may be as deep as the body allows. */
const textOf = (value: unknown): string =>
  typeof value === "object" ? "an object" : String(value);

/** Version in `seaport-1.6` or `seaport-v1.6`; undefined for names without one. */
function versionOf(protocol: unknown): string | undefined {
  if (typeof protocol !== "string") return undefined;
  const [, major, minor] = /^seaport[-_ ]?v?(\d+)[._](\d+)$/i.exec(protocol) ?? [];
  return major === undefined ? undefined : `${major}.${minor}`;
}

/** The body and the nested objects that may describe the order. */
function orderObjects(raw: unknown): Fields[] {
  const fields = asFields(raw);
  if (fields === undefined) return [];
  const parts = [fields, fields.parameters, fields.order, fields.data].map(asFields);
  return parts.filter((part) => part !== undefined);
}

function asFields(value: unknown): Fields | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Fields)
    : undefined;
}
