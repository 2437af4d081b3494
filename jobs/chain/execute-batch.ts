import { setTimeout as delay } from "node:timers/promises";
import type { Hex } from "viem";
import type { BlockHeader } from "./client.ts";
import {
  type CallGroup,
  type ChainCall,
  type ChainCallOutcome,
  gasLevels,
  groupCalls,
  joinedWeight,
  type ReadBasis,
  requestAt,
  responseLimit,
  resultOf,
  splitJoinedResult,
  toCallGroup,
  weightOf,
} from "./contract-calls.ts";
import type { RpcTarget } from "./node-client.ts";
import { isContractFault, ResponseTooLarge, type RpcCall, type RpcResponse } from "./rpc.ts";

/** Together with the block that proves the basis, the maximum of one HTTP request. */
const callsPerRequest = 99;
/** Code of our own for a single call whose response is too large; nodes use negative codes and 3. */
const tooLargeCode = 1_000_000;

/** Gas that may be used up before the rest of the batch is given up. */
const maxUsedUpGas = 24_000_000n;
/** The same where calls are repeated with more gas. */
const maxRepeatedGas = 60_000_000n;

/**
 * `cheap`: no call used up its gas; `expensive`: some did; `late`, `out-of-gas`: an answer was late, or calls used up their gas
 * again and again; the remaining calls were not made.
 */
export type BatchCost = "cheap" | "expensive" | "late" | "out-of-gas";

/** As nodes phrase it. */
const usedUpGasText = /out ?of ?gas|gas required exceeds|gas limit reached/i;

type BatchResult = { outcomes: ChainCallOutcome[]; cost: BatchCost };

/**
 * `firstCalls`: how many are made before it is known what they cost; each further request may have twice as many.
 * `repeats`: calls that use up their gas are made again with more, and further ones begin with what was enough. A response that is too large is requested again in halves, or with `throw` throws `ResponseTooLarge`.
 */
export type BatchOptions = {
  firstCalls?: number;
  repeats?: boolean;
  tooLarge?: "halve" | "throw";
  request?: typeof requestAt;
};

/**
 * Makes calls at one block: calls to the same contract joined through Multicall3 if deployed, others separately. Joined
 * calls that fail without data are repeated separately.
 */
export async function executeBatch(
  target: RpcTarget,
  basis: ReadBasis,
  calls: readonly ChainCall[],
  options: BatchOptions = {},
): Promise<BatchResult> {
  const outcomes: ChainCallOutcome[] = calls.map(() => undefined);
  const maxGas = options.repeats === true ? maxRepeatedGas : maxUsedUpGas;
  try {
    const usedUpGas = await callUntil(maxGas, { target, basis, calls, options, outcomes });
    return { outcomes, cost: costBy(usedUpGas, maxGas) };
  } catch (error) {
    if (!(error instanceof LateAnswer)) throw error;
    return { outcomes, cost: "late" };
  }
}

type Execution = {
  target: RpcTarget;
  basis: ReadBasis;
  calls: readonly ChainCall[];
  options: BatchOptions;
  outcomes: ChainCallOutcome[];
};

/** Sets the outcomes; returns the gas that calls used up, whose rest was given up where it is `maxGas`. */
async function callUntil(maxGas: bigint, execution: Execution): Promise<bigint> {
  const { target, basis, calls, options, outcomes } = execution;
  const { firstCalls = callsPerRequest, tooLarge = "halve", repeats = false } = options;
  const requestGroups = requesterOf(target, basis, options.request ?? requestAt);
  const send = tooLarge === "halve" ? halving(requestGroups) : requestGroups;
  const open = groupCalls(calls, basis);
  let [size, usedUpGas, enough] = [firstCalls, 0n, 0];
  const regroup = (index: number, level: number) => toCallGroup(calls, [index], basis, level);
  while (open.length > 0 && usedUpGas < maxGas) {
    const groups = takeNext(open, size, (one) => withEnough(one, enough, regroup));
    const answers = await send(groups);
    for (const index of applyAnswers(outcomes, groups, answers)) open.push(regroup(index, 0));
    const { usedUp, gas, highest } = accountFor(groups, answers);
    usedUpGas += gas;
    enough = Math.max(enough, highest);
    if (repeats) open.unshift(...usedUp.flatMap((one) => repetitionOf(one, regroup)));
    if (usedUpGas === 0n) size = Math.min(size * 2, callsPerRequest);
  }
  return usedUpGas;
}

