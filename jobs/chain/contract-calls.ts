import {
  type Abi,
  type Address,
  decodeFunctionResult,
  encodeFunctionData,
  type Hex,
  isHex,
  multicall3Abi,
  numberToHex,
  prepareEncodeFunctionData,
  zeroAddress,
} from "viem";
import { multicall3 } from "#abis/deployments.ts";
import { type BlockHeader, type ChainClient, parseBlockHeader } from "./client.ts";
import { maxResponseBytes, type RpcTarget, requestBatch } from "./node-client.ts";
import {
  isContractFault,
  ResponseTooLarge,
  type RpcCall,
  RpcFailure,
  type RpcResponse,
} from "./rpc.ts";

export type ContractCall = { to: Address; data: Hex };

/** Returned data; null: the contract reverted; undefined: no result from the node. */
export type ContractResult = Hex | null | undefined;

/** The block at which state is read. */
export type ReadBasis = BlockHeader & { hasMulticall: boolean };

/** Gas of a separate call: enough for a view through proxies, a limit for an endless loop. */
const separateCallGas = 5_000_000n;

/** Bytes that one call of an untrusted contract may return: an on-chain document with its image. */
export const maxReturnedBytes = 65_536;

/** Limit of a response to `calls` calls: returned bytes as hex, and what surrounds them. */
export function responseLimit(calls: number): number {
  return Math.min(maxResponseBytes, calls * 2 * (maxReturnedBytes + 1_024) + 4_096);
}

/** The block was reorged away during the read; a retry at another block may succeed. */
export class BasisReorged extends RpcFailure {
  override name = "BasisMoved";
}

/** The chain's latest block, to read at. */
export async function fetchReadBasis(client: ChainClient): Promise<ReadBasis> {
  const [block, code] = await requestBatch(client, [
    { method: "eth_getBlockByNumber", params: ["latest", false] },
    { method: "eth_getCode", params: [multicall3, "latest"] },
  ]);
  const latest = parseBlockHeader(client.chainId, block, "latest");
  if (latest === null) throw new RpcFailure(`Chain ${client.chainId} has no latest block`);
  return { ...latest, hasMulticall: resultOf(code) !== "0x" && resultOf(code) !== undefined };
}

/**
 * Calls untrusted contracts, joined through Multicall3 if deployed. Calls that fail joined are repeated separately: one
 * hostile contract may have used up the others' gas.
 */
export async function callContracts(
  client: ChainClient,
  basis: ReadBasis,
  calls: readonly ContractCall[],
): Promise<ContractResult[]> {
  const answers = basis.hasMulticall ? await callJoined(client, basis, calls) : [];
  const open = calls.flatMap((call, index) => (answers[index] ? [] : [{ call, index }]));
  const separate = await callSeparately(
    client,
    basis,
    open.map(({ call }) => call),
  );
  const all: ContractResult[] = calls.map((_, index) => answers[index]);
  open.forEach(({ index }, place) => {
    all[index] = separate[place];
  });
  return all;
}

/** Whether each address has code; undefined: unknown. */
export async function haveCode(
  client: ChainClient,
  basis: ReadBasis,
  addresses: readonly Address[],
): Promise<(boolean | undefined)[]> {
  const height = numberToHex(basis.number);
  const calls = addresses.map((address) => ({ method: "eth_getCode", params: [address, height] }));
  const answers = await requestAt(client, basis, calls);
  return answers.map((answer) => {
    const code = resultOf(answer);
    return code === undefined ? undefined : code !== "0x";
  });
}

async function callJoined(
  client: ChainClient,
  basis: ReadBasis,
  calls: readonly ContractCall[],
): Promise<ContractResult[]> {
  try {
    const call = ethCall(basis, joinCalls(calls));
    const [answer] = await requestAt(client, basis, [call], responseLimit(calls.length));
    return splitJoinedResult(resultOf(answer)).map((one) =>
      "returned" in one ? one.returned : undefined,
    );
  } catch (error) {
    if (error instanceof RpcFailure && !(error instanceof ResponseTooLarge)) throw error;
    return [];
  }
}

/** One Multicall3 call that makes all of these. */
function joinCalls(calls: readonly ContractCall[]): ContractCall {
  const data = encodeCall({
    abi: multicall3Abi,
    functionName: "aggregate3",
    args: [calls.map(({ to, data }) => ({ target: to, allowFailure: true, callData: data }))],
  });
  return { to: multicall3, data };
}

