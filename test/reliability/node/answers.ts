import { openMethods } from "./methods.ts";
import type { FaultyNode } from "./node-state.ts";
import { RefusedCall } from "./serve-logs.ts";

export type RpcCall = { id: number | string; method: string; params?: unknown[] };

export type ServedAnswer = {
  jsonrpc?: "2.0";
  id: number | string;
  result?: unknown;
  error?: { code: number; message: string } | null;
};

/** Answers the calls of one request. */
export function answerCalls(
  node: FaultyNode,
  draw: (share: number) => boolean,
  calls: readonly RpcCall[],
): { answers: ServedAnswer[]; status: number } {
  const isOfLogs = calls.some(({ method }) => method === "eth_getLogs");
  const { chain, faults, description } = node;
  const methods = openMethods({ chain, faults, draw, description }, isOfLogs);
  let status = 200;
  const answers = calls.map(({ id, method, params = [] }): ServedAnswer => {
    node.calls.set(method, (node.calls.get(method) ?? 0) + 1);
    const run = methods[method];
    if (run === undefined) {
      node.unknownMethods.add(method);
      const message = `the method ${method} does not exist/is not available`;
      return { jsonrpc: "2.0", id, error: { code: -32_601, message } };
    }
    try {
      return formed(id, run(params), faults.form);
    } catch (error) {
      if (!(error instanceof RefusedCall)) throw error;
      status = error.status ?? status;
      return { jsonrpc: "2.0", id, error: { code: error.code, message: error.message } };
    }
  });
  return { answers, status };
}

function formed(
  id: number | string,
  result: unknown,
  { errorNull, textIds, noVersion }: FaultyNode["faults"]["form"],
): ServedAnswer {
  return {
    ...(noVersion ? {} : { jsonrpc: "2.0" as const }),
    ...{ id: textIds ? `${id}` : id, result },
    ...(errorNull ? { error: null } : {}),
  };
}