/** The calls that used up their gas, how much, and the highest level that was enough for another. */
function accountFor(groups: readonly CallGroup[], answers: readonly RpcResponse[]) {
  const usedUp = groups.filter((_, place) => isOutOfGas(answers[place]));
  const gas = usedUp.reduce((sum, { level }) => sum + (gasLevels[level ?? 0] ?? 0n), 0n);
  const others = groups.filter((one) => !usedUp.includes(one));
  return { usedUp, gas, highest: Math.max(0, ...others.map(({ level }) => level ?? 0)) };
}

function costBy(usedUpGas: bigint, maxGas: bigint): BatchCost {
  if (usedUpGas >= maxGas) return "out-of-gas";
  return usedUpGas === 0n ? "cheap" : "expensive";
}

type Regroup = (index: number, level: number) => CallGroup;

/** A separate call with as much gas as was enough for another one. */
function withEnough(group: CallGroup, enough: number, regroup: Regroup): CallGroup {
  const { indexes, isJoined, level } = group;
  const [index] = indexes;
  return isJoined || level === null || level >= enough || index === undefined
    ? group
    : regroup(index, enough);
}

/** A call that used up its gas, with more; none with more than the most. */
function repetitionOf({ indexes, isJoined, level }: CallGroup, regroup: Regroup): CallGroup[] {
  const isLast = level === null || level + 1 >= gasLevels.length;
  return isJoined || isLast ? [] : indexes.map((index) => regroup(index, level + 1));
}

/** Sets the outcomes of groups; returns the indexes of the joined calls that are to be repeated separately. */
function applyAnswers(
  outcomes: ChainCallOutcome[],
  groups: readonly CallGroup[],
  answers: readonly RpcResponse[],
): number[] {
  return groups.flatMap(({ indexes, isJoined }, place) => {
    const answer = answers[place];
    if (answer === undefined) return [];
    const joined = isJoined ? splitOrEmpty(answer) : indexes.map(() => outcomeOf(answer));
    indexes.forEach((index, position) => {
      outcomes[index] = joined[position];
    });
    return isJoined ? indexes.filter((_, position) => joined[position] === undefined) : [];
  });
}

/** Removes the first groups, at least one, of at most a weight. */
function takeNext(
  open: CallGroup[],
  size: number,
  prepare: (group: CallGroup) => CallGroup,
): CallGroup[] {
  let weight = 0;
  const groups = open.map(prepare);
  const end = groups.findIndex((group, index) => {
    weight += group.isJoined && size < callsPerRequest ? joinedWeight : weightOf(group);
    return index > 0 && weight > size;
  });
  const taken = end === -1 ? groups.length : end;
  open.splice(0, taken);
  return groups.slice(0, taken);
}

type Send = (groups: readonly CallGroup[]) => Promise<RpcResponse[]>;

function requesterOf(target: RpcTarget, basis: ReadBasis, request: typeof requestAt): Send {
  return async (groups) => {
    const calls = groups.reduce((sum, { indexes }) => sum + indexes.length, 0);
    const requests = groups.map(({ request }) => request);
    return await request(target, basis, requests, responseLimit(calls));
  };
}

/** Halves a batch whose response is too large; a single call that is too large counts as reverted. */
function halving(send: Send): Send {
  return async function sendHalving(groups): Promise<RpcResponse[]> {
    try {
      return await send(groups);
    } catch (error) {
      if (!(error instanceof ResponseTooLarge)) throw error;
      if (groups.length === 1) return [{ error: { code: tooLargeCode, message: error.message } }];
      const middle = Math.ceil(groups.length / 2);
      return [
        ...(await sendHalving(groups.slice(0, middle))),
        ...(await sendHalving(groups.slice(middle))),
      ];
    }
  };
}

