import { setTimeout as delay } from "node:timers/promises";
import { BaseError, type HttpTransport, hexToNumber, http, isHex, RpcRequestError } from "viem";
import { type EndedCall, publishCall } from "../outgoing-calls.ts";
import { retryAfterMs } from "../retry-after.ts";
import { createCooldowns } from "../runner/limits.ts";
import {
  isContractFault,
  parseAnswers,
  ResponseTooLarge,
  type RpcCall,
  RpcFailure,
  type RpcResponse,
  reasonOf,
} from "./rpc.ts";

/** RPC endpoints of a chain, tried in order. */
export type RpcTarget = {
  readonly chainId: number;
  readonly rpcUrls: readonly string[];
  readonly timeoutMs: number;
  /** Ends all attempts, with its reason. */
  readonly signal?: AbortSignal;
};

const callsPerRequest = 100;
export const maxResponseBytes = 8 * 1024 * 1024;
const maxRounds = 3;
const pauseMs = 250;

/**
 * Sends calls, up to a hundred in one HTTP request where the node takes so many; requests prove the endpoint's chain id.
 * `maxBytes` limits the response of each request. Throws `RpcFailure` unless every call has a response, which may be a
 * node's error.
 */
export async function requestBatch(
  target: RpcTarget,
  calls: readonly RpcCall[],
  maxBytes = maxResponseBytes,
): Promise<RpcResponse[]> {
  const answers: RpcResponse[] = [];
  for (let start = 0; start < calls.length; start += callsPerRequest) {
    const part = calls.slice(start, start + callsPerRequest);
    answers.push(...(await requestOnce(target, part, maxBytes)));
  }
  return answers;
}

async function requestOnce(
  target: RpcTarget,
  calls: readonly RpcCall[],
  maxBytes: number,
): Promise<RpcResponse[]> {
  const failures: string[] = [];
  for (let round = 0; round < maxRounds; round++) {
    if (round > 0) await delay(pauseMs * 2 ** (round - 1));
    const answers = await requestFromAny(target, calls, { maxBytes, failures });
    if (answers !== null) return answers;
  }
  const methods = [...new Set(calls.map(({ method }) => method))].join(", ");
  throw new RpcFailure(
    `Chain ${target.chainId} did not answer ${methods}: ${[...new Set(failures)].join("; ")}`,
  );
}

/** Null: none of the endpoints answered; why is added to `failures`. */
async function requestFromAny(
  target: RpcTarget,
  calls: readonly RpcCall[],
  { maxBytes, failures }: { maxBytes: number; failures: string[] },
): Promise<RpcResponse[] | null> {
  const { chainId, timeoutMs, signal } = target;
  for (const url of target.rpcUrls) {
    signal?.throwIfAborted();
    try {
      return await sendToNode(url, calls, { chainId, timeoutMs, maxBytes, signal });
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof ResponseTooLarge) throw error;
      failures.push(`${new URL(url).host}: ${reasonOf(error)}`);
    }
  }
  return null;
}

/** What a node was seen to take; remembered for as long as the process lives. */
type NodeLimits = {
  /** Calls of one request; 1: it takes no batches. */
  batch: number;
  /** When it last named its chain, by `performance.now()`. */
  chainNamedAt: number;
};

type NodeRequest = {
  chainId: number;
  timeoutMs: number;
  /** Of one response. */
  maxBytes: number;
  signal?: AbortSignal | undefined;
};

const firstBatch = 101;
/** A node that takes few calls at once, or none, names its chain this often, and not in each request. */
const nameEveryMs = 30_000;
const smallBatch = 10;
/** Of what stands before a node; they say nothing of what was asked. */
const gatewayFaults = new Set([502, 503, 504]);
const longestRestMs = 8_000;
/** After too many requests. */
const rests = createCooldowns<string>({
  now: () => performance.now(),
  ...{ failuresUntilCooldown: 1, firstMs: 250, mostMs: longestRestMs },
});

const limitsByUrl = new Map<string, NodeLimits>();

function limitsOf(url: string): NodeLimits {
  let limits = limitsByUrl.get(url);
  if (limits === undefined) {
    limits = { batch: firstBatch, chainNamedAt: Number.NEGATIVE_INFINITY };
    limitsByUrl.set(url, limits);
  }
  return limits;
}

/** Milliseconds until the node may be asked again, after it refused because of too many requests. */
export const restOf = rests.remainingMs;

