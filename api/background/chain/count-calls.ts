import { BaseError, type HttpTransport, http, RpcRequestError } from "viem";
import { type EndedCall, publishCall } from "#jobs/outgoing-calls.ts";
import { isContractFault } from "./contract-fault.ts";

type Call = { readonly method: string };
type Answer = { result: unknown } | { error: { code: number; message: string } };
type Node = { readonly chainId: number; readonly url: string };
const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : "unnamed");

/** Counts the calls of a batch by what the node answered. */
export function countAnswers(node: Node, calls: readonly Call[], answers: readonly Answer[]): void {
  calls.forEach(({ method }, index) => {
    const answer = answers[index];
    if (answer !== undefined) publishCall({ ...keyOf(node, method), ...outcomeOf(answer) });
  });
}

/** Counts calls that got no answer that can be used. */
export function countUnanswered(node: Node, calls: readonly Call[], message: string): void {
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
