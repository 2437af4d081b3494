import { setTimeout as delay } from "node:timers/promises";
import { hexToNumber, isHex } from "viem";
import { z } from "zod";

/** Where a chain is asked. Several URLs are tried in order. */
type RpcTarget = {
  readonly chainId: number;
  readonly rpcUrls: readonly string[];
  readonly timeoutMs: number;
};

export type RpcCall = { readonly method: string; readonly params: readonly unknown[] };

/** What a node said to one call of a batch. `data`: of a reverted call, what the contract reverted with. */
export type RpcAnswer =
  | { result: unknown }
  | { error: { code: number; message: string; data?: unknown } };

/** A chain that could not be asked: every URL is down, slow, confused or on another chain. URLs hold keys and are cut. */
export class RpcFailure extends Error {
  override name = "RpcFailure";
}

/** An answer beyond what is read. Fewer calls at once may fit. */
export class AnswerTooLarge extends RpcFailure {
  override name = "AnswerTooLarge";
}

const callsPerRequest = 100;
const answerBytes = 8 * 1024 * 1024;
const rounds = 3;
const pauseMs = 250;

/**
 * Asks a batch of calls, up to a hundred in one HTTP request, each request proving the chain id of whoever answers it.
 * Throws `RpcFailure` unless every call was answered; an answer may be a node's error.
 */
export async function requestBatch(
  target: RpcTarget,
  calls: readonly RpcCall[],
): Promise<RpcAnswer[]> {
  const answers: RpcAnswer[] = [];
  for (let start = 0; start < calls.length; start += callsPerRequest) {
    answers.push(...(await requestOnce(target, calls.slice(start, start + callsPerRequest))));
  }
  return answers;
}

async function requestOnce(target: RpcTarget, calls: readonly RpcCall[]): Promise<RpcAnswer[]> {
  const failures: string[] = [];
  for (let round = 0; round < rounds; round++) {
    if (round > 0) await delay(pauseMs * 2 ** (round - 1));
    for (const url of target.rpcUrls) {
      try {
        return await post(target, url, calls);
      } catch (error) {
        if (error instanceof AnswerTooLarge) throw error;
        failures.push(`${new URL(url).host}: ${reason(error)}`);
      }
    }
  }
  const methods = [...new Set(calls.map(({ method }) => method))].join(", ");
  throw new RpcFailure(
    `Chain ${target.chainId} could not be asked for ${methods}: ${[...new Set(failures)].join("; ")}`,
  );
}

/** fetch() hides the cause of a failed connection one level down; timeouts and aborts name themselves. */
function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}

async function post(
  { chainId, timeoutMs }: RpcTarget,
  url: string,
  calls: readonly RpcCall[],
): Promise<RpcAnswer[]> {
  const asked = [{ method: "eth_chainId", params: [] }, ...calls];
  const { href, authorization } = addressOf(url);
  const response = await fetch(href, {
    method: "POST",
    headers: { "content-type": "application/json", ...authorization },
    body: JSON.stringify(asked.map((call, id) => ({ jsonrpc: "2.0", id, ...call }))),
    signal: AbortSignal.timeout(timeoutMs),
  });
  const text = await readBounded(response);
  if (!response.ok) throw new RpcFailure(`HTTP ${response.status}`);
  const [named, ...answers] = parseAnswers(text, asked.length);
  assertChainId(chainId, named);
  return answers;
}

/** fetch() takes no user and password in a URL, and would quote them in its refusal. */
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

async function readBounded(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > answerBytes) throw new AnswerTooLarge(`an answer exceeds ${answerBytes} bytes`);
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

function parseAnswers(text: string, count: number): RpcAnswer[] {
  const parsed = Answers.safeParse(parseJson(text));
  if (!parsed.success) throw new RpcFailure("the answer is no JSON-RPC batch");
  const byId = new Map(parsed.data.map((answer) => [answer.id, answer]));
  return Array.from({ length: count }, (_, id) => {
    const answer = byId.get(id);
    if (answer?.error !== undefined) return { error: answer.error };
    if (answer?.result === undefined) throw new RpcFailure("the batch was answered in part");
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

function assertChainId(expected: number, answer: RpcAnswer | undefined): void {
  if (answer === undefined || "error" in answer) throw new RpcFailure("no chain id was told");
  const actual = isHex(answer.result) ? hexToNumber(answer.result) : answer.result;
  if (actual !== expected) throw new RpcFailure(`it is on chain ${actual}, not ${expected}`);
}
