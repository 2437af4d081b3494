import { createConfig } from "ponder";
import { type Address, isAddress, zeroAddress } from "viem";
import {
  type ChainId,
  chainIds,
  commonConduit,
  seaport,
  wrappedNative,
} from "./abis/deployments.ts";
import { conduitAbi, seaportEvents } from "./abis/seaport.ts";
import { erc20Abi, erc721Abi, erc1155Abi, wrappedNativeAbi } from "./abis/tokens.ts";

// One process serves one chain; the launcher (api/run/indexer/launch.ts) says which by the environment.
function setting(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === "") throw new Error(`${name} is not set`);
  return value;
}

function chainSetting(): ChainId {
  const chainId = chainIds.find((id) => String(id) === setting("INDEXER_CHAIN_ID"));
  if (chainId === undefined) throw new Error(`INDEXER_CHAIN_ID is none of ${chainIds.join(", ")}`);
  return chainId;
}

/** `*` is every collection. Of an empty list, the zero address, which emits nothing: Ponder reads [] as every address. */
function collectionsSetting(): Address[] | undefined {
  const text = setting("INDEXER_COLLECTIONS");
  if (text === "*") return undefined;
  const addresses = text.split(",").filter((item) => isAddress(item, { strict: false }));
  return addresses.length > 0 ? addresses : [zeroAddress];
}

const chainId = chainSetting();
const chain = `chain_${chainId}`;
const ws = process.env.INDEXER_WS_URL;
const logsBlockRange = process.env.INDEXER_LOGS_BLOCK_RANGE;
const startBlock = Number(setting("INDEXER_START_BLOCK"));
const collections = collectionsSetting();
const collectionSource = {
  chain,
  startBlock: Number(setting("INDEXER_TRANSFERS_START_BLOCK")),
  ...(collections === undefined ? {} : { address: collections }),
};

/**
 * No two sources match one log: each event of a contract is named by one source, and the `Transfer` of an ERC-20
 * (three topics) is not decoded as that of an ERC-721 (four).
 */
export default createConfig({
  database: {
    kind: "postgres",
    connectionString: setting("DATABASE_URL"),
    poolConfig: { max: 11 },
  },
  chains: {
    [chain]: {
      id: chainId,
      rpc: setting("INDEXER_RPC_URLS").split(","),
      pollingInterval: 200,
      ...(ws === undefined ? {} : { ws }),
      ...(logsBlockRange === undefined ? {} : { ethGetLogsBlockRange: Number(logsBlockRange) }),
    },
  },
  contracts: {
    Seaport: { chain, abi: seaportEvents, address: seaport["1.6"], startBlock },
    SeaportLegacy: {
      chain,
      abi: seaportEvents,
      address: [seaport["1.1"], seaport["1.4"], seaport["1.5"]],
      startBlock,
    },
    Erc721: { ...collectionSource, abi: erc721Abi },
    Erc1155: { ...collectionSource, abi: erc1155Abi },
    ConduitApproval: {
      chain,
      abi: erc721Abi,
      filter: { event: "ApprovalForAll", args: { operator: commonConduit.address } },
      startBlock,
    },
    ExchangeApproval: {
      chain,
      abi: erc20Abi,
      address: wrappedNative[chainId],
      filter: { event: "Approval", args: { spender: seaport["1.6"] } },
      startBlock,
    },
    WrappedNative: {
      chain,
      abi: wrappedNativeAbi,
      address: setting("INDEXER_WRAPPED_NATIVE") === "all" ? wrappedNative[chainId] : zeroAddress,
      startBlock,
    },
    Conduit: { chain, abi: conduitAbi, address: commonConduit.address, startBlock },
  },
});
