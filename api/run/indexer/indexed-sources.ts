import type { AbiEvent, Address } from "viem";
import {
  type ChainId,
  commonConduit,
  seaport,
  seaportDeploymentBlock,
  wrappedNative,
} from "../../../abis/deployments.ts";
import { conduitAbi } from "../../../abis/seaport.ts";
import { erc20Abi, erc721Abi, erc1155Abi, wrappedNativeAbi } from "../../../abis/tokens.ts";
import { exchanges } from "../../../projections/exchanges/exchanges.ts";
import type { ExchangeSource } from "../../../projections/exchanges/model/exchange.ts";
import type { ChainConfig } from "../config/chain-config.ts";
import type { Config } from "../config/config.ts";

/** Events that are indexed of some contracts. No two sources of a chain match one log. */
export type EventSource = {
  /** Stored with each event. `projections/log/event-kinds.ts` maps it to kinds of facts. */
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
};

/** What is indexed of a chain: Ponder's configuration and the audit's filters are both made of it. */
export type IndexedSources = { chainId: ChainId; sources: readonly EventSource[] };

type SourceConfig = Pick<
  ChainConfig,
  "chainId" | "startBlock" | "collections" | "wrappedNativeEvents"
>;

/**
 * From the configured first block on. Without one exchanges are indexed from their deployment, transfers from the
 * oldest curated contract's, which may be older.
 */
export function indexedSources(
  config: SourceConfig,
  curated: Pick<Config["curated"], "collections">,
): IndexedSources {
  const { chainId, startBlock } = config;
  const known = curated.collections.filter((collection) => collection.chainId === chainId);
  const deploymentBlock = seaportDeploymentBlock[chainId];
  const deployments = known.map(({ fromBlock }) => fromBlock ?? deploymentBlock);
  const addresses = indexedCollections(config, curated);
  return {
    chainId,
    sources: [
      ...exchanges.flatMap(({ sources }) => sources.flatMap((one) => exchangeSource(one, config))),
      ...transferSources(addresses, startBlock ?? Math.min(deploymentBlock, ...deployments)),
      ...accountSources(config, startBlock ?? deploymentBlock),
    ].filter((source) => source.addresses?.length !== 0),
  };
}

/** The contracts whose transfers are indexed, lower case; null: all. */
export function indexedCollections(
  { chainId, collections }: Pick<ChainConfig, "chainId" | "collections">,
  curated: Pick<Config["curated"], "collections">,
): Address[] | null {
  if (collections === "all") return null;
  const known = curated.collections.filter((collection) => collection.chainId === chainId);
  return sortedUnique([...known.flatMap(({ contracts }) => contracts), ...collections]);
}

function exchangeSource(
  { name, events, eventsWithCall, eventsWithTransfers, chains }: ExchangeSource,
  { chainId, startBlock }: SourceConfig,
): EventSource[] {
  const deployment = chains[chainId];
  if (deployment === undefined) return [];
  const { addresses, firstBlock } = deployment;
  const common = { name, events, addresses, firstBlock: startBlock ?? firstBlock, eventsWithCall };
  return [{ ...common, ...(eventsWithTransfers ? { eventsWithTransfers } : {}) }];
}

/** Transfers of NFTs by these contracts, null being any, from a block on. */
export function transferSources(
  addresses: readonly Address[] | null,
  firstBlock: number,
): EventSource[] {
  const common = { addresses, firstBlock, eventsWithCall: [] };
  const erc721 = eventsOf(erc721Abi, "Transfer", "ConsecutiveTransfer");
  const erc1155 = eventsOf(erc1155Abi, "TransferSingle", "TransferBatch");
  return [
    { ...common, name: "Erc721", events: erc721 },
    { ...common, name: "Erc1155", events: erc1155 },
  ];
}

/** What decides whether makers can deliver: approvals, wrapped native currency, the conduit's channels. */
function accountSources(
  { chainId, wrappedNativeEvents }: SourceConfig,
  firstBlock: number,
): EventSource[] {
  const common = { firstBlock, eventsWithCall: [] };
  const currency = [wrappedNative[chainId]];
  return [
    {
      ...{ ...common, name: "ConduitApproval", addresses: null },
      events: eventsOf(erc721Abi, "ApprovalForAll"),
      args: { operator: commonConduit.address },
    },
    {
      ...{ ...common, name: "ExchangeApproval", addresses: currency },
      events: eventsOf(erc20Abi, "Approval"),
      args: { spender: seaport["1.6"] },
    },
    {
      ...{ ...common, name: "WrappedNative" },
      addresses: wrappedNativeEvents === "all" ? currency : [],
      events: eventsOf(wrappedNativeAbi, "Transfer", "Deposit", "Withdrawal"),
    },
    {
      ...{ ...common, name: "Conduit", addresses: [commonConduit.address] },
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
