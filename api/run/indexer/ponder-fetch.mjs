// Runs in Ponder's process before Ponder. JavaScript, because nothing compiles it there.
//
// Ponder makes each JSON-RPC call by `new Request()` and `fetch()`: 0.5 ms of processor time in Node 20. Here its calls
// go through `node:http`, which takes 0.2, with the same results; all else has the standard ones.
import http from "node:http";
import https from "node:https";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";

const { Request: StandardRequest, fetch: standardFetch } = globalThis;
const unzip = promisify(gunzip);
/** A connection that was idle for longer may be gone without a word, as behind a load balancer. */
const agentOptions = { keepAlive: true, timeout: 4_000 };
const transports = {
  "http:": { request: http.request, agent: new http.Agent(agentOptions) },
  "https:": { request: https.request, agent: new https.Agent(agentOptions) },
};

/** What `ponder/dist/esm/rpc/http.js` makes of a call. */
class Call {
  constructor(url, init) {
    this.url = url;
    this.init = init;
  }
}

const isCall = (input, init) =>
  typeof input === "string" &&
  init?.method === "POST" &&
  typeof init.body === "string" &&
  init.headers?.["Content-Type"] === "application/json";

globalThis.Request = new Proxy(StandardRequest, {
  construct: (standard, args, constructed) =>
    isCall(...args) ? new Call(...args) : Reflect.construct(standard, args, constructed),
});

globalThis.fetch = (input, init) =>
  input instanceof Call ? fetchCall(input) : standardFetch(input, init);

async function fetchCall({ url, init }) {
  const response = await send(new URL(url), init);
  const { statusCode: status, statusMessage: statusText } = response;
  const sent = await buffer(response);
  if (status >= 300 && status < 400) return standardFetch(url, init);
  const isZipped = response.headers["content-encoding"] === "gzip";
  const chunks = [isZipped ? await unzip(sent) : sent];
  return {
    ...{ ok: status >= 200 && status < 300, status, statusText },
    get headers() {
      return new Headers(response.headers);
    },
    body: { getReader: () => readerOf(chunks) },
  };
}

/** Of a body that is there already. */
const readerOf = (chunks) => ({
  read: async () => ({ done: chunks.length === 0, value: chunks.shift() }),
  releaseLock() {},
  async cancel() {},
});

function send(url, init) {
  const { request, agent } = transports[url.protocol];
  const { method, body, signal } = init;
  const headers = { ...init.headers, "Accept-Encoding": "gzip" };
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, method, headers, signal });
    sent.once("response", resolve);
    sent.once("error", (error) => {
      // The node closed the connection while it was idle. Ponder only reads: asking twice does no harm.
      const wasIdle = sent.reusedSocket && error.code === "ECONNRESET";
      if (wasIdle) resolve(send(url, init));
      else reject(error);
    });
    sent.end(body);
  });
}
