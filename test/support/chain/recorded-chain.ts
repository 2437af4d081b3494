import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { type Hex, keccak256, numberToHex, pad, stringToHex } from "viem";

/** Where recorded mainnet blocks are, when they are there. */
const recordedBlocksDir = join(
  process.env.REAL_DATA_DIR ?? join(import.meta.dirname, "../../../../shared/realdata"),
  "blocks",
);

export const hasRecordedBlocks = existsSync(recordedBlocksDir);

/** A sale of another exchange than Seaport, as its transfers and payments prove. */
export type ExpectedSale = Record<
  "exchange" | "version" | "side" | "tokenId" | "quantity",
  string
> &
  Record<"txHash" | "contract" | "currency" | "seller" | "buyer", Hex> & {
    logIndex: number;
    orderHash: Hex | null;
    /** Null: several tokens for one price. */
    totalWei: string | null;
    sideAccepted?: string[];
    totalWeiAccepted?: string[];
    currencyAccepted?: Hex[];
    passedThrough: Hex[];
  };

/** Those of the recorded blocks. */
export function readExpectedSales(): ExpectedSale[] {
  return (readExchangeData("open-blocks.json") as { sales: ExpectedSale[] }).sales;
}

function readExchangeData(name: string): unknown {
  return JSON.parse(readFileSync(join(recordedBlocksDir, "../exchanges", name), "utf8"));
}

type GoldenTransaction = {
  transaction: Record<"hash" | "blockHash" | "from" | "to" | "input", Hex> & {
    block: number;
    timestamp: number;
    valueWei: string;
  };
  logs: Omit<RecordedLog, "transactionIndex" | "transactionHash">[];
  sales: Omit<ExpectedSale, "txHash">[];
};

/** Further transactions, with all their logs, and the sales that they are. */
export function readGoldenTransactions(): { blocks: RecordedBlock[]; sales: ExpectedSale[] } {
  const { transactions } = readExchangeData("golden.json") as { transactions: GoldenTransaction[] };
  const sales = transactions.flatMap(({ transaction, sales }) =>
    sales.map((sale) => ({ ...sale, txHash: transaction.hash })),
  );
  const hashes = new Set(transactions.map(({ transaction }) => transaction.blockHash));
  const blocks = [...hashes].map((hash) =>
    goldenBlock(transactions.filter(({ transaction }) => transaction.blockHash === hash)),
  );
  return { blocks, sales };
}

function goldenBlock(unsorted: readonly GoldenTransaction[]): RecordedBlock {
  const transactions = unsorted.toSorted(
    (one, other) => (one.logs[0]?.logIndex ?? 0) - (other.logs[0]?.logIndex ?? 0),
  );
  const [first] = transactions;
  if (first === undefined) throw new Error("a block without transactions");
  const { block: number, blockHash: hash, timestamp } = first.transaction;
  return {
    ...{ number, hash, timestamp, header: { number, hash, timestamp } },
    transactions: transactions.map(({ transaction }, transactionIndex) => {
      const { hash, blockHash, from, to, input, valueWei: value } = transaction;
      const gas = { gas: 0, gasPrice: 0, nonce: 0, type: 0, v: 0, r: "0x0", s: "0x0" };
      return { hash, blockHash, from, to, input, value, transactionIndex, ...gas };
    }),
    logs: transactions.flatMap(({ transaction, logs }, transactionIndex) =>
      logs.map((log) => ({ ...log, transactionIndex, transactionHash: transaction.hash })),
    ),
  };
}

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
type Fields = { [key: string]: Json };

export type RecordedLog = {
  address: Hex;
  topics: Hex[];
  data: Hex;
  logIndex: number;
  transactionIndex: number;
  transactionHash: Hex;
};

export type RecordedBlock = {
  number: number;
  hash: Hex;
  timestamp: number;
  header: Fields;
  transactions: Fields[];
  logs: RecordedLog[];
};

type Receipt = Fields & { logs: RecordedLog[] };

/** A transaction from its receipt, which is all that was recorded of some blocks. */
function transactionOf(receipt: Receipt): Fields {
  const { transactionHash, transactionIndex, blockHash, blockNumber, from, to } = receipt;
  return { hash: transactionHash, transactionIndex, blockHash, blockNumber, from, to } as Fields;
}

