import type { Address, Hex } from "viem";
import type { EventSource } from "./settings.ts";

/** The part of Ponder's event that is stored. */
export type EmittedEvent = {
  id: string;
  /** Ponder's cache has null for each topic that a log lacks. */
  log: { address: Address; logIndex: number; topics: readonly (Hex | null)[] };
  block: { number: bigint; hash: Hex; timestamp: bigint };
  transaction: {
    hash: Hex;
    transactionIndex: number;
    from: Address;
    to: Address | null;
    input: Hex;
  };
  args: unknown;
};

/** The row of an event: its position in the chain, its source and name, its arguments. */
export function emittedRow(
  event: EmittedEvent,
  chainId: number,
  { name: source, eventsWithCall }: EventSource,
  name: string,
) {
  return {
    chainId,
    source,
    name,
    id: event.id,
    address: lowerCase(event.log.address),
    blockNumber: event.block.number,
    blockHash: event.block.hash,
    blockTimestamp: event.block.timestamp,
    transactionHash: event.transaction.hash,
    transactionIndex: event.transaction.transactionIndex,
    logIndex: event.log.logIndex,
    // None of an event without arguments.
    args: serializable(event.args ?? {}),
    ...(eventsWithCall.includes(name) ? callOf(event) : {}),
  };
}

function callOf({ transaction: { from, to, input } }: EmittedEvent) {
  return {
    sender: lowerCase(from),
    target: to === null ? null : lowerCase(to),
    calldataTail: input.length >= 10 ? (`0x${input.slice(-8)}` as const) : null,
  };
}

/** Integers as decimal strings, bytes and addresses as lower-case hex; small integers and booleans as they are. */
function serializable(value: unknown): unknown {
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "string") return value.toLowerCase();
  if (Array.isArray(value)) return value.map(serializable);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, serializable(item)]));
}

function lowerCase(hex: Hex): Hex {
  return hex.toLowerCase() as Hex;
}