/** Returned data of each joined call, or its revert data; empty if the whole call failed. */
export function splitJoinedResult(
  returned: Hex | undefined,
): ({ returned: Hex } | { reverted: Hex })[] {
  if (returned === undefined) return [];
  const results = decodeFunctionResult({
    abi: multicall3Abi,
    functionName: "aggregate3",
    data: returned,
  });
  return results.map(({ success, returnData }) =>
    success ? { returned: returnData } : { reverted: returnData },
  );
}

/** Separate calls in one batch, halved while the response is too large. */
async function callSeparately(
  client: ChainClient,
  basis: ReadBasis,
  calls: readonly ContractCall[],
): Promise<ContractResult[]> {
  if (calls.length === 0) return [];
  try {
    const asked = calls.map((call) => ethCall(basis, call, separateCallGas));
    const answers = await requestAt(client, basis, asked, responseLimit(calls.length));
    return answers.map(contractResult);
  } catch (error) {
    if (!(error instanceof ResponseTooLarge)) throw error;
    if (calls.length === 1) return [null];
    const middle = Math.ceil(calls.length / 2);
    return [
      ...(await callSeparately(client, basis, calls.slice(0, middle))),
      ...(await callSeparately(client, basis, calls.slice(middle))),
    ];
  }
}

function ethCall(basis: ReadBasis, { to, data }: ContractCall, gas?: bigint): RpcCall {
  const call = gas === undefined ? { to, data } : { to, data, gas: numberToHex(gas) };
  return { method: "eth_call", params: [call, numberToHex(basis.number)] };
}

function contractResult(answer: RpcResponse): ContractResult {
  return "error" in answer && isContractFault(answer.error) ? null : resultOf(answer);
}

export function resultOf(answer: RpcResponse | undefined): Hex | undefined {
  if (answer === undefined || "error" in answer) return undefined;
  return isHex(answer.result) ? answer.result : undefined;
}

/** A batch whose last call proves that the basis block is still canonical. */
export async function requestAt(
  client: RpcTarget,
  basis: BlockHeader,
  calls: readonly RpcCall[],
  maxBytes?: number,
): Promise<RpcResponse[]> {
  const height = { method: "eth_getBlockByNumber", params: [numberToHex(basis.number), false] };
  const answers = await requestBatch(client, [...calls, height], maxBytes);
  const block = parseBlockHeader(client.chainId, answers.pop(), basis.number);
  if (block?.hash !== basis.hash) {
    throw new BasisReorged(`Chain ${client.chainId} reorged block ${basis.number} during a read`);
  }
  return answers;
}

/**
 * A static call. A call with a sender is never joined, as Multicall3 would be the sender. `payer`: the contract whose code
 * decides what the call costs, where that is not the called one. `value`: ether that the sender pays, whether or not it
 * has it. `code`: in place of that of the called account.
 */
type SenderCall = ContractCall & {
  from?: Address;
  gas?: bigint;
  payer?: Address;
  value?: bigint;
  code?: Hex;
};

/** A call, or the code of an address. */
export type ChainCall = SenderCall | { readonly codeOf: Address };

/**
 * `reverted`: the revert data, `0x` if unknown. `isTooLarge`: more than `maxReturnedBytes`, so that nothing of it was
 * read. `isOutOfGas`: it needs more gas than it got, which says nothing about its result. Undefined: no result from the
 * node.
 */
export type ChainCallOutcome =
  | { returned: Hex }
  | { reverted: Hex; isTooLarge?: true; isOutOfGas?: true }
  | undefined;

export function callKey(call: ChainCall): string {
  if ("codeOf" in call) return call.codeOf;
  return `${call.from ?? ""}>${call.to}:${call.data}:${call.value ?? ""}:${call.code ?? ""}`;
}

/** Maximum calls in one Multicall3 call, and gas for each. All are to one contract, so it can only starve itself. */
const maxJoinedCalls = 100;
const joinedGas = 200_000n;
/**
 * Gas of a separate call, and of its repetitions where that is used up: views of honest contracts may walk over thousands
 * of slots, and a fill has room for little more than the last.
 */
export const gasLevels = [2_000_000n, 8_000_000n, 25_000_000n] as const;
const [callGas] = gasLevels;
/** A joined call counts as this many separate ones. */
export const joinedWeight = Number((joinedGas * BigInt(maxJoinedCalls)) / callGas);

/** Calls that are one call of the node, by their indexes. */
export type CallGroup = {
  request: RpcCall;
  indexes: number[];
  isJoined: boolean;
  /** Index in `gasLevels`; null: it has gas of its own, or needs none. */
  level: number | null;
};

