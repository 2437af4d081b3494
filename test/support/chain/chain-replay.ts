import { sql } from "kysely";
import { type Address, decodeEventLog, type Hex, type PublicClient } from "viem";
import { commonConduit, seaportAddresses } from "#abis/deployments.ts";
import { conduitAbi, seaportEvents } from "#abis/seaport.ts";
import { erc20Abi, erc721Abi, erc1155Abi, wrappedNativeAbi } from "#abis/tokens.ts";
import { wrappedNative } from "#chains/index.ts";
import type { Database } from "#projections/log/database.ts";
import type { FactKind } from "#projections/log/fact-kinds.ts";
import { appendEvents, type ChainEvent } from "../database/given.ts";
import { ownedTokens } from "../market-data/owned-tokens.ts";

type ChainLog = {
  address: Address;
  topics: [Hex, ...Hex[]] | [];
  data: Hex;
  blockNumber: bigint;
  blockHash: Hex;
  transactionHash: Hex;
  transactionIndex: number;
  logIndex: number;
};

/** Who sent a transaction, what it called, the last 4 bytes of its calldata. */
type Call = { sender: Hex; target: Hex | null; calldataTail: Hex | null };

/**
 * Appends what a chain holds, read with `eth_getLogs` and decoded here, without Ponder and the recorder.
 * A log of a database that followed the chain must come to the same facts.
 */
export async function replayChain(
  db: Database,
  client: Pick<PublicClient, "getLogs" | "getBlock" | "getTransaction">,
  chainId: 1 | 33139,
): Promise<void> {
  const logs = (await client.getLogs({ fromBlock: 0n, toBlock: "latest" })) as ChainLog[];
  const blocks = await readEach(
    logs.map((log) => log.blockNumber),
    (blockNumber) => client.getBlock({ blockNumber }),
  );
  const transactions = await readEach(
    logs.map((log) => log.transactionHash),
    (hash) => client.getTransaction({ hash }),
  );
  const events: ChainEvent[] = [];
  for (const log of logs) {
    const timestamp = blocks.get(log.blockNumber)?.timestamp;
    const transaction = transactions.get(log.transactionHash);
    if (timestamp === undefined || transaction === undefined) throw new Error("the chain moved");
    const { from, to, input } = transaction;
    const tail: Hex | null = input.length >= 10 ? `0x${input.slice(-8)}` : null;
    const call = { sender: lower(from), target: to && lower(to), calldataTail: tail };
    const block = {
      chainId,
      number: Number(log.blockNumber),
      hash: log.blockHash,
      timestamp: Number(timestamp),
    };
    const { logIndex, transactionIndex, transactionHash } = log;
    const contract = lower(log.address);
    for (const [subIndex, fact] of readLog(log, chainId, call).entries()) {
      events.push({
        block,
        logIndex,
        transactionIndex,
        transactionHash,
        contract,
        subIndex,
        ...fact,
      });
    }
  }
  if (events.length > 0) await appendEvents(db, events);
}

/** Reads each key once, many at a time. */
async function readEach<Key, Value>(
  keys: readonly Key[],
  read: (key: Key) => Promise<Value>,
): Promise<Map<Key, Value>> {
  const unique = [...new Set(keys)];
  const values = await Promise.all(unique.map(read));
  return new Map(unique.map((key, at) => [key, values[at] as Value]));
}

type EventFact = Pick<
  ChainEvent,
  "kind" | "tokenId" | "amount" | "from" | "to" | "orderHash" | "payload"
>;

const abi = [
  ...seaportEvents,
  ...conduitAbi,
  ...erc1155Abi,
  ...erc721Abi,
  ...erc20Abi,
  ...wrappedNativeAbi,
];

/** The facts of one log: none where the log is not followed, several for a batch. */
function readLog(log: ChainLog, chainId: 1 | 33139, call: Call): EventFact[] {
  const address = lower(log.address);
  const isWrapped = address === wrappedNative[chainId];
  const event = decode(log, isWrapped);
  if (event === null) return [];
  const { name, args } = event;
  const of = (kind: FactKind, rest: Omit<EventFact, "kind">): EventFact[] => [{ kind, ...rest }];
  const isExchange = (Object.values(seaportAddresses) as string[]).includes(address);
  const is16 = address === seaportAddresses["1.6"];

  if (isWrapped) return readWrapped(name, args, of);
  if (isExchange)
    return is16 || name === "OrderFulfilled" ? readExchange(name, args, call, of) : [];
  if (address === commonConduit.address) {
    if (name !== "ChannelUpdated") return [];
    return of("channel_updated", { to: lower(args.channel), amount: args.open ? 1n : 0n });
  }
  return readToken(name, args, of);
}

// biome-ignore lint/suspicious/noExplicitAny: one table for the arguments of every event
type Args = any;
type Of = (kind: FactKind, rest: Omit<EventFact, "kind">) => EventFact[];

function readWrapped(name: string, args: Args, of: Of): EventFact[] {
  if (name === "Deposit") return of("wrapped_deposit", { to: lower(args.dst), amount: args.wad });
  if (name === "Withdrawal")
    return of("wrapped_withdrawal", { from: lower(args.src), amount: args.wad });
  if (name === "Transfer") {
    return of("erc20_transfer", { from: lower(args.src), to: lower(args.dst), amount: args.wad });
  }
  if (name !== "Approval" || lower(args.spender) !== seaportAddresses["1.6"]) return [];
  return of("erc20_approval", {
    from: lower(args.owner),
    to: lower(args.spender),
    amount: args.value,
  });
}