/**
 * Sends calls to one node, in as few requests as it takes, and returns an answer for each, which may be the node's error.
 * Requests prove the node's chain. Throws `RpcFailure` when it answers invalidly, rests or is on another chain, and the
 * error of the connection when it is down. Calls are counted by what came of them.
 */
export async function sendToNode(
  url: string,
  calls: readonly RpcCall[],
  request: NodeRequest,
): Promise<RpcResponse[]> {
  const node = { chainId: request.chainId, url };
  try {
    const answers = await sendParts(url, calls, request);
    countAnswers(node, calls, answers);
    return answers;
  } catch (error) {
    request.signal?.throwIfAborted();
    countUnanswered(node, calls, reasonOf(error));
    throw error;
  }
}

async function sendParts(
  url: string,
  calls: readonly RpcCall[],
  request: NodeRequest,
): Promise<RpcResponse[]> {
  const limits = limitsOf(url);
  const answers: RpcResponse[] = [];
  while (answers.length < calls.length) {
    const rested = restOf(url);
    if (rested > request.timeoutMs) throw new RpcFailure("it answered HTTP 429");
    if (rested > 0) await delay(rested, undefined, { signal: request.signal });
    const isNamed = await nameChain(url, request);
    const part = calls.slice(answers.length, answers.length + limits.batch - (isNamed ? 0 : 1));
    const answered = await sendPart(url, part, { ...request, isNamed });
    if (answered !== null) answers.push(...answered);
  }
  return answers;
}

/** Whether the node named its chain lately in a request of its own, which one that takes few calls does. */
async function nameChain(url: string, request: NodeRequest): Promise<boolean> {
  const limits = limitsOf(url);
  if (limits.batch > smallBatch) return false;
  if (performance.now() - limits.chainNamedAt > nameEveryMs) {
    const [answer] = await post(url, [chainIdCall], request);
    assertChainId(request.chainId, answer);
    limits.chainNamedAt = performance.now();
  }
  return true;
}

const chainIdCall: RpcCall = { method: "eth_chainId", params: [] };

/** Null: the node does not take so many calls at once, and is to be sent fewer. */
async function sendPart(
  url: string,
  calls: readonly RpcCall[],
  { isNamed, ...request }: NodeRequest & { isNamed: boolean },
): Promise<RpcResponse[] | null> {
  const sent = isNamed ? calls : [chainIdCall, ...calls];
  try {
    const answers = await post(url, sent, request);
    if (!isNamed) assertChainId(request.chainId, answers.shift());
    // An answer to what was sent before the refusal does not end the rest.
    if (!rests.isCoolingDown(url)) rests.recordSuccess(url);
    return answers;
  } catch (error) {
    if (!(error instanceof UnusableAnswer) || sent.length === 1) throw error;
    // It may be down, and not against batches.
    const [answer] = await post(url, [chainIdCall], request);
    assertChainId(request.chainId, answer);
    const limits = limitsOf(url);
    limits.chainNamedAt = performance.now();
    limits.batch = fewerCalls(sent.length, error.message);
    return null;
  }
}

/** As many as the refusal names, or half. */
function fewerCalls(sent: number, refusal: string): number {
  const named = [...refusal.matchAll(/\b\d{1,3}\b/g)].map(Number);
  const most = named.filter((one) => one > 0 && one < sent);
  return most.length === 1 ? (most[0] ?? 1) : Math.max(1, Math.floor(sent / 2));
}

/** The node answered, and not with answers to these calls. */
class UnusableAnswer extends RpcFailure {}

async function post(
  url: string,
  calls: readonly RpcCall[],
  { timeoutMs, maxBytes, signal }: NodeRequest,
): Promise<RpcResponse[]> {
  const { href, authorization } = addressOf(url);
  const bodies = calls.map((call, id) => ({ jsonrpc: "2.0", id, ...call }));
  const response = await fetch(href, {
    method: "POST",
    headers: { "content-type": "application/json", ...authorization },
    body: JSON.stringify(bodies.length === 1 ? bodies[0] : bodies),
    signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]),
  });
  const text = await readBounded(response, maxBytes);
  if (response.status === 429) beginRest(url, response.headers.get("retry-after"));
  if (gatewayFaults.has(response.status)) throw new RpcFailure(`HTTP ${response.status}`);
  const answers = parseAnswers(text, calls.length);
  // A single call may be answered with an error and a status that says so, too.
  if (answers === null || (!response.ok && calls.length > 1)) throw unusable(response, text);
  return answers;
}

