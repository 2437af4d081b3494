import { type AbiEvent, type Address, decodeEventLog, type Hex, pad, toEventSelector } from "viem";
import { commonConduit, seaportAddresses } from "#abis/deployments.ts";
import { hasTopicsOf } from "#abis/event-topics.ts";
import { conduitAbi } from "#abis/seaport.ts";
import { indexedMetadataAbi, metadataAbi } from "#abis/token-metadata.ts";
import {
  erc20Abi,
  erc721Abi,
  erc1155Abi,
  plainTransferAbi,
  unindexedTransferAbi,
  wrappedNativeAbi,
} from "#abis/tokens.ts";
import { type ChainId, chainById, wrappedNative } from "#chains/index.ts";
import { exchanges } from "#projections/exchanges/exchanges.ts";
import type { ExchangeSource } from "#projections/exchanges/model/exchange.ts";
import { seaportExchange } from "#projections/exchanges/seaport/seaport.ts";
import type { ChainConfig, Config } from "../config/config.ts";

/** Events that are indexed of some contracts. No two sources of a chain match one log. */
export type ChainEventSource = {
  /** Stored with each event. `projections/log/fact-kinds.ts` maps it to kinds of facts. */
  name: string;
  events: readonly AbiEvent[];
  /** null: any contract. */
  addresses: readonly Address[] | null;
  /** Values of indexed arguments; only of a source with one event. */
  args?: Readonly<Record<string, Address>>;
  firstBlock: number;
  /** Names of the events that are stored with their transaction's sender, target and calldata tail. */
  eventsWithCall: readonly string[];
  /** Names of the events that are stored with their transaction's transfers; absent: none. */
  eventsWithTransfers?: readonly string[];
  /** Each of these is stored with them, not the first of a transaction alone. */
  isEachWithTransfers?: boolean;
};

/** The protocol that is indexed of every chain: orders of this market are made for it. */
export const coreProtocol = seaportExchange.protocol;

/** Events by which contracts say that metadata changed. */
export type MetadataShape = {
  /** Stored with them. */
  name: string;
  events: readonly AbiEvent[];
  /** The source that stands for them of contracts that have none of their own: any, or older ones. */
  source: string;
};

/** As the standards have them, and with ids as topics. */
export const metadataShapes: readonly MetadataShape[] = [
  { name: "MetadataUpdates", events: metadataAbi, source: "metadata" },
  { name: "IndexedMetadataUpdates", events: indexedMetadataAbi, source: "metadata-indexed" },
];

/** What is indexed of a chain: Ponder's configuration and the audit's filters are both made of it. */
export type IndexedSources = { chainId: ChainId; sources: readonly ChainEventSource[] };

type SourceConfig = Pick<
  ChainConfig,
  "chainId" | "startBlock" | "collections" | "wrappedNativeEvents"
>;
type Curated = Pick<Config["curated"], "collections">;

/** A contract whose transfers are indexed; `firstBlock` null: from the configured one on. */
export type IndexedCollection = { address: Address; firstBlock: number | null };

/** What one of a chain's indexers indexes. */
type IndexerContents = {
  /** Whether it indexes what is indexed of every chain. */
  isCore: boolean;
  /** Protocols of further exchanges. */
  protocols: readonly string[];
  /** null: all. */
  collections: readonly IndexedCollection[] | null;
  /** Contracts whose changes of metadata are indexed, by shape; null: any. */
  metadata: (shape: MetadataShape) => readonly IndexedCollection[] | null;
  /** Those whose transfers of other shapes are indexed too. */
  plain?: readonly IndexedCollection[];
};

/** All that is configured, in one indexer. */
export function indexedSources(config: SourceConfig, curated: Curated): IndexedSources {
  const collections = declaredCollections(config, curated);
  return contentsOf(config, {
    isCore: true,
    protocols: addableExchanges(config.chainId).map(({ protocol }) => protocol),
    collections,
    metadata: () => collections,
  });
}

/**
 * From the configured first block on. Without one exchanges are indexed from their deployment, transfers from the
 * oldest curated contract's, which may be older.
 */
