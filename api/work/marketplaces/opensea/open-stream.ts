import { reject } from "../../../../projections/domain/rejection.ts";
import type { Ear, PartnerStream } from "../partner.ts";
import { openWebSocket } from "../web-socket.ts";
import { createStreamChannels } from "./stream-channels.ts";

export type StreamOptions = {
  /** With the path of the websocket, without the key. */
  url: string;
  key: string | null;
  /** Between two heartbeats; one that is not answered until the next ends the connection. */
  heartbeatMs?: number;
};

/** Asked for by OpenSea. */
const usualHeartbeatMs = 30_000;

/** One connection to OpenSea's Stream API. */
export async function openStream(
  { url, key, heartbeatMs = usualHeartbeatMs }: StreamOptions,
  ear: Ear,
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
  const opened = createStreamChannels(ear, socket);
  channels = opened;
  const timer = setInterval(() => {
    if (!opened.beat()) socket.close();
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
    return reject("key_refused", `OpenSea's stream does not take the key: HTTP ${status}`);
  }
  const reason = status === null ? "no connection" : `HTTP ${status}`;
  return reject("upstream_error", `OpenSea's stream did not answer: ${reason}`);
}