/** Blocks from one recorded block to the next: the years between them hold nothing to test and take minutes to scan. */
const SPACING = 40;

/** Blocks in order, moved together: hashes, times, transactions and logs are the chain's. */
export function moveTogether(blocks: readonly RecordedBlock[]): RecordedBlock[] {
  return blocks
    .toSorted((a, b) => a.number - b.number)
    .map((block, index, all) => ({ ...block, number: (all[0]?.number ?? 0) + index * SPACING }));
}

/** The recorded blocks, whole. */
export function readRecordedBlocks(): RecordedBlock[] {
  return readdirSync(recordedBlocksDir)
    .filter((name) => name.endsWith(".json.gz"))
    .map((name) => JSON.parse(gunzipSync(readFileSync(join(recordedBlocksDir, name))).toString()))
    .map(({ header, transactions, receipts }) => ({
      number: Number(header.number),
      hash: header.hash,
      timestamp: Number(header.timestamp ?? receipts[0]?.logs[0]?.blockTimestamp),
      header,
      transactions: transactions.length > 0 ? transactions : receipts.map(transactionOf),
      logs: receipts.flatMap((receipt: Receipt) => receipt.logs),
    }));
}

/**
 * A JSON-RPC node whose chain is the recorded blocks with empty blocks between them, up to a fixed head. It answers the methods that an indexer calls.
 */
export async function serveRecordedChain(blocks: readonly RecordedBlock[]) {
  const chain = openChain(blocks);
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = JSON.parse(Buffer.concat(chunks).toString());
      const answer = Array.isArray(body) ? body.map(chain.answer) : chain.answer(body);
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(answer));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    rpcUrl: `http://127.0.0.1:${port}`,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const HEAD_DISTANCE = 200;

function openChain(blocks: readonly RecordedBlock[]) {
  const byNumber = new Map(blocks.map((block) => [block.number, block]));
  const byHash = new Map(blocks.map((block) => [block.hash, block]));
  const head = (blocks.at(-1)?.number ?? 0) + HEAD_DISTANCE;

  const blockAt = (number: number, full: boolean): Json => {
    if (number > head) return null;
    const recorded = byNumber.get(number);
    return recorded === undefined
      ? emptyBlock(number, blocks, hashAt)
      : { ...emptyBlock(number, blocks, hashAt), ...wireBlock(recorded, full, hashAt(number - 1)) };
  };
  const hashAt = (number: number): Hex =>
    byNumber.get(number)?.hash ?? keccak256(stringToHex(`empty block ${number}`));
  const heightOf = (tag: string) =>
    ["latest", "safe", "finalized", "pending"].includes(tag) ? head : Number(tag);

  const methods: Record<string, (params: Json[]) => Json> = {
    eth_chainId: () => "0x1",
    eth_blockNumber: () => numberToHex(head),
    eth_getBlockByNumber: ([tag, full]) => blockAt(heightOf(String(tag)), full === true),
    eth_getBlockByHash: ([hash, full]) => {
      const recorded = byHash.get(hash as Hex);
      return recorded === undefined ? null : blockAt(recorded.number, full === true);
    },
    eth_getTransactionReceipt: ([hash]) => receiptOf(blocks, hash as Hex),
    eth_getLogs: ([filter]) => selectLogs(blocks, byHash, filter as Fields, heightOf),
  };
  return {
    answer: ({ id, method, params }: { id: Json; method: string; params?: Json[] }) => {
      const run = methods[method];
      if (run !== undefined) return { jsonrpc: "2.0", id, result: run(params ?? []) };
      return { jsonrpc: "2.0", id, error: { code: -32601, message: `no method ${method}` } };
    },
  };
}

/** The part of a receipt that transfers are read from. */
function receiptOf(blocks: readonly RecordedBlock[], hash: Hex): Json {
  for (const block of blocks) {
    const logs = block.logs.filter((log) => log.transactionHash === hash);
    if (logs.length === 0) continue;
    const wire = logs.map((log) => wireLog(block, log));
    return { transactionHash: hash, blockHash: block.hash, status: "0x1", logs: wire };
  }
  return null;
}

