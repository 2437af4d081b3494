import { type Rejection, reject } from "../rejection.ts";

/** `unread`: what could not be read; null: nothing could. */
export function rpcUnavailable(unread: string | null): Rejection<"rpc_unavailable"> {
  const message =
    unread === null ? "The chain is unavailable" : `The chain did not return ${unread}`;
  return reject("rpc_unavailable", `${message}; submit the order again later`);
}