/** Undefined for calls that failed without data: they may have been starved. */
function splitOrEmpty(answer: RpcResponse): ChainCallOutcome[] {
  try {
    return splitJoinedResult(resultOf(answer)).map((one) =>
      "reverted" in one && one.reverted === "0x" ? undefined : one,
    );
  } catch {
    return [];
  }
}

function outcomeOf(answer: RpcResponse): ChainCallOutcome {
  if ("error" in answer) {
    if (answer.error.code === tooLargeCode) return { reverted: "0x", isTooLarge: true };
    if (isOutOfGas(answer)) return { reverted: "0x", isOutOfGas: true };
    return isContractFault(answer.error) ? { reverted: revertData(answer.error.data) } : undefined;
  }
  const returned = resultOf(answer);
  return returned === undefined ? undefined : { returned };
}

const isOutOfGas = (answer: RpcResponse | undefined): boolean =>
  answer !== undefined && "error" in answer && usedUpGasText.test(answer.error.message);

/** Some nodes put text before the bytes. */
function revertData(data: unknown): Hex {
  const [bytes] = typeof data === "string" ? (/0x(?:[0-9a-f]{2})*/i.exec(data) ?? []) : [];
  return (bytes?.toLowerCase() ?? "0x") as Hex;
}

/** A request is late if an empty one takes less than this part of its time meanwhile: else the node is slow. */
const slowFactor = 10;

/** The node answers others, but not these calls. */
class LateAnswer extends Error {
  override name = "LateAnswer";
}

/**
 * Requests calls of contracts that may keep the node busy. Late answers are given up after a third of the timeout, twice
 * (at first at the first endpoint, then at the next one): throws `LateAnswer`. On a slow node nothing is late.
 */
export async function requestInTime(
  target: RpcTarget,
  basis: BlockHeader,
  calls: readonly RpcCall[],
  maxBytes?: number,
): Promise<RpcResponse[]> {
  try {
    return await requestUntilLate(target, basis, calls, maxBytes);
  } catch (error) {
    if (!(error instanceof LateAnswer)) throw error;
    const [first, ...others] = target.rpcUrls;
    const rpcUrls = first === undefined ? others : [...others, first];
    return await requestUntilLate({ ...target, rpcUrls }, basis, calls, maxBytes);
  }
}

async function requestUntilLate(
  target: RpcTarget,
  basis: BlockHeader,
  calls: readonly RpcCall[],
  maxBytes?: number,
): Promise<RpcResponse[]> {
  const late = new AbortController();
  const ended = new AbortController();
  untilLate(target, basis, ended.signal).then(
    () => late.abort(new LateAnswer(`Chain ${target.chainId} is late with some calls only`)),
    // The node answers nothing: the contracts are not to blame.
    () => {},
  );
  try {
    return await requestAt({ ...target, signal: late.signal }, basis, calls, maxBytes);
  } finally {
    ended.abort();
  }
}

async function untilLate(target: RpcTarget, basis: BlockHeader, ended: AbortSignal): Promise<void> {
  const startedAt = performance.now();
  let emptyMs = Number.POSITIVE_INFINITY;
  while (performance.now() - startedAt <= slowFactor * emptyMs) {
    await delay(target.timeoutMs / 3, undefined, { signal: ended });
    emptyMs = await emptyRequestMs({ ...target, signal: ended }, basis);
  }
}

/** Whether calls took long while the node is quick: false if it is slow or does not answer at all. */
export async function isSlowerThanNode(
  target: RpcTarget,
  basis: BlockHeader,
  ms: number,
): Promise<boolean> {
  return await emptyRequestMs(target, basis).then(
    (emptyMs) => ms > slowFactor * emptyMs,
    () => false,
  );
}

async function emptyRequestMs(target: RpcTarget, basis: BlockHeader): Promise<number> {
  const startedAt = performance.now();
  await requestAt(target, basis, []);
  return performance.now() - startedAt;
}
