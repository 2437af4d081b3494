import { Duplex } from "node:stream";
import { Agent, type Dispatcher, WebSocket } from "undici";

export type OpenSocket = {
  /** Lost without a word where the socket has ended. */
  send(text: string): void;
  close(): void;
};

type Events = {
  onText(text: string): void;
  /** Once, whatever ended it; also where it never opened. */
  onEnd(): void;
};

const longestBytes = 1024 * 1024;
const connectMs = 10_000;

/**
 * An open websocket, or the status of the answer that refused it; null: there was no answer. A message of more than
 * 1 MiB ends it.
 */
export async function openWebSocket(
  url: string,
  { onText, onEnd }: Events,
): Promise<OpenSocket | { status: number | null }> {
  const handshake: Handshake = { status: null, connection: null };
  const agent = new Agent({
    webSocket: { maxPayloadSize: longestBytes },
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
    // Its own way of closing waits for the other side.
    close: () => void handshake.connection?.destroy(),
  };
}

type Handshake = { status: number | null; connection: Duplex | null };

/** The socket itself tells neither what refused it nor what it runs over. */
function watchHandshake(
  handler: Dispatcher.DispatchHandler,
  handshake: Handshake,
): Dispatcher.DispatchHandler {
  return new Proxy(handler, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      return (...told: unknown[]) => {
        const [status] = told.filter((part) => typeof part === "number");
        const connection = told.find((part) => part instanceof Duplex);
        if (isAnswer.test(String(name))) Object.assign(handshake, { status, connection });
        return Reflect.apply(value, target, told);
      };
    },
  });
}

/** The callbacks that hand over an answer, in their older and newer forms. */
const isAnswer = /^on(Headers|Upgrade|ResponseStart|RequestUpgrade)$/;
