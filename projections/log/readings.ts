import { type Address, type Hex, keccak256, stringToHex } from "viem";
import { commonConduit, seaportAddresses } from "#abis/deployments.ts";
import type { ChainId } from "#chains/index.ts";
import type { Observation } from "./append.ts";

/** The block at whose end readings were made, and its timestamp. */
export type ReadingBasis = { number: bigint; hash: Hex; timestamp: Date };

/** A query about orders to a chain, by subject. Addresses in lower case. */
export type ReadingSubject =
  | { kind: "order_status_read"; orderHash: Hex }
  | { kind: "counter_read"; maker: Address }
  | { kind: "approval_read"; contract: Address; owner: Address }
  | { kind: "token_approval_read"; contract: Address; tokenId: bigint }
  | { kind: "owner_read"; contract: Address; tokenId: bigint }
  | { kind: "units_read"; contract: Address; tokenId: bigint; owner: Address }
  | { kind: "balance_read"; currency: Address; owner: Address }
  | { kind: "allowance_read"; currency: Address; owner: Address }
  | { kind: "transfer_read"; contract: Address; tokenId: bigint; owner: Address }
  | { kind: "signature_read"; orderHash: Hex; maker: Address }
  | { kind: "recipients_read"; orderHash: Hex }
  | { kind: "channel_read" };

/** A query and its answer at the end of a block. */
export type ChainReading =
  | { kind: "order_status_read"; orderHash: Hex; cancelled: boolean; filled: bigint; size: bigint }
  | { kind: "counter_read"; maker: Address; counter: bigint }
  | { kind: "approval_read"; contract: Address; owner: Address; approved: boolean }
  /** ERC-721: of the token alone, whoever owns it. */
  | { kind: "token_approval_read"; contract: Address; tokenId: bigint; approved: boolean }
  /** ERC-721; null: no such token. */
  | { kind: "owner_read"; contract: Address; tokenId: bigint; owner: Address | null }
  /** ERC-1155. */
  | { kind: "units_read"; contract: Address; tokenId: bigint; owner: Address; units: bigint }
  | { kind: "balance_read"; currency: Address; owner: Address; wei: bigint }
  /** To the exchange itself. */
  | { kind: "allowance_read"; currency: Address; owner: Address; wei: bigint }
  /** Whether the collection lets the conduit transfer the token, given approval and ownership. */
  | { kind: "transfer_read"; contract: Address; tokenId: bigint; owner: Address; allowed: boolean }
  /** Whether a contract confirms the signature (ERC-1271). */
  | { kind: "signature_read"; orderHash: Hex; maker: Address; valid: boolean }
  /**
   * Whether the contracts that the order pays, or delivers ERC-1155 units to, take it. `recipients`: these contracts;
   * `refusing`: the first that does not, or null.
   */
  | {
      kind: "recipients_read";
      orderHash: Hex;
      recipients: readonly Address[];
      refusing: Address | null;
    }
  | { kind: "channel_read"; open: boolean };

export type ChainReadings = {
  chainId: ChainId;
  basis: ReadingBasis;
  readings: readonly ChainReading[];
};

/** A reading in the columns of the log. */
type ReadingFact = Pick<
  Observation,
  "contract" | "tokenId" | "amount" | "fromAddress" | "toAddress" | "orderHash" | "payload"
>;

/** The payload of `recipients_read`. */
export type RecipientsPayload = { recipients: readonly Address[] };

/** The fact of a reading. The same answer at the same block is one fact. */
export function readingObserved(
  { chainId, basis }: { chainId: ChainId; basis: ReadingBasis },
  reading: ChainReading,
  recordedAt: Date,
): Observation {
  const fact = readingFact(reading);
  return { kind: reading.kind, chainId, basis, recordedAt, ...fact, identity: identityOf() };

  function identityOf(): Hex {
    const { contract, tokenId, fromAddress, toAddress, orderHash, amount, payload } = fact;
    const parts = [contract, tokenId, fromAddress, toAddress, orderHash, amount];
    return keccak256(
      stringToHex(
        [reading.kind, chainId, basis.hash, ...parts.map(String), JSON.stringify(payload)].join(
          "/",
        ),
      ),
    );
  }
}

/** The columns are documented in the README of the log. */
export function readingFact(reading: ChainReading): ReadingFact {
  const exchange = seaportAddresses["1.6"];
  switch (reading.kind) {
    case "order_status_read": {
      const { orderHash, cancelled, filled, size } = reading;
      const payload = { cancelled, filled: filled.toString(), size: size.toString() };
      return { contract: exchange, orderHash, payload };
    }
    case "counter_read":
      return { contract: exchange, fromAddress: reading.maker, amount: reading.counter };
    case "signature_read": {
      const { orderHash, maker, valid } = reading;
      return { contract: exchange, orderHash, fromAddress: maker, amount: bit(valid) };
    }
    case "recipients_read": {
      const { orderHash, recipients, refusing } = reading;
      const fact = { contract: exchange, orderHash, amount: bit(refusing === null) };
      const payload: RecipientsPayload = { recipients };
      return { ...fact, payload, ...(refusing === null ? {} : { toAddress: refusing }) };
    }
    case "channel_read":
      return { contract: commonConduit.address, toAddress: exchange, amount: bit(reading.open) };
    case "balance_read":
      return { contract: reading.currency, fromAddress: reading.owner, amount: reading.wei };
    case "allowance_read": {
      const { currency, owner, wei } = reading;
      return { contract: currency, fromAddress: owner, toAddress: exchange, amount: wei };
    }
    default:
      return tokenFactOf(reading);
  }
}

type TokenReading = Extract<
  ChainReading,
  { kind: "approval_read" | "token_approval_read" | "owner_read" | "units_read" | "transfer_read" }
>;

function tokenFactOf(reading: TokenReading): ReadingFact {
  const { contract } = reading;
  switch (reading.kind) {
    case "approval_read":
      return {
        contract,
        fromAddress: reading.owner,
        toAddress: commonConduit.address,
        amount: bit(reading.approved),
      };
    case "token_approval_read":
      return {
        contract,
        tokenId: reading.tokenId,
        toAddress: commonConduit.address,
        amount: bit(reading.approved),
      };
    case "owner_read":
      return {
        contract,
        tokenId: reading.tokenId,
        ...(reading.owner === null ? {} : { toAddress: reading.owner }),
      };
    case "units_read":
      return {
        contract,
        tokenId: reading.tokenId,
        fromAddress: reading.owner,
        amount: reading.units,
      };
    case "transfer_read":
      return {
        contract,
        tokenId: reading.tokenId,
        fromAddress: reading.owner,
        amount: bit(reading.allowed),
      };
  }
}

const bit = (holds: boolean) => (holds ? 1n : 0n);