function readExchange(name: string, args: Args, call: Call, of: Of): EventFact[] {
  const offerer = args.offerer && lower(args.offerer);
  if (name === "OrderFulfilled") {
    const { zone, offer, consideration } = serialize(args);
    const payload = { zone, offer, consideration, ...call };
    return of("order_fulfilled", {
      from: offerer,
      to: lower(args.recipient),
      orderHash: args.orderHash,
      payload,
    });
  }
  if (name === "OrderCancelled") {
    return of("order_cancelled", {
      from: offerer,
      orderHash: args.orderHash,
      payload: { zone: lower(args.zone) },
    });
  }
  if (name === "CounterIncremented") {
    return of("counter_incremented", { from: offerer, amount: args.newCounter });
  }
  if (name === "OrdersMatched") {
    return of("orders_matched", { payload: { orderHashes: args.orderHashes } });
  }
  const orderParameters = serialize(args.orderParameters);
  const from = orderParameters.offerer;
  return of("order_validated", { from, orderHash: args.orderHash, payload: { orderParameters } });
}

function readToken(name: string, args: Args, of: Of): EventFact[] {
  if (name === "Transfer") {
    return of("erc721_transfer", {
      from: lower(args.from),
      to: lower(args.to),
      tokenId: args.tokenId,
    });
  }
  if (name === "ConsecutiveTransfer") {
    const [first, last]: bigint[] = [args.fromTokenId, args.toTokenId];
    const parties = { from: lower(args.fromAddress), to: lower(args.toAddress) };
    const amount = (last ?? 0n) - (first ?? 0n) + 1n;
    return of("erc721_consecutive_transfer", { ...parties, tokenId: args.fromTokenId, amount });
  }
  if (name === "TransferSingle" || name === "TransferBatch") {
    const ids: bigint[] = args.ids ?? [args.id];
    const values: bigint[] = args.values ?? [args.value];
    const parties = { from: lower(args.from), to: lower(args.to) };
    return ids.flatMap((tokenId, at) =>
      of("erc1155_transfer", { ...parties, tokenId, amount: values[at] ?? 0n }),
    );
  }
  if (name !== "ApprovalForAll" || lower(args.operator) !== commonConduit.address) return [];
  const parties = { from: lower(args.owner), to: lower(args.operator) };
  return of("approval_for_all", { ...parties, amount: args.approved ? 1n : 0n });
}

function decode(
  { topics, data }: ChainLog,
  isWrapped: boolean,
): { name: string; args: Args } | null {
  try {
    const known = isWrapped ? [...wrappedNativeAbi, ...erc20Abi] : abi;
    const { eventName, args } = decodeEventLog({ abi: known, topics, data, strict: true });
    return eventName === undefined ? null : { name: eventName, args };
  } catch {
    return null;
  }
}

/** Integers as decimal strings, hex in lower case, as the log's payloads have them. */
function serialize(value: Args): Args {
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "string") return value.toLowerCase();
  if (Array.isArray(value)) return value.map(serialize);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, serialize(item)]));
}

function lower(hex: string): Address {
  return hex.toLowerCase() as Address;
}

/** Effective facts of a log, without ids that depend on the order of arrival. */
export async function dumpFacts(db: Database): Promise<string[]> {
  const { rows } = await sql<{ row: string }>`
    select concat_ws(' ', b.chain_id, b.number, encode(b.hash, 'hex'), extract(epoch from b.timestamp), f.log_index,
                     f.sub_index, f.kind, encode(c.address, 'hex'), f.token_id, f.amount,
                     encode(f.from_address, 'hex'), encode(f.to_address, 'hex'), encode(f.order_hash, 'hex'),
                     f.payload, f.transaction_index, encode(t.hash, 'hex')) as row
    from log.fact f
    join log.block b using (block_id)
    left join log.contract c using (contract_id)
    left join log.transaction t using (block_id, transaction_index)
    where f.log_index is not null and b.block_id not in (select block_id from log.retracted_blocks((select position from log.head)))
    order by b.chain_id, b.number, f.log_index, f.sub_index`.execute(db);
  return rows.map(({ row }) => row);
}

/** Owners and sales without ids that depend on the order of arrival. */
export async function dumpState(db: Database): Promise<string[]> {
  const { rows } = await sql<{ row: string }>`
    select concat_ws(' ', 'token', c.chain_id, encode(c.address, 'hex'), t.token_id, t.standard,
                     encode(t.owner, 'hex'), t.supply, t.is_burned) as row
    from ${ownedTokens} t join log.contract c using (contract_id)
    union all
    select concat_ws(' ', 'balance', c.chain_id, encode(c.address, 'hex'), b.token_id, encode(b.owner, 'hex'), b.units)
    from ownership.balance b join log.contract c using (contract_id)
    union all
    select concat_ws(' ', 'sale', s.chain_id, encode(c.address, 'hex'), s.token_id, s.quantity, s.price_wei,
                     s.total_wei, encode(s.currency, 'hex'), encode(s.seller, 'hex'), encode(s.buyer, 'hex'), s.side,
                     s.marketplace, s.fees, encode(s.sale_id, 'hex'), encode(s.block_hash, 'hex'), s.log_index)
    from sales.sale s join log.contract c using (contract_id)
    order by 1`.execute(db);
  return rows.map(({ row }) => row);
}
