import {
  type Address,
  encodeAbiParameters,
  encodeEventTopics,
  type Hex,
  pad,
  parseAbiParameters,
  toEventSelector,
  zeroAddress,
} from "viem";
import { seaportAddresses } from "#abis/deployments.ts";
import { seaportEvents } from "#abis/seaport.ts";

export type EmittedLog = {
  readonly address: Address;
  readonly topics: readonly Hex[];
  readonly data: Hex;
};

/** A transaction without its place. */
export type PlannedTransaction = {
  readonly from: Address;
  readonly to: Address;
  readonly input: Hex;
  readonly value: bigint;
  readonly logs: readonly EmittedLog[];
};

/** What differs from a usual block. */
export type BlockPlan = {
  /** No transaction at all. */
  readonly isEmpty?: boolean;
  /** The token of the mint has the largest id. */
  readonly hasLargestToken?: boolean;
  /** Tokens minted beside the usual ones. */
  readonly moreMints?: number;
  /** Each transaction logs its payment, as EIP-7708 has it. */
  readonly logsPayments?: boolean;
};

type PlaceInChain = {
  readonly number: number;
  readonly branch: number;
  /** The token minted that many blocks before, and who holds it; undefined: none. */
  tokenOf(blocksBefore: number): { tokenId: bigint; owner: Address } | undefined;
};

/** The collection, whose calls `node/contracts.ts` answers. */
export const collection: Address = "0xc011ec7000000000000000000000000000000721";
const payments: Address = "0xfffffffffffffffffffffffffffffffffffffffe";
const people = Array.from(
  { length: 16 },
  (_, index): Address => `0xacc0${(index + 1).toString(16).padStart(36, "0")}`,
);
const minter: Address = "0x3157e40000000000000000000000000000000001";

export const transferTopic = toEventSelector("Transfer(address,address,uint256)");
const mintsOfTransaction = 500;
const blocksOfSale = 25;

const person = (index: number): Address => people[index % people.length] ?? minter;
const word = (value: bigint): Hex => `0x${value.toString(16).padStart(64, "0")}`;

/** A mint, the move of the token minted five blocks before, and every 25 blocks a sale and a raised counter. */
export function contentsOf(place: PlaceInChain, plan: BlockPlan): PlannedTransaction[] {
  if (plan.isEmpty === true) return [];
  const { number, branch } = place;
  const mint = mintOf(place, plan);
  const moved = place.tokenOf(5);
  const planned = [
    call(collection, [mint]),
    ...(moved === undefined ? [] : [moveOf(moved, number + branch)]),
    ...(number % blocksOfSale === 0 ? tradesOf(place) : []),
    ...mintsBeside(number, plan.moreMints ?? 0),
  ];
  return plan.logsPayments === true ? planned.map(withPayment) : planned;
}

function mintOf({ number, branch }: PlaceInChain, { hasLargestToken }: BlockPlan): EmittedLog {
  const tokenId = hasLargestToken === true ? 2n ** 256n - 1n : BigInt(number * 1_000 + 7 * branch);
  return transfer(zeroAddress, person(number + branch), tokenId);
}

/** To any other of the people. */
const another = (owner: Address, draw: number): Address =>
  person(people.indexOf(owner) + 1 + (draw % (people.length - 1)));

function moveOf({ tokenId, owner }: { tokenId: bigint; owner: Address }, draw: number) {
  return call(collection, [transfer(owner, another(owner, draw), tokenId)], owner);
}

function tradesOf({ number, branch, tokenOf }: PlaceInChain): PlannedTransaction[] {
  const sold = tokenOf(10);
  const counter: EmittedLog = {
    address: seaportAddresses["1.6"],
    topics: [toEventSelector("CounterIncremented(uint256,address)"), pad(person(number + branch))],
    data: word(BigInt(number * 10 + branch)),
  };
  const raised = call(seaportAddresses["1.6"], [counter], person(number + branch));
  if (sold === undefined) return [raised];
  const buyer = another(sold.owner, number + 3 * branch);
  const price = BigInt(1 + (number % 97)) * 10n ** 16n;
  const trade = { ...sold, seller: sold.owner, buyer, price, number, branch };
  const logs = [fulfilledLog(trade), transfer(sold.owner, buyer, sold.tokenId)];
  return [{ ...call(seaportAddresses["1.6"], logs, buyer), value: price }, raised];
}

type Trade = {
  tokenId: bigint;
  seller: Address;
  buyer: Address;
  price: bigint;
  number: number;
  branch: number;
};

/** A listing that the buyer pays in ether, with a fee of 2 %. */
function fulfilledLog({ tokenId, seller, buyer, price, number, branch }: Trade): EmittedLog {
  const fee = price / 50n;
  const paid = { itemType: 0, token: zeroAddress, identifier: 0n } as const;
  const event = { abi: seaportEvents, eventName: "OrderFulfilled" } as const;
  const topics = encodeEventTopics({ ...event, args: { offerer: seller, zone: zeroAddress } });
  const data = encodeAbiParameters(fulfilledData, [
    word(BigInt(number) * 1_000n + BigInt(branch) + 2n ** 200n),
    buyer,
    [{ itemType: 2, token: collection, identifier: tokenId, amount: 1n }],
    [
      { ...paid, amount: price - fee, recipient: seller },
      { ...paid, amount: fee, recipient: "0x0000a26b00c1f0df003000390027140000faa719" },
    ],
  ]);
  return { address: seaportAddresses["1.6"], topics: topics as Hex[], data };
}

const fulfilledData = parseAbiParameters([
  "bytes32 orderHash, address recipient, SpentItem[] offer, ReceivedItem[] consideration",
  "struct SpentItem { uint8 itemType; address token; uint256 identifier; uint256 amount; }",
  "struct ReceivedItem { uint8 itemType; address token; uint256 identifier; uint256 amount; address recipient; }",
]);

function mintsBeside(number: number, count: number): PlannedTransaction[] {
  const firstId = BigInt(number) * 2n ** 64n;
  const logs = Array.from({ length: count }, (_, index) =>
    transfer(zeroAddress, person(index), firstId + BigInt(index)),
  );
  const transactions: PlannedTransaction[] = [];
  for (let at = 0; at < count; at += mintsOfTransaction) {
    transactions.push(call(collection, logs.slice(at, at + mintsOfTransaction)));
  }
  return transactions;
}

function transfer(from: Address, to: Address, tokenId: bigint): EmittedLog {
  const topics = [transferTopic, pad(from), pad(to), word(tokenId)];
  return { address: collection, topics, data: "0x" };
}

function call(
  to: Address,
  logs: readonly EmittedLog[],
  from: Address = minter,
): PlannedTransaction {
  return { from, to, input: "0x12345678360c6ebe", value: 0n, logs };
}

/** In front of the last log: between a fill and its transfer, where there are two. */
function withPayment(planned: PlannedTransaction): PlannedTransaction {
  const payment: EmittedLog = {
    address: payments,
    topics: [transferTopic, pad(planned.from), pad(planned.to)],
    data: word(planned.value + 1n),
  };
  return { ...planned, logs: [...planned.logs.slice(0, -1), payment, ...planned.logs.slice(-1)] };
}
