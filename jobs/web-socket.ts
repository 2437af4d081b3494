import { Duplex } from "node:stream";
import { Agent, type Dispatcher, WebSocket } from "undici";

export type OpenSocket = {
  /** Silently dropped when the socket has ended. */
  send(text: string): void;
  close(): void;
};

type Events = {
  onText(text: string): void;
  /** Called once when it ends, also when it never opened. */
  onEnd(): void;
};

const maxMessageBytes = 1024 * 1024;
const connectMs = 10_000;

/**
 * An open websocket, or the HTTP status that refused it (null without a response). A message of more than 1 MiB closes
 * it.
 */
export async function openWebSocket(
  url: string,
  { onText, onEnd }: Events,
): Promise<OpenSocket | { status: number | null }> {
  const handshake: Handshake = { status: null, connection: null };
  const agent = new Agent({
    webSocket: { maxPayloadSize: maxMessageBytes },
    connect: { timeout: connectMs },
    headersTimeout: connectMs,
  });
  const dispatcher = agent.compose(
    (dispatch) => (options, handler) => dispatch(options, watchHandshake(handler, handshake)),
  );
  const socket = new WebSocket(url, { dispatcher });
  const isOpen = await new Promise<boolean>((resolve) => {
    socket.onopen = () => resolve(true);
    socket.onmessage = ({ data }) => onText(typeof data === "string" ? data : "");
    socket.onclose = () => {
      resolve(false);
      void agent.destroy();
      onEnd();
    };
  });
  if (!isOpen) return { status: handshake.status };
  return {
    send: (text) => socket.send(text),
    // WebSocket.close() would wait for the other side.
    close: () => void handshake.connection?.destroy(),
  };
}

type Handshake = { status: number | null; connection: Duplex | null };

/** The WebSocket exposes neither the refusing status nor its connection. */
function watchHandshake(
  handler: Dispatcher.DispatchHandler,
  handshake: Handshake,
): Dispatcher.DispatchHandler {
  return new Proxy(handler, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        const [status] = args.filter((arg) => typeof arg === "number");
        const connection = args.find((arg) => arg instanceof Duplex);
        if (isResponseCallback.test(String(name))) Object.assign(handshake, { status, connection });
        return Reflect.apply(value, target, args);
      };
    },
  });
}

/** undici's handler callbacks that carry a response, in older and newer versions. */
const isResponseCallback = /^on(Headers|Upgrade|ResponseStart|RequestUpgrade)$/;
