import { recover } from "tiny-secp256k1";
import { type Address, type Hex, hexToBytes, keccak256 } from "viem";
import { z } from "zod";
import { seaportAddresses } from "#abis/deployments.ts";
import type { ChainId } from "#chains/index.ts";
import { queryChainOrReject } from "#jobs/orders/evaluate-order.ts";
import {
  closed,
  decimalUint256,
  orderParametersSchema,
  signedBytes,
} from "#jobs/partners/order-schema.ts";
import type {
  MarketTerms,
  OrderBody,
  ParsedOrder,
} from "#projections/domain/orders/order-terms.ts";
import { parseBid, parseListing } from "#projections/domain/orders/parse-order.ts";
import {
  isRejection,
  type Rejection,
  type RejectionDetail,
  reject,
} from "#projections/domain/rejection.ts";
import { itemType } from "#projections/domain/seaport/order-components.ts";
import { orderHash } from "#projections/domain/seaport/order-hash.ts";
import {
  isBulkSignature,
  type SignatureCheck,
  verifySignature,
} from "#projections/domain/seaport/signature.ts";
import type { Database } from "#projections/log/database.ts";
import { type CriteriaRequest, readCriteriaOf } from "../criteria.ts";
import type { IntakeRejection, Market, Submission, SubmittedSubject } from "../market.ts";

/** An order that is valid as far as it can be validated without database and chain. */
export type PendingOrder = {
  chainId: ChainId;
  terms: MarketTerms;
  order: ParsedOrder;
  /** The tokens of a bid on several, by id; null: on one or on all. */
  tokenIds: readonly bigint[] | null;
  signatureCheck: SignatureCheck;
  /** Whom it came from, as far as budgets go; null: nobody knows. */
  network: string | null;
  now: Date;
};

export type ParsedSubmission = {
  subject: SubmittedSubject | null;
  result: PendingOrder | IntakeRejection;
};

type Context = Omit<Submission, "orders"> & { terms: MarketTerms; db: Database };

/** Validates what needs no chain, and the database only for tokens that a bid names: envelope, shape and signature. */
export async function parseSubmission(raw: unknown, context: Context): Promise<ParsedSubmission> {
  const body = context.parsed?.get(raw) ?? parseOrderBody(raw, context);
  if (isRejection(body)) return { subject: null, result: body };
  const request = context.criteria?.get(raw) ?? null;
  return { subject: subjectOf(body), result: await parsePendingOrder(body, request, context) };
}

async function parsePendingOrder(
  body: OrderBody,
  request: CriteriaRequest | null,
  context: Context,
): Promise<PendingOrder | IntakeRejection> {
  const { side, chainId, terms, network, now } = context;
  const tokens = side === "ask" ? null : await readCriteriaOf(context.db, chainId, body, request);
  const criteria = tokens === null || isRejection(tokens) ? tokens : tokens.criteria;
  const order = side === "ask" ? parseListing(body, terms) : parseBid(body, terms, criteria);
  if (isRejection(order)) return order;
  const signatureCheck = await verifySignature(order, chainId, recoverSigner);
  const tokenIds = tokens === null || isRejection(tokens) ? null : tokens.tokenIds;
  return { chainId, terms, order, tokenIds, signatureCheck, network, now };
}

/**
 * Why an order that is submitted alone is rejected: its signature is for several. A contract's signature may have the
 * same length, also the one of an order with other faults: then the maker's code decides. Of an order that is validated on
 * chain no signature counts.
 */
export async function rejectBulkSignature(
  market: Market,
  side: Submission["side"],
  chainId: ChainId,
  { components, signature }: OrderBody,
): Promise<IntakeRejection | null> {
  if (!isBulkSignature(signature)) return null;
  const signed = { components, signature, orderHash: orderHash(components) };
  const { signedBy } = await verifySignature(signed, chainId, recoverSigner);
  if (signedBy === "maker") return bulkNotAllowed(side);
  const code = { kind: "code", address: components.offerer } as const;
  const status = { kind: "order_status_read", orderHash: signed.orderHash } as const;
  const results = await queryChainOrReject(market, chainId, [code, status]);
  // Without an answer the order is rejected later, for its shape or as the chain is unavailable.
  if (isRejection(results) || results.find(status)?.validated) return null;
  return results.find(code)?.hasCode === false ? bulkNotAllowed(side) : null;
}

