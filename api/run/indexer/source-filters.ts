import {
  type Abi,
  type AbiEvent,
  type Address,
  decodeEventLog,
  type Hex,
  pad,
  toEventSelector,
} from "viem";
import { commonConduit, seaport, wrappedNative } from "../../../abis/deployments.ts";
import { conduitAbi, seaportEvents } from "../../../abis/seaport.ts";
import { erc20Abi, erc721Abi, erc1155Abi, wrappedNativeAbi } from "../../../abis/tokens.ts";
import type { IndexedSources } from "./indexed-sources.ts";

/** What `eth_getLogs` is asked for one event of one source; the same events as those of `ponder.config.ts`. */
export type SourceFilter = {
  event: AbiEvent;
  /** Null: any contract. */
  addresses: readonly Address[] | null;
  topics: readonly (Hex | null)[];
  fromBlock: number;
};

/** Addresses that one request names at most. */
const addressesAtOnce = 200;

/** Of an event with indexed arguments in place of which `null` stands for any. */
type Asked = { name: string; addresses: readonly Address[] | null; topics?: (Hex | null)[] };

export function sourceFilters(sources: IndexedSources): SourceFilter[] {
  const { chainId, startBlock, transfersStartBlock } = sources;
  const collections = sources.collections === "*" ? null : sources.collections;
  const money = [wrappedNative[chainId]];
  const legacy = [seaport["1.1"], seaport["1.4"], seaport["1.5"]];
  const exchange = (name: string) => ({ name, addresses: [seaport["1.6"]] });
  const of = filtersOfAll;
  return [
    ...of(seaportEvents, startBlock, [
      ...["OrderFulfilled", "OrderCancelled", "OrderValidated"].map(exchange),
      ...["OrdersMatched", "CounterIncremented"].map(exchange),
      { name: "OrderFulfilled", addresses: legacy },
      { name: "OrdersMatched", addresses: legacy },
    ]),
    ...transferFilters(collections, transfersStartBlock),
    ...of(erc721Abi, startBlock, [
      { name: "ApprovalForAll", addresses: null, topics: [null, pad(commonConduit.address)] },
    ]),
    ...of(erc20Abi, startBlock, [
      { name: "Approval", addresses: money, topics: [null, pad(seaport["1.6"])] },
    ]),
    ...of(
      wrappedNativeAbi,
      startBlock,
      sources.wrappedNative === "none"
        ? []
        : ["Transfer", "Deposit", "Withdrawal"].map((name) => ({ name, addresses: money })),
    ),
    ...of(conduitAbi, startBlock, [{ name: "ChannelUpdated", addresses: [commonConduit.address] }]),
  ];
}

/** Transfers of NFTs by these contracts, null being any, from a block on. */
export function transferFilters(
  addresses: readonly Address[] | null,
  fromBlock: number,
): SourceFilter[] {
  return [
    ...filtersOfAll(erc721Abi, fromBlock, [
      // Four topics: an ERC-20 `Transfer` has three.
      { name: "Transfer", addresses, topics: [null, null, null] },
      { name: "ConsecutiveTransfer", addresses },
    ]),
    ...filtersOfAll(erc1155Abi, fromBlock, [
      { name: "TransferSingle", addresses },
      { name: "TransferBatch", addresses },
    ]),
  ];
}

function filtersOfAll(abi: Abi, fromBlock: number, asked: readonly Asked[]): SourceFilter[] {
  return asked.flatMap((one) => filtersOf(abi, fromBlock, one));
}

function filtersOf(
  abi: Abi,
  fromBlock: number,
  { name, addresses, topics = [] }: Asked,
): SourceFilter[] {
  const event = abi.find((item): item is AbiEvent => item.type === "event" && item.name === name);
  if (event === undefined) throw new Error(`no event ${name} in its ABI`);
  const filter = { event, topics: [toEventSelector(event), ...topics], fromBlock };
  if (addresses === null) return [{ ...filter, addresses }];
  const starts = [...addresses.keys()].filter((index) => index % addressesAtOnce === 0);
  return starts.map((start) => ({
    ...filter,
    addresses: addresses.slice(start, start + addressesAtOnce),
  }));
}

/**
 * Arguments by name as Ponder's tables hold them: integers as decimal strings, hex in lower case. Null for a log that
 * is not of this event, though it looks like it.
 */
export function readArguments(
  event: AbiEvent,
  log: { topics: readonly Hex[]; data: Hex },
): Record<string, unknown> | null {
  try {
    const topics = log.topics as [Hex, ...Hex[]];
    const { args } = decodeEventLog({ abi: [event], topics, data: log.data, strict: true });
    return plain(args) as Record<string, unknown>;
  } catch {
    return null;
  }
}

function plain(value: unknown): unknown {
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "string") return value.toLowerCase();
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)]));
}
