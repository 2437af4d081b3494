import { type Address, type Hex, numberToHex } from "viem";
import type { ChainClient } from "./clients.ts";
import {
  type ContractCall,
  isContractFault,
  joinCalls,
  type ReadBasis,
  requestAt,
  resultOf,
  splitAnswer,
} from "./contract-calls.ts";
import { AnswerTooLarge, type RpcAnswer, type RpcCall } from "./rpc-batch.ts";

/**
 * A static call, or the code of an address. With a sender it is made by itself: Multicall3 would be the sender.
 * So is one that most contracts refuse: it would only be made twice.
 */
export type ChainCall =
  | (ContractCall & { from?: Address; gas?: bigint; isMostlyRefused?: true })
  | { readonly codeOf: Address };

/** `refused`: what the contract reverted with, `0x` where that is not told. Undefined: the node did not say. */
export type CallOutcome = { returned: Hex } | { refused: Hex } | undefined;

/** Calls that Multicall3 makes at once, and the gas for them: all of one contract, which can starve none but itself. */
const joinedCalls = 100;
const joinedGas = 20_000_000n;
const callGas = 2_000_000n;

/** With the block that proves the basis, what one HTTP request holds. */
const callsPerRequest = 99;

export function callKey(call: ChainCall): string {
  return "codeOf" in call ? call.codeOf : `${call.from ?? ""}>${call.to}:${call.data}`;
}

type Unit = { request: RpcCall; indexes: number[]; isJoined: boolean };

/**
 * Makes calls at one block: those of a contract together where Multicall3 stands, the others each by itself, all in one
 * batch. What fails in company is made again alone, in one more.
 */
export async function makeCalls(
  client: ChainClient,
  basis: ReadBasis,
  calls: readonly ChainCall[],
): Promise<CallOutcome[]> {
  const outcomes: CallOutcome[] = calls.map(() => undefined);
  const units = groupCalls(calls, basis).map((indexes) => unitOf(calls, indexes, basis));
  const failed: number[] = [];
  (await requestAll(client, basis, units)).forEach((answer, place) => {
    const { indexes = [], isJoined = false } = units[place] ?? {};
    const returned = isJoined ? splitOrNone(answer) : undefined;
    indexes.forEach((index, position) => {
      const bytes = returned?.[position];
      if (isJoined && bytes === undefined) failed.push(index);
      else outcomes[index] = bytes === undefined ? outcomeOf(answer) : { returned: bytes };
    });
  });
  const alone = failed.map((index) => unitOf(calls, [index], basis));
  (await requestAll(client, basis, alone)).forEach((answer, place) => {
    for (const index of alone[place]?.indexes ?? []) outcomes[index] = outcomeOf(answer);
  });
  return outcomes;
}

/** Indexes of the calls that are made in one: the same contract's, unless they need their own sender. */
function groupCalls(calls: readonly ChainCall[], { hasMulticall }: ReadBasis): number[][] {
  const groups: number[][] = [];
  const openGroups = new Map<Address, number[]>();
  calls.forEach((call, index) => {
    const target = hasMulticall && isJoinable(call) ? call.to : undefined;
    const open = target === undefined ? undefined : openGroups.get(target);
    if (open !== undefined && open.length < joinedCalls) {
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
  "to" in call && call.from === undefined && call.isMostlyRefused !== true;

function unitOf(calls: readonly ChainCall[], indexes: number[], basis: ReadBasis): Unit {
  const members = indexes.flatMap((index) => calls[index] ?? []);
  const [first] = members;
  const height = numberToHex(basis.number);
  if (first !== undefined && "codeOf" in first) {
    const request = { method: "eth_getCode", params: [first.codeOf, height] };
    return { request, indexes, isJoined: false };
  }
  const contractCalls = members.filter((call) => "to" in call);
  const isJoined = contractCalls.length > 1;
  const {
    isMostlyRefused: _,
    gas = callGas,
    ...call
  } = isJoined ? { ...joinCalls(contractCalls), gas: joinedGas } : { ...contractCalls[0] };
  const params = [{ ...call, gas: numberToHex(gas) }, height];
  return { request: { method: "eth_call", params }, indexes, isJoined };
}

async function requestAll(
  client: ChainClient,
  basis: ReadBasis,
  units: readonly Unit[],
): Promise<RpcAnswer[]> {
  const answers: RpcAnswer[] = [];
  for (let start = 0; start < units.length; start += callsPerRequest) {
    const requests = units.slice(start, start + callsPerRequest).map(({ request }) => request);
    answers.push(...(await requestHalving(client, basis, requests)));
  }
  return answers;
}

/** A batch whose answers are too large is halved until they fit; what does not fit alone is the contract's fault. */
async function requestHalving(
  client: ChainClient,
  basis: ReadBasis,
  requests: readonly RpcCall[],
): Promise<RpcAnswer[]> {
  try {
    return await requestAt(client, basis, requests);
  } catch (error) {
    if (!(error instanceof AnswerTooLarge)) throw error;
    if (requests.length === 1) return [{ error: { code: 3, message: error.message } }];
    const middle = Math.ceil(requests.length / 2);
    return [
      ...(await requestHalving(client, basis, requests.slice(0, middle))),
      ...(await requestHalving(client, basis, requests.slice(middle))),
    ];
  }
}

function splitOrNone(answer: RpcAnswer): (Hex | undefined)[] {
  try {
    return splitAnswer(resultOf(answer));
  } catch {
    return [];
  }
}

function outcomeOf(answer: RpcAnswer): CallOutcome {
  if ("error" in answer) {
    return isContractFault(answer.error) ? { refused: revertData(answer.error.data) } : undefined;
  }
  const returned = resultOf(answer);
  return returned === undefined ? undefined : { returned };
}

/** Some nodes put a word before the bytes. */
function revertData(data: unknown): Hex {
  const [bytes] = typeof data === "string" ? (/0x(?:[0-9a-f]{2})*/i.exec(data) ?? []) : [];
  return (bytes?.toLowerCase() ?? "0x") as Hex;
}