function bulkNotAllowed(side: Submission["side"]): IntakeRejection {
  const path = side === "ask" ? "/v1/orders/asks/bulk" : "/v1/orders/bids/bulk";
  const message = `the order has a bulk signature: submit it to ${path}`;
  return reject("bulk_signature_not_allowed", `signature: ${message}`, [
    { field: "signature", message },
  ]);
}

function subjectOf({ components: { offer, consideration } }: OrderBody): SubmittedSubject | null {
  const item = [...offer, ...consideration].find((one) => one.itemType >= itemType.erc721);
  if (item === undefined) return null;
  const isOfCriteria = item.itemType >= itemType.erc721WithCriteria;
  return { contract: item.token, tokenId: isOfCriteria ? null : item.identifierOrCriteria };
}

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

/**
 * `override` of schemas with `protocolNames`: `protocol_address` is taken and not documented, since generators make one name
 * of both spellings.
 */
export function withoutSecondSpelling({ jsonSchema }: { jsonSchema: object }): void {
  if (!("properties" in jsonSchema)) return;
  const { protocol_address: _, ...properties } = Object(jsonSchema.properties);
  Object.assign(jsonSchema, { properties });
}

const retiredName = /^(pp|payment[-_ ]?processor)([-_ ]?v?\d+([._]\d+)*)?$/i;
const retiredFields = ["sellerAcceptedOffer", "marketplaceFeeNumerator", "masterNonce"];
const retiredObjects = ["paymentProcessor", "payment_processor"];

/** Whether a body is a Payment Processor order: it names that protocol or has its specific fields. */
function isRetiredProtocol(raw: unknown): boolean {
  return orderObjects(raw).some(
    (fields) =>
      ["protocol", "kind", "orderKind", "type"].some((name) => isRetiredName(fields[name])) ||
      retiredObjects.some((name) => fields[name] !== undefined) ||
      (fields.consideration === undefined && retiredFields.some((name) => name in fields)),
  );
}

const isRetiredName = (value: unknown) => typeof value === "string" && retiredName.test(value);

/** The first field that names an exchange other than the chain's Seaport 1.6; null: none. */
function namesOtherProtocol(bodies: readonly unknown[], chainId: number): RejectionDetail | null {
  for (const fields of bodies.flatMap(orderObjects)) {
    const domain = asFields(fields.domain) ?? {};
    const tokens: [string, unknown, string][] = [
      ["protocolAddress", fields.protocolAddress, seaportAddresses["1.6"]],
      ["protocol_address", fields.protocol_address, seaportAddresses["1.6"]],
      ["domain.verifyingContract", domain.verifyingContract, seaportAddresses["1.6"]],
      ["domain.version", domain.version, "1.6"],
      ["domain.chainId", domain.chainId, String(chainId)],
      ["protocol", versionOf(fields.protocol), "1.6"],
    ];
    const other = tokens.find(
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

const components = orderParametersSchema(decimalUint256, closed).extend({
  counter: decimalUint256,
});
const parameters = components
  .extend({ totalOriginalConsiderationItems: decimalUint256.nullish() })
  .meta({ title: "SignedOrderParameters" });
/** A missing signature is rejected later, with its own code, unless the order is validated on chain. */
const signature = z.union([z.literal("").transform(() => "0x" as const), signedBytes]).nullish();

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

const { $schema: _, ...document } = z.toJSONSchema(z.union([canonical, flat]), {
  io: "input",
  override: withoutSecondSpelling,
});

/** JSON schema of a signed order in both of its forms. */
export const signedOrderDocument: Record<string, unknown> = { title: "SignedOrder", ...document };

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

/** Like viem's `recoverAddress`, five times as fast: it dominates the time of bulk submissions. */
export async function recoverSigner(signed: {
  hash: Hex;
  signature: Hex;
}): Promise<Address | null> {
  const bytes = hexToBytes(signed.signature);
  const parity = bytes[64] === 27 ? 0 : 1;
  const key = recover(hexToBytes(signed.hash), bytes.subarray(0, 64), parity, false);
  return key === null ? null : (`0x${keccak256(key.subarray(1)).slice(26)}` as Address);
}
