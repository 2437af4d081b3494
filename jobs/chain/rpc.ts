import { z } from "zod";
import { OutsideFailure } from "../runner/job.ts";

export type RpcCall = { readonly method: string; readonly params: readonly unknown[] };

/** Response to one call. `data`: revert data of a reverted call. */
export type RpcResponse =
  | { result: unknown }
  | { error: { code: number; message: string; data?: unknown } };

/** A node, or every node of a chain, is down, slow, invalid or on another chain. Messages contain hosts only, as URLs hold keys. */
export class RpcFailure extends OutsideFailure {
  override name = "RpcFailure";
}

/** The response exceeds the size limit. A smaller batch may fit. */
export class ResponseTooLarge extends RpcFailure {
  override name = "AnswerTooLarge";
}

/** fetch() wraps the cause of a failed connection; timeouts and aborts have their own message. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}

/**
 * As servers write it, JSON-RPC 1.0 and what is near to 2.0: `"error": null` beside a result, ids as text, no `jsonrpc`,
 * codes as text, errors that are texts.
 */
const NodeError = z.union([
  z.looseObject({
    code: z.coerce.number().catch(-32_000),
    message: z.string().catch("the node gives no reason"),
    data: z.unknown().optional(),
  }),
  z.string().transform((message) => ({ code: -32_000, message })),
]);
const Answer = z.looseObject({
  id: z.union([z.number(), z.string().regex(/^\d+$/).transform(Number), z.null()]).optional(),
  result: z.unknown().optional(),
  error: NodeError.nullish(),
});

/**
 * Answers to calls that were sent with the ids 0, 1, …, in the order of the calls. Null: the text does not answer each of
 * them.
 */
export function parseAnswers(text: string, count: number): RpcResponse[] | null {
  const parsed = z.union([z.array(Answer), Answer]).safeParse(parseJson(text));
  if (!parsed.success) return null;
  const answers = Array.isArray(parsed.data) ? parsed.data : [parsed.data];
  if (!Array.isArray(parsed.data) && count > 1) return null;
  const byId = new Map(answers.map((answer) => [count === 1 ? 0 : answer.id, answer]));
  const responses: RpcResponse[] = [];
  for (let id = 0; id < count; id += 1) {
    const answer = byId.get(id);
    if (answer?.error) responses.push({ error: errorOf(answer.error) });
    else if (answer?.result !== undefined) responses.push({ result: answer.result });
    else return null;
  }
  return responses;
}

function errorOf({ code, message, data }: { code: number; message: string; data?: unknown }) {
  return data === undefined ? { code, message } : { code, message, data };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Errors inside a contract as nodes phrase them; any other error is the node's own. */
const contractFault =
  /revert|out ?of ?gas|opcode|stack|jump|invalid ?memory|EVM|execution (error|aborted|timeout)|returndata|too large/i;

export function isContractFault({ code, message }: { code: number; message: string }): boolean {
  return code === 3 || contractFault.test(message);
}
