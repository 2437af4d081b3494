import {
  type Address,
  createPublicClient,
  type Hex,
  http,
  type PublicClient,
  parseAbi,
  parseEventLogs,
  toEventSelector,
} from "viem";
import { seaportAddresses } from "#abis/deployments.ts";
import type { ChainId } from "#chains/index.ts";

/** A bought listing of one NFT, from the receipt of its transaction. */
export type ListingFill = {
  txHash: string;
  orderHash: string;
  contract: string;
  tokenId: string;
  quantity: number;
  priceWei: string;
  totalWei: string;
  seller: string;
  buyer: string;
  side: string;
  fees: { recipient: string; wei: string }[];
  blockHash: string;
  blockNumber: number;
  logIndex: number;
  timestamp: string;
};

const events = parseAbi([
  "struct SpentItem { uint8 itemType; address token; uint256 identifier; uint256 amount; }",
  "struct ReceivedItem { uint8 itemType; address token; uint256 identifier; uint256 amount; address recipient; }",
  "event OrderFulfilled(bytes32 orderHash, address indexed offerer, address indexed zone, address recipient, SpentItem[] offer, ReceivedItem[] consideration)",
]);
const [fulfilled] = events;
const matchedTopic = toEventSelector("OrdersMatched(bytes32[])");

const exchange = seaportAddresses["1.6"];

/** All of a chain, from receipts alone. Throws when a buyer sent too little. */
export async function readListingFills(rpcUrl: string, chainId: ChainId): Promise<ListingFill[]> {
  const client = createPublicClient({ transport: http(rpcUrl, { timeout: 120_000 }) });
  if ((await client.getChainId()) !== chainId) throw new Error(`${rpcUrl} is another chain`);
  const logs = await client.getLogs({ address: exchange, event: fulfilled, fromBlock: 0n });
  const fills: ListingFill[] = [];
  for (const hash of new Set(logs.map(({ transactionHash }) => transactionHash))) {
    fills.push(...(await fillsOf(client, hash)));
  }
  return fills;
}

/** Those of one transaction; matched orders are not bought listings. */
async function fillsOf(client: PublicClient, hash: Hex): Promise<ListingFill[]> {
  const receipt = await client.getTransactionReceipt({ hash });
  const logs = receipt.logs.filter((log) => lower(log.address) === exchange);
  if (logs.some(({ topics }) => topics[0] === matchedTopic)) return [];
  const { timestamp } = await client.getBlock({ blockHash: receipt.blockHash });
  const { to, value } = await client.getTransaction({ hash });
  const isDirect = to !== null && lower(to) === exchange;
  return parseEventLogs({ abi: events, logs }).flatMap((event) => {
    const fill = readFill(event, timestamp);
    if (fill === null) return [];
    if (isDirect) assertPaid(fill, event.args.offer[0]?.itemType === 2, value);
    return [fill];
  });
}

type Fulfilled = ReturnType<typeof parseEventLogs<typeof events>>[number];

/** Null for bids, bundles and payments in anything but native currency. */
function readFill(event: Fulfilled, timestamp: bigint): ListingFill | null {
  const { offer, consideration, orderHash, offerer, recipient } = event.args;
  const [sold, ...more] = offer;
  const isNative = consideration.every(({ itemType }) => itemType === 0);
  const isNft = sold?.itemType === 2 || sold?.itemType === 3;
  if (!isNft || more.length > 0 || !isNative) return null;
  const totalWei = consideration.reduce((sum, { amount }) => sum + amount, 0n);
  return {
    txHash: event.transactionHash,
    orderHash,
    contract: lower(sold.token),
    tokenId: `${sold.identifier}`,
    quantity: Number(sold.amount),
    priceWei: `${totalWei / sold.amount}`,
    totalWei: `${totalWei}`,
    seller: lower(offerer),
    buyer: lower(recipient),
    side: "ask",
    fees: consideration
      .filter((leg) => leg.recipient !== offerer)
      .map((leg) => ({ recipient: lower(leg.recipient), wei: `${leg.amount}` })),
    blockHash: event.blockHash,
    blockNumber: Number(event.blockNumber),
    logIndex: event.logIndex,
    timestamp: new Date(Number(timestamp) * 1000).toISOString(),
  };
}

/** An ERC-721 costs exactly what its buyer sent; for partly sold units a part is refunded. */
function assertPaid(fill: ListingFill, isUnique: boolean, sentWei: bigint): void {
  const totalWei = BigInt(fill.totalWei);
  if (isUnique ? sentWei === totalWei : sentWei >= totalWei) return;
  throw new Error(`${fill.txHash} paid ${sentWei} wei for what the event says cost ${totalWei}`);
}

const lower = (address: Address): Address => address.toLowerCase() as Address;