/** Calls to the same contract as one through Multicall3 if deployed, others separately. */
export function groupCalls(calls: readonly ChainCall[], basis: ReadBasis): CallGroup[] {
  return joinableIndexes(calls, basis).map((indexes) => toCallGroup(calls, indexes, basis));
}

/** Separate calls that a request has in place of one with the least gas. */
export const weightOf = ({ level }: CallGroup): number =>
  Number((gasLevels[level ?? 0] ?? callGas) / callGas);

/** Indexes of the calls that are joined: those to the same contract, unless they need a sender. */
function joinableIndexes(calls: readonly ChainCall[], { hasMulticall }: ReadBasis): number[][] {
  const groups: number[][] = [];
  const openGroups = new Map<Address, number[]>();
  calls.forEach((call, index) => {
    const target = hasMulticall && isJoinable(call) ? call.to : undefined;
    const open = target === undefined ? undefined : openGroups.get(target);
    if (open !== undefined && open.length < maxJoinedCalls) {
      open.push(index);
      return;
    }
    const group = [index];
    groups.push(group);
    if (target !== undefined) openGroups.set(target, group);
  });
  return groups;
}

const isJoinable = (call: ChainCall): call is ContractCall =>
  "to" in call && call.from === undefined && call.code === undefined;

export function toCallGroup(
  calls: readonly ChainCall[],
  indexes: number[],
  basis: ReadBasis,
  level = 0,
): CallGroup {
  const members = indexes.flatMap((index) => calls[index] ?? []);
  const [first] = members;
  const height = numberToHex(basis.number);
  if (first !== undefined && "codeOf" in first) {
    const request = { method: "eth_getCode", params: [first.codeOf, height] };
    return { request, indexes, isJoined: false, level: null };
  }
  const contractCalls = members.filter((call) => "to" in call);
  const isJoined = contractCalls.length > 1;
  const call = isJoined
    ? { ...joinCalls(contractCalls), gas: gasOfJoined(contractCalls.length) }
    : contractCalls[0];
  const params = call === undefined ? [] : paramsOf(call, height, gasLevels[level] ?? callGas);
  const ownGas = call === undefined || call.gas !== undefined;
  return {
    request: { method: "eth_call", params },
    indexes,
    isJoined,
    level: ownGas ? null : level,
  };
}

/** A sender of ether is given what it sends. */
function paramsOf(call: SenderCall, height: Hex, defaultGas: bigint): unknown[] {
  const { to, data, from, value, code, gas = defaultGas } = call;
  const wei = value === undefined ? undefined : numberToHex(value);
  const overrides = {
    ...(from === undefined || wei === undefined ? {} : { [from]: { balance: wei } }),
    ...(code === undefined ? {} : { [to]: { code } }),
  };
  const request = { to, data, gas: numberToHex(gas), from, value: wei };
  return [request, height, ...(Object.keys(overrides).length === 0 ? [] : [overrides])];
}

const gasOfJoined = (calls: number) => {
  const gas = joinedGas * BigInt(calls);
  return gas < callGas ? callGas : gas;
};

type Prepared = { abi: Abi; functionName: Hex };
const prepared = new WeakMap<object, Map<string, Prepared>>();

/** viem's `encodeFunctionData`, hashing each function's signature once: a batch of queries encodes hundreds of calls. */
export const encodeCall: typeof encodeFunctionData = (parameters) => {
  const { abi, functionName, args } = parameters as {
    abi: Abi;
    functionName: string;
    args?: readonly unknown[];
  };
  const known = prepared.get(abi) ?? new Map<string, Prepared>();
  prepared.set(abi, known);
  // Overloads differ in their number of arguments.
  const key = `${functionName}/${args?.length ?? 0}`;
  const found =
    known.get(key) ?? (prepareEncodeFunctionData({ abi, functionName, args }) as Prepared);
  known.set(key, found);
  return encodeFunctionData({ ...found, args } as Parameters<typeof encodeFunctionData>[0]);
};

const wordDigits = 64;

/** One of the 32-byte words of returned data; undefined if there are fewer. */
export function wordAt(returned: Hex, index: number): bigint | undefined {
  const start = 2 + index * wordDigits;
  const digits = returned.slice(start, start + wordDigits);
  return digits.length === wordDigits ? BigInt(`0x${digits}`) : undefined;
}

/** Null for undefined, the zero address, or a word larger than an address. */
export function addressInWord(word: bigint | undefined): Address | null {
  if (word === undefined || word >= 1n << 160n) return null;
  const address = numberToHex(word, { size: 20 });
  return address === zeroAddress ? null : address;
}
