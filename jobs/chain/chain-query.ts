import type { Address, Hex } from "viem";
import { callsRecipient, type SignedOrder } from "#projections/domain/seaport/order-components.ts";
import type { ChainReading, ReadingSubject } from "#projections/log/readings.ts";
import { type ChainCall, type ChainCallOutcome, type ReadBasis, wordAt } from "./contract-calls.ts";

type Subject<Kind extends ReadingSubject["kind"]> = Extract<ReadingSubject, { kind: Kind }>;

export type Standard = "erc721" | "erc1155";

/** A query about a chain: the recorded kinds, some of them with what the call needs, and kinds that are not recorded. */
export type ChainQuery =
  | Exclude<ReadingSubject, { kind: "transfer_read" | "signature_read" | "recipients_read" }>
  /** `to`: a recipient other than an unknown one; such a result is of this recipient alone, and not to be recorded. */
  | (Subject<"transfer_read"> & { standard: Standard; to?: Address })
  /** `orderHash` and `maker` belong to `order`. */
  | (Subject<"signature_read"> & { order: SignedOrder })
  | (Subject<"recipients_read"> & { order: SignedOrder })
  /** Whether `recipient` takes units of an ERC-1155 token of `owner`. */
  | ReceiptQuery
  | MessageQuery
  | { kind: "code"; address: Address }
  | { kind: "standard"; contract: Address }
  | { kind: "royalty"; contract: Address; tokenId: bigint; salePriceWei: bigint };

type ReceiptQuery = {
  kind: "receipt";
  contract: Address;
  tokenId: bigint;
  owner: Address;
  recipient: Address;
  units: bigint;
};

/** Whether a contract accepts a signature of a hash that is no order's (ERC-1271). */
type MessageQuery = { kind: "message"; wallet: Address; hash: Hex; signature: Hex };

export type QueryResult =
  | Exclude<ChainReading, { kind: "order_status_read" }>
  /** `validated`: the exchange asks for no signature, as the maker validated the order there or some of it is filled. */
  | (Extract<ChainReading, { kind: "order_status_read" }> & { validated: boolean })
  | (ReceiptQuery & { taken: boolean })
  | (MessageQuery & { valid: boolean })
  | { kind: "code"; address: Address; hasCode: boolean }
  | ({ kind: "standard"; contract: Address } & DetectedStandard)
  /** ERC-2981 royalty; null: none that can be paid out of the price. */
  | {
      kind: "royalty";
      contract: Address;
      tokenId: bigint;
      salePriceWei: bigint;
      royalty: { recipient: Address; royaltyWei: bigint } | null;
    };

/** The standard a contract declares by ERC-165, or why none is known. */
export type DetectedStandard =
  | { standard: Standard }
  | { standard: null; reason: "no_erc165" | "neither" | "contradictory" };

export type QueryKind = ChainQuery["kind"];
export type QueryByKind = { [Kind in QueryKind]: Extract<ChainQuery, { kind: Kind }> };
export type ResultByKind = { [Kind in QueryKind]: Extract<QueryResult, { kind: Kind }> };

/** Equal for queries with the same result, whatever the order of their properties. */
export function queryKey(query: ChainQuery): string {
  const parts = Object.entries(query).map(([name, value]) =>
    // An order's hash is in the query: only its signature may differ.
    typeof value === "object" ? `${name}=${value.signature}` : `${name}=${value}`,
  );
  return parts.sort().join(" ");
}

/** The accounts whose code decides what a query costs; empty: only code that everybody knows. */
export function payersOfQuery(query: ChainQuery): Address[] {
  if (query.kind === "recipients_read") return calledRecipients(query.order);
  if (query.kind === "signature_read") return [query.maker];
  if (query.kind === "message") return [query.wallet];
  if (query.kind === "receipt") return [query.recipient];
  if ("contract" in query) return [query.contract];
  return "currency" in query ? [query.currency] : [];
}

/** Recipients of an order whose code, if they have any, is called when it is filled. */
const calledRecipients = ({ components }: SignedOrder): Address[] =>
  components.consideration.filter(callsRecipient).map(({ recipient }) => recipient);

const unrecordedKinds = ["receipt", "message", "code", "standard", "royalty"] as const;

export function isReading(result: QueryResult): result is Extract<QueryResult, ChainReading> {
  return !unrecordedKinds.some((kind) => kind === result.kind);
}

export type OutcomeLookup = (call: ChainCall) => ChainCallOutcome;

/** Encodes a kind of query as contract calls and decodes their outcomes. */
export type QueryCodec<Kind extends QueryKind> = {
  encode(query: QueryByKind[Kind], basis: ReadBasis): ChainCall[];
  /** Calls that depend on outcomes of the first ones. */
  encodeFollowUp?(query: QueryByKind[Kind], lookUp: OutcomeLookup, basis: ReadBasis): ChainCall[];
  decode(
    query: QueryByKind[Kind],
    lookUp: OutcomeLookup,
    basis: ReadBasis,
  ): ResultByKind[Kind] | undefined;
};

/** No result from the node, or none before the gas was used up: nothing is known. */
export const isUnknown = (outcome: ChainCallOutcome): outcome is undefined =>
  outcome === undefined || ("isOutOfGas" in outcome && outcome.isOutOfGas === true);

/** A codec with one call; `parse` is skipped where nothing is known. */
export function singleCallCodec<Kind extends QueryKind>(
  callOf: (query: QueryByKind[Kind]) => ChainCall,
  parse: (
    query: QueryByKind[Kind],
    outcome: NonNullable<ChainCallOutcome>,
  ) => ResultByKind[Kind] | undefined,
): QueryCodec<Kind> {
  return {
    encode: (query) => [callOf(query)],
    decode(query, lookUp) {
      const outcome = lookUp(callOf(query));
      return isUnknown(outcome) ? undefined : parse(query, outcome);
    },
  };
}

/** Whether the call did not revert; undefined: unknown. */
export function hasReturned(outcome: ChainCallOutcome): boolean | undefined {
  return isUnknown(outcome) ? undefined : "returned" in outcome;
}

/** One 32-byte word of the returned data; undefined if the call reverted or returned fewer. */
export function wordOf(outcome: ChainCallOutcome, index = 0): bigint | undefined {
  return outcome !== undefined && "returned" in outcome
    ? wordAt(outcome.returned, index)
    : undefined;
}