export function contentsOf(config: SourceConfig, contents: IndexerContents): IndexedSources {
  const { chainId, startBlock } = config;
  const { isCore, protocols, collections, metadata, plain = [] } = contents;
  const deploymentBlock = chainById(chainId).exchanges.seaport.Seaport.firstBlock;
  const firstBlocks = [...(collections ?? []), ...plain].map(
    ({ firstBlock }) => firstBlock ?? deploymentBlock,
  );
  const oldest = Math.min(...(isCore ? [deploymentBlock] : []), ...firstBlocks);
  const addresses = collections && sortedUnique(collections.map(({ address }) => address));
  const included = exchanges.filter(({ protocol }) =>
    protocol === coreProtocol ? isCore : protocols.includes(protocol),
  );
  return {
    chainId,
    sources: [
      ...included.flatMap(({ sources }) => sources.flatMap((one) => exchangeSource(one, config))),
      ...transferSources(addresses, startBlock ?? oldest),
      ...plainSources(sortedUnique(plain.map(({ address }) => address)), startBlock ?? oldest),
      ...(isCore ? accountSources(config, startBlock ?? deploymentBlock) : []),
      ...metadataShapes.map((shape) =>
        metadataSource(shape, metadata(shape), startBlock, deploymentBlock),
      ),
    ].filter((source) => source.addresses?.length !== 0),
  };
}

/** The contracts whose transfers are indexed by configuration, by address; null: all. */
export function declaredCollections(
  { chainId, collections }: Pick<ChainConfig, "chainId" | "collections">,
  curated: Curated,
): IndexedCollection[] | null {
  if (collections === "all") return null;
  const firstBlocks = new Map<Address, number | null>();
  for (const address of collections) firstBlocks.set(address, null);
  for (const { contracts, fromBlock, ...collection } of curated.collections) {
    if (collection.chainId !== chainId) continue;
    for (const address of contracts) firstBlocks.set(address, fromBlock ?? null);
  }
  return sortedUnique([...firstBlocks.keys()]).map((address) => ({
    address,
    firstBlock: firstBlocks.get(address) ?? null,
  }));
}

/** Whether a source, by the names stored with its events, has those of a shape. */
export const hasMetadataEvents = (
  { eventSources }: { eventSources: readonly string[] },
  { name }: MetadataShape,
): boolean => eventSources.includes(name);

/** Names stored with the events of a collection that is indexed by its address. */
export const collectionEvents: readonly string[] = [
  ...[...transferSources([], 0), ...metadataShapes].map(({ name }) => name),
];

/** Exchanges of a chain beside the one that is always indexed, with the names stored with their events. */
export function addableExchanges(chainId: ChainId): { protocol: string; eventSources: string[] }[] {
  const names = new Map<string, string[]>();
  for (const { protocol, sources } of exchanges) {
    if (protocol === coreProtocol) continue;
    const deployed = sources.filter((source) => source.deployed(chainById(chainId)) !== null);
    if (deployed.length === 0) continue;
    names.set(protocol, [...(names.get(protocol) ?? []), ...deployed.map(({ name }) => name)]);
  }
  return [...names].map(([protocol, eventSources]) => ({ protocol, eventSources }));
}

function exchangeSource(
  {
    name,
    events,
    eventsWithCall,
    eventsWithTransfers,
    isEachWithTransfers,
    deployed,
  }: ExchangeSource,
  { chainId, startBlock }: SourceConfig,
): ChainEventSource[] {
  const deployment = deployed(chainById(chainId));
  if (deployment === null) return [];
  const { addresses, firstBlock } = deployment;
  const common = { name, events, addresses, firstBlock: startBlock ?? firstBlock, eventsWithCall };
  const withTransfers = {
    eventsWithTransfers,
    ...(isEachWithTransfers && { isEachWithTransfers }),
  };
  return [{ ...common, ...(eventsWithTransfers ? withTransfers : {}) }];
}

/** Transfers of NFTs by these contracts, null being any, from a block on. */
export function transferSources(
  addresses: readonly Address[] | null,
  firstBlock: number,
): ChainEventSource[] {
  const common = { addresses, firstBlock, eventsWithCall: [] };
  const erc721 = eventsOf(erc721Abi, "Transfer", "ConsecutiveTransfer");
  const erc1155 = eventsOf(erc1155Abi, "TransferSingle", "TransferBatch");
  return [
    { ...common, name: "Erc721", events: erc721 },
    { ...common, name: "Erc1155", events: erc1155 },
  ];
}

