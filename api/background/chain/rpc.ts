import { OutsideFailure } from "../log-signal/job.ts";

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