function selectLogs(
  blocks: readonly RecordedBlock[],
  byHash: ReadonlyMap<Hex, RecordedBlock>,
  { fromBlock, toBlock, blockHash, address, topics }: Fields,
  heightOf: (tag: string) => number,
): Json {
  const one = byHash.get(blockHash as Hex);
  const selected =
    blockHash === undefined
      ? blocks.filter(
          ({ number }) =>
            number >= heightOf(String(fromBlock)) && number <= heightOf(String(toBlock)),
        )
      : [one].filter((block) => block !== undefined);
  return selected.flatMap((block) =>
    block.logs
      .filter((log) => matches(address, log.address))
      .filter((log) =>
        ((topics ?? []) as Json[]).every((topic, at) => matches(topic, log.topics[at])),
      )
      .map((log) => wireLog(block, log)),
  );
}

function matches(wanted: Json | undefined, actual: string | undefined): boolean {
  if (wanted === null || wanted === undefined) return true;
  const list = (Array.isArray(wanted) ? wanted : [wanted]).map((one) => String(one).toLowerCase());
  return actual !== undefined && list.includes(actual.toLowerCase());
}

function wireLog(block: RecordedBlock, log: RecordedLog): Fields {
  return {
    ...(log as unknown as Fields),
    blockHash: block.hash,
    blockNumber: numberToHex(block.number),
    logIndex: numberToHex(log.logIndex),
    transactionIndex: numberToHex(log.transactionIndex),
    removed: false,
  };
}

function wireBlock(block: RecordedBlock, full: boolean, parentHash: Hex): Fields {
  const { header, transactions } = block;
  return {
    ...header,
    parentHash,
    ...hexed(header, [...blockQuantities]),
    number: numberToHex(block.number),
    transactions: full
      ? transactions.map((transaction) => ({
          ...transaction,
          ...hexed(transaction, quantities),
          blockNumber: numberToHex(block.number),
        }))
      : transactions.map(({ hash }) => hash ?? null),
  };
}

const blockQuantities = [
  "timestamp",
  "gasLimit",
  "gasUsed",
  "size",
  "difficulty",
  "totalDifficulty",
  "baseFeePerGas",
] as const;

const quantities = [
  "transactionIndex",
  "gas",
  "gasPrice",
  "maxFeePerGas",
  "maxPriorityFeePerGas",
  "nonce",
  "value",
  "type",
  "chainId",
  "v",
];

function hexed(fields: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(
    names
      .filter((name) => fields[name] !== undefined && fields[name] !== null)
      .map((name) => [name, numberToHex(BigInt(fields[name] as string))]),
  );
}

/** A block without transactions between two recorded ones, its time on the line between theirs. */
function emptyBlock(
  number: number,
  blocks: readonly RecordedBlock[],
  hashAt: (number: number) => Hex,
): Fields {
  const timed = blocks.filter(({ timestamp }) => Number.isFinite(timestamp));
  const below = timed.findLast((block) => block.number < number);
  const above = timed.find((block) => block.number > number);
  const from = below ?? { number: 0, timestamp: 1_438_269_973 };
  const to = above ?? { number: from.number + 100, timestamp: from.timestamp + 1_200 };
  const share = (number - from.number) / (to.number - from.number);
  const zero = pad("0x", { size: 32 });
  return {
    number: numberToHex(number),
    hash: hashAt(number),
    parentHash: hashAt(number - 1),
    timestamp: numberToHex(Math.floor(from.timestamp + share * (to.timestamp - from.timestamp))),
    logsBloom: pad("0x", { size: 256 }),
    transactions: [],
    miner: pad("0x", { size: 20 }),
    nonce: "0x0000000000000000",
    mixHash: zero,
    sha3Uncles: zero,
    stateRoot: zero,
    receiptsRoot: zero,
    transactionsRoot: zero,
    extraData: "0x",
    uncles: [],
    ...Object.fromEntries(
      ["gasLimit", "gasUsed", "size", "difficulty", "totalDifficulty", "baseFeePerGas"].map(
        (name) => [name, "0x0"],
      ),
    ),
  };
}
