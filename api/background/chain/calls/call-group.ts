import { type Address, type Hex, numberToHex } from "viem";
import { type ContractCall, joinCalls, type ReadBasis } from "../contract-calls.ts";
import type { RpcCall } from "../rpc.ts";
import type { ChainCall, SenderCall } from "./chain-call.ts";

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
