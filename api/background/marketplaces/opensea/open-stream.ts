import { reject } from "#projections/domain/rejection.ts";
import type { PartnerStream, StreamListener } from "../partner.ts";
import { openWebSocket } from "#jobs/web-socket.ts";
import { createStreamChannels } from "./stream-channels.ts";

export type StreamOptions = {
  /** Full websocket URL without the key. */
  url: string;
  key: string | null;
  /** Heartbeat interval; a heartbeat unanswered until the next one closes the connection. */
  heartbeatMs?: number;
};

/** Required by OpenSea. */
const defaultHeartbeatMs = 30_000;

/** One connection to OpenSea's Stream API. */
export async function openStream(
  { url, key, heartbeatMs = defaultHeartbeatMs }: StreamOptions,
  listener: StreamListener,
): ReturnType<PartnerStream["connect"]> {
  let channels: ReturnType<typeof createStreamChannels> | null = null;
  let settle = () => {};
  const ended = new Promise<void>((resolve) => {
    settle = resolve;
  });
  const socket = await openWebSocket(addressOf(url, key), {
    onText: (text) => channels?.read(text),
    onEnd: settle,
  });
  if (!("send" in socket)) return refusalOf(socket.status);
  const opened = createStreamChannels(listener, socket);
  channels = opened;
  const timer = setInterval(() => {
    if (!opened.sendHeartbeat()) socket.close();
  }, heartbeatMs);
  void ended.then(() => clearInterval(timer));
  return { watch: opened.watch, ended, close: socket.close };
}

function addressOf(url: string, key: string | null): string {
  const address = new URL(url);
  if (key !== null) address.searchParams.set("token", key);
  address.searchParams.set("vsn", "2.0.0");
  return address.href;
}

function refusalOf(status: number | null): Awaited<ReturnType<PartnerStream["connect"]>> {
  if (status === 401 || status === 403) {
    return reject("key_refused", `OpenSea's stream refused the key: HTTP ${status}`);
  }
  const reason = status === null ? "no connection" : `HTTP ${status}`;
  return reject("upstream_error", `OpenSea's stream did not answer: ${reason}`);
}
