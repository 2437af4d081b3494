import { setTimeout as delay } from "node:timers/promises";
import { hexToNumber, isHex } from "viem";
import { z } from "zod";
import { countAnswers, countUnanswered } from "./count-calls.ts";

/** RPC endpoints of a chain, tried in order. */
export type RpcTarget = {
  readonly chainId: number;
  readonly rpcUrls: readonly string[];
  readonly timeoutMs: number;
  /** Ends all attempts, with its reason. */
  readonly signal?: AbortSignal;
};

export type RpcCall = { readonly method: string; readonly params: readonly unknown[] };

/** Response to one call of a batch. `data`: revert data of a reverted call. */
export type RpcResponse =
  | { result: unknown }
  | { error: { code: number; message: string; data?: unknown } };

/** Every RPC URL is down, slow, invalid or on another chain. Messages contain hosts only, as URLs hold keys. */
export class RpcFailure extends Error {
  override name = "RpcFailure";
}

/** The response exceeds the size limit. A smaller batch may fit. */
export class ResponseTooLarge extends RpcFailure {
  override name = "AnswerTooLarge";
}

const callsPerRequest = 100;
export const maxResponseBytes = 8 * 1024 * 1024;
const maxRounds = 3;
const pauseMs = 250;

/**
 * Sends a batch of calls, up to a hundred in one HTTP request; each request proves the endpoint's chain id. `maxBytes`
 * limits the response of each request. Throws `RpcFailure` unless every call has a response, which may be a node's error.
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
  for (const url of target.rpcUrls) {
    target.signal?.throwIfAborted();
    const node = { chainId: target.chainId, url };
    try {
      const answers = await post(target, url, calls, maxBytes);
      countAnswers(node, calls, answers);
      return answers;
    } catch (error) {
      target.signal?.throwIfAborted();
      countUnanswered(node, calls, reason(error));
      if (error instanceof ResponseTooLarge) throw error;
      failures.push(`${new URL(url).host}: ${reason(error)}`);
    }
  }
  return null;
}

/** fetch() wraps the cause of a failed connection; timeouts and aborts have their own message. */
function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}

async function post(
  { chainId, timeoutMs, signal }: RpcTarget,
  url: string,
  calls: readonly RpcCall[],
  maxBytes: number,
): Promise<RpcResponse[]> {
  const batch = [{ method: "eth_chainId", params: [] }, ...calls];
  const { href, authorization } = addressOf(url);
  const response = await fetch(href, {
    method: "POST",
    headers: { "content-type": "application/json", ...authorization },
    body: JSON.stringify(batch.map((call, id) => ({ jsonrpc: "2.0", id, ...call }))),
    signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]),
  });
  const text = await readBounded(response, maxBytes);
  if (!response.ok) throw new RpcFailure(`HTTP ${response.status}`);
  const [named, ...answers] = parseResponses(text, batch.length);
  assertChainId(chainId, named);
  return answers;
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

const Answers = z.array(
  z.object({
    id: z.number().int(),
    result: z.unknown().optional(),
    error: z
      .object({ code: z.number(), message: z.string(), data: z.unknown().optional() })
      .optional(),
  }),
);

function parseResponses(text: string, count: number): RpcResponse[] {
  const parsed = Answers.safeParse(parseJson(text));
  if (!parsed.success) throw new RpcFailure("the response is not a JSON-RPC batch");
  const byId = new Map(parsed.data.map((answer) => [answer.id, answer]));
  return Array.from({ length: count }, (_, id) => {
    const answer = byId.get(id);
    if (answer?.error !== undefined) return { error: answer.error };
    if (answer?.result === undefined) throw new RpcFailure("the batch response is incomplete");
    return { result: answer.result };
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function assertChainId(expected: number, answer: RpcResponse | undefined): void {
  if (answer === undefined || "error" in answer)
    throw new RpcFailure("eth_chainId returned no result");
  const actual = isHex(answer.result) ? hexToNumber(answer.result) : answer.result;
  if (actual !== expected) throw new RpcFailure(`it is on chain ${actual}, not ${expected}`);
}
