import { type AbiEvent, type Address, decodeEventLog, type Hex, pad, toEventSelector } from "viem";
import { hasTopicsOf } from "#abis/event-topics.ts";
import type { EventSource } from "./indexed-sources.ts";

/** Parameters of `eth_getLogs` for one event of one source. */
export type SourceFilter = {
  source: EventSource;
  event: AbiEvent;
  /** null: any contract. */
  addresses: readonly Address[] | null;
  topics: readonly (Hex | null)[];
};

/** Addresses in one request. */
const maxAddresses = 200;

export function sourceFilters(sources: readonly EventSource[]): SourceFilter[] {
  return sources.flatMap((source) =>
    source.events.flatMap((event) => {
      const filter = { source, event, topics: topicsOf(event, source.args) };
      return addressChunks(source.addresses).map((addresses) => ({ ...filter, addresses }));
    }),
  );
}

/** One for each indexed argument: the `Transfer` of an ERC-721 has four, that of an ERC-20 three. */
function topicsOf(event: AbiEvent, args: EventSource["args"] = {}): (Hex | null)[] {
  const indexed = event.inputs.filter((input) => input.indexed);
  return [
    toEventSelector(event),
    ...indexed.map(({ name = "" }) => (args[name] === undefined ? null : pad(args[name]))),
  ];
}

function addressChunks(addresses: EventSource["addresses"]): EventSource["addresses"][] {
  if (addresses === null) return [null];
  const starts = [...addresses.keys()].filter((index) => index % maxAddresses === 0);
  return starts.map((start) => addresses.slice(start, start + maxAddresses));
}

/**
 * Arguments by name as in Ponder's tables: integers as decimal strings, hex in lower case. null for a log with the
 * event's topics that does not decode as it.
 */
export function decodeArguments(
  event: AbiEvent,
  log: { topics: readonly Hex[]; data: Hex },
): Record<string, unknown> | null {
  if (!hasTopicsOf(event, log.topics)) return null;
  try {
    const topics = log.topics as [Hex, ...Hex[]];
    const { args } = decodeEventLog({ abi: [event], topics, data: log.data, strict: true });
    // None of an event without arguments.
    return serializable(args ?? {}) as Record<string, unknown>;
  } catch {
    return null;
  }
}

/** Without NUL, which jsonb does not hold. */
function serializable(value: unknown): unknown {
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "string") return value.toLowerCase().replaceAll("\0", "");
  if (Array.isArray(value)) return value.map(serializable);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, serializable(item)]));
}
