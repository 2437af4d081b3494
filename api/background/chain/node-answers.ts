import { z } from "zod";
import type { RpcResponse } from "./rpc.ts";

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
