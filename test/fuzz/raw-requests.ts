import { connect } from "node:net";

/** Requests that no client library sends. */
export const rawRequests: readonly string[] = [
  "GET / HTTP/9.9\r\n\r\n",
  "\0\0\0\0\r\n\r\n",
  "GET /v1/listings?chainId=1\0 HTTP/1.1\r\nHost: x\r\n\r\n",
  "GET /%zz%/../..//v1/sales HTTP/1.1\r\nHost: x\r\n\r\n",
  `GET /v1/sales?${"a=1&".repeat(3_500)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
  `GET /v1/sales?${"traits[a]".repeat(1_500)}=1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
  `GET /v1/sales HTTP/1.1\r\nHost: x\r\n${"X-A: b\r\n".repeat(500)}\r\n`,
  `GET /v1/sales HTTP/1.1\r\nHost: x\r\nX-A: ${"b".repeat(20_000)}\r\n\r\n`,
  "GET /v1/sales HTTP/1.1\r\n\r\n",
  "GET http://evil.test/v1/sales HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
  "POST /v1/orders/asks HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
  "POST /v1/orders/asks HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFF\r\n{",
  "POST /v1/orders/asks HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n{",
  "TRACE /v1/sales HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
  "PROPFIND /v1/sales HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
  "CONNECT evil.test:443 HTTP/1.1\r\nHost: x\r\n\r\n",
  "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
];

const timeoutMs = 10_000;

/** Status of the answer's first line; 0: the connection ended without one. */
export async function sendRaw(url: string, text: string): Promise<number> {
  const { port, hostname } = new URL(url);
  return await new Promise((resolve) => {
    let answer = "";
    const socket = connect(Number(port), hostname, () => socket.write(text, "latin1"));
    const settle = () => {
      socket.destroy();
      resolve(Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0));
    };
    socket.setTimeout(timeoutMs, settle);
    socket.on("data", (chunk) => {
      answer += chunk.toString("latin1");
      if (answer.includes("\r\n\r\n")) settle();
    });
    socket.on("error", settle);
    socket.on("close", settle);
  });
}
