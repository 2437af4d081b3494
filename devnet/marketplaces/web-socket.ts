import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";

const guid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const opcode = { text: 1, close: 8, ping: 9, pong: 10 } as const;

export type ServedSocket = { send(text: string): void; cut(): void };

/** Takes a websocket in (RFC 6455): text in one frame each, no extensions. `onEnd` comes once. */
export function acceptWebSocket(
  request: IncomingMessage,
  socket: Duplex,
  { onText, onEnd }: { onText(text: string): void; onEnd(): void },
): ServedSocket {
  const accept = createHash("sha1")
    .update(`${request.headers["sec-websocket-key"]}${guid}`)
    .digest("base64");
  socket.write(
    [
      "HTTP/1.1 101 Switching Protocols",
      "Upgrade: websocket",
      "Connection: Upgrade",
      `Sec-WebSocket-Accept: ${accept}`,
      "\r\n",
    ].join("\r\n"),
  );
  let unread = Buffer.alloc(0);
  socket.on("data", (chunk: Buffer) => {
    unread = Buffer.concat([unread, chunk]);
    for (let frame = readFrame(unread); frame !== null; frame = readFrame(unread)) {
      unread = unread.subarray(frame.bytes);
      if (frame.opcode === opcode.text) onText(frame.payload.toString());
      else if (frame.opcode === opcode.ping) socket.write(frameOf(opcode.pong, frame.payload));
      else if (frame.opcode === opcode.close) socket.end(frameOf(opcode.close, frame.payload));
    }
  });
  // Sockets of an HTTP server stay half open.
  socket.on("end", () => socket.end());
  socket.on("error", () => socket.destroy());
  socket.once("close", onEnd);
  return {
    send: (text) => void socket.write(frameOf(opcode.text, Buffer.from(text))),
    cut: () => void socket.destroy(),
  };
}

type Frame = { opcode: number; payload: Buffer; bytes: number };

/** The first frame of a client, whose frames are masked; null: it has not arrived whole. */
function readFrame(bytes: Buffer): Frame | null {
  if (bytes.length < 2) return null;
  const short = bytes.readUInt8(1) & 0x7f;
  const lengthBytes = { 126: 2, 127: 8 }[short] ?? 0;
  const start = 2 + lengthBytes + 4;
  if (bytes.length < start) return null;
  const length = lengthBytes === 0 ? short : Number(`0x${bytes.toString("hex", 2, start - 4)}`);
  if (bytes.length < start + length) return null;
  const mask = bytes.subarray(start - 4, start);
  const masked = bytes.subarray(start, start + length);
  const payload = Buffer.from(masked.map((byte, index) => byte ^ (mask[index % 4] ?? 0)));
  return { opcode: bytes.readUInt8(0) & 0x0f, payload, bytes: start + length };
}

function frameOf(code: number, payload: Buffer): Buffer {
  const { length } = payload;
  if (length < 126) return Buffer.concat([Buffer.from([0x80 | code, length]), payload]);
  const head = Buffer.alloc(length < 65_536 ? 4 : 10);
  head.writeUInt8(0x80 | code, 0);
  head.writeUInt8(head.length === 4 ? 126 : 127, 1);
  if (head.length === 4) head.writeUInt16BE(length, 2);
  else head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, payload]);
}