/** ERC-4906, ERC-1155, ERC-7572 and ERC-7496. Without a configured first block from the oldest contract's on. */
function metadataSource(
  { name, events }: MetadataShape,
  contracts: readonly IndexedCollection[] | null,
  startBlock: number | null,
  deploymentBlock: number,
): ChainEventSource {
  const firstBlocks = contracts?.map(({ firstBlock }) => firstBlock ?? deploymentBlock);
  return {
    name,
    events,
    addresses: contracts && sortedUnique(contracts.map(({ address }) => address)),
    firstBlock: startBlock ?? Math.min(...(firstBlocks ?? [deploymentBlock])),
    eventsWithCall: [],
  };
}

/** Transfers whose id is not indexed, of named contracts alone: an ERC-20's have one of these shapes. */
export function plainSources(
  addresses: readonly Address[],
  firstBlock: number,
): ChainEventSource[] {
  const common = { addresses, firstBlock, eventsWithCall: [] };
  return [
    { ...common, name: "Erc721Plain", events: eventsOf(plainTransferAbi, "Transfer") },
    { ...common, name: "Erc721Unindexed", events: eventsOf(unindexedTransferAbi, "Transfer") },
  ];
}

/** What decides whether makers can deliver: approvals, wrapped native currency, the conduit's channels. */
function accountSources(
  { chainId, wrappedNativeEvents }: SourceConfig,
  firstBlock: number,
): ChainEventSource[] {
  const common = { firstBlock, eventsWithCall: [] };
  const currency = [wrappedNative[chainId]];
  return [
    {
      ...common,
      name: "ConduitApproval",
      addresses: null,
      events: eventsOf(erc721Abi, "ApprovalForAll"),
      args: { operator: commonConduit.address },
    },
    {
      ...common,
      name: "ExchangeApproval",
      addresses: currency,
      events: eventsOf(erc20Abi, "Approval"),
      args: { spender: seaportAddresses["1.6"] },
    },
    {
      ...common,
      name: "WrappedNative",
      addresses: wrappedNativeEvents === "all" ? currency : [],
      events: eventsOf(wrappedNativeAbi, "Transfer", "Deposit", "Withdrawal"),
    },
    {
      ...common,
      name: "Conduit",
      addresses: [commonConduit.address],
      events: eventsOf(conduitAbi, "ChannelUpdated"),
    },
  ];
}

function eventsOf(abi: readonly { type: string }[], ...names: readonly string[]): AbiEvent[] {
  const events = abi.filter((item): item is AbiEvent => item.type === "event");
  return events.filter(({ name }) => names.includes(name));
}

function sortedUnique(addresses: Address[]): Address[] {
  return [...new Set(addresses)].toSorted();
}

/** Parameters of `eth_getLogs` for one event of one source. */
export type SourceFilter = {
  source: ChainEventSource;
  event: AbiEvent;
  /** null: any contract. */
  addresses: readonly Address[] | null;
  topics: readonly (Hex | null)[];
};

/** Addresses in one request. */
const maxAddresses = 200;

export function sourceFilters(sources: readonly ChainEventSource[]): SourceFilter[] {
  return sources.flatMap((source) =>
    source.events.flatMap((event) => {
      const filter = { source, event, topics: topicsOf(event, source.args) };
      return addressChunks(source.addresses).map((addresses) => ({ ...filter, addresses }));
    }),
  );
}

/** One for each indexed argument: the `Transfer` of an ERC-721 has four, that of an ERC-20 three. */
function topicsOf(event: AbiEvent, args: ChainEventSource["args"] = {}): (Hex | null)[] {
  const indexed = event.inputs.filter((input) => input.indexed);
  return [
    toEventSelector(event),
    ...indexed.map(({ name = "" }) => (args[name] === undefined ? null : pad(args[name]))),
  ];
}

function addressChunks(addresses: ChainEventSource["addresses"]): ChainEventSource["addresses"][] {
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