function unusable({ ok, status }: Response, text: string): UnusableAnswer {
  const said = /[<]/.test(text) ? "" : ` ${text.slice(0, 200)}`.trimEnd();
  return new UnusableAnswer(ok ? `the response is not JSON-RPC${said}` : `HTTP ${status}${said}`);
}

/** @throws RpcFailure always. */
function beginRest(url: string, retryAfter: string | null): never {
  const askedMs = retryAfterMs(retryAfter ?? undefined) ?? 0;
  const isUsable = askedMs > 0 && askedMs <= longestRestMs;
  rests.recordFailure(url, isUsable ? askedMs : undefined);
  throw new RpcFailure("HTTP 429");
}

/** fetch() rejects credentials in a URL and would quote them in its error. */
function addressOf(url: string): { href: string; authorization?: { authorization: string } } {
  const parsed = new URL(url);
  const { username, password } = parsed;
  if (username === "" && password === "") return { href: url };
  parsed.username = "";
  parsed.password = "";
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const encoded = Buffer.from(credentials).toString("base64");
  return { href: parsed.href, authorization: { authorization: `Basic ${encoded}` } };
}

async function readBounded(response: Response, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new ResponseTooLarge(`the response exceeds ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** The node serves another chain. */
export class WrongChain extends RpcFailure {}

function assertChainId(expected: number, answer: RpcResponse | undefined): void {
  if (answer === undefined || "error" in answer)
    throw new RpcFailure("eth_chainId returned no result");
  const actual = isHex(answer.result) ? hexToNumber(answer.result) : answer.result;
  if (actual !== expected) throw new WrongChain(`serves chain ${actual}, not ${expected}`);
}

type Call = { readonly method: string };
type Answer = { result: unknown } | { error: { code: number; message: string } };
type Node = { readonly chainId: number; readonly url: string };
const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : "unnamed");

/** Counts the calls of a batch by what the node answered. */
function countAnswers(node: Node, calls: readonly Call[], answers: readonly Answer[]): void {
  calls.forEach(({ method }, index) => {
    const answer = answers[index];
    if (answer !== undefined) publishCall({ ...keyOf(node, method), ...outcomeOf(answer) });
  });
}

/** Counts calls that got no answer that can be used. */
function countUnanswered(node: Node, calls: readonly Call[], message: string): void {
  for (const { method } of calls) {
    publishCall({ ...keyOf(node, method), outcome: "no_answer", message });
  }
}

const keyOf = ({ chainId, url }: Node, method: string) => ({
  kind: "node" as const,
  target: `${chainId}`,
  host: hostOf(url),
  method,
});

function outcomeOf(answer: Answer): Pick<EndedCall, "outcome" | "message"> {
  if (!("error" in answer)) return { outcome: "result" };
  if (isContractFault(answer.error)) return { outcome: "reverted" };
  return { outcome: "error", message: answer.error.message };
}

/** viem's transport to one node, whose calls are counted. Its messages hold the URL: only their kind is kept. */
export function countedHttp({ chainId, url }: Node, timeoutMs: number): HttpTransport {
  const open = http(url, { timeout: timeoutMs, retryCount: 0 });
  return ((options) => {
    const transport = open(options);
    const request = async (call: Call) => {
      try {
        const result = await transport.request(call as never);
        countAnswers({ chainId, url }, [call], [{ result }]);
        return result;
      } catch (error) {
        const refusal = refusalOf(error);
        if (refusal !== undefined) countAnswers({ chainId, url }, [call], [{ error: refusal }]);
        else countUnanswered({ chainId, url }, [call], nameOf(error));
        throw error;
      }
    };
    return { ...transport, request: request as typeof transport.request };
  }) as HttpTransport;
}

const nameOf = (error: unknown) => (error instanceof Error ? error.name : "failed");

/** The JSON-RPC error that the node answered; undefined when it answered none. */
function refusalOf(error: unknown): { code: number; message: string } | undefined {
  const found =
    error instanceof BaseError ? error.walk((cause) => cause instanceof RpcRequestError) : null;
  return found instanceof RpcRequestError
    ? { code: found.code, message: found.details }
    : undefined;
}
