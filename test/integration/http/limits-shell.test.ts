import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import express from "express";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { handleErrors } from "#api/http/failures.ts";
import { mountRoutes } from "#api/http/mount.ts";
import { assignRequestId } from "#api/http/request.ts";
import { routeFor } from "#api/http/route.ts";
import { type Listening, listen } from "#api/http/server.ts";

const route = routeFor<Record<string, never>>(() => undefined);
const measure = route(
  {
    method: "post",
    path: "/measure",
    operationId: "measure",
    tag: "Test",
    summary: "Measures a text",
    body: z.object({ text: z.string() }),
    data: z.int(),
    refuses: { bad_structure: 422 },
  },
  async ({ body }) => ({ data: body.text.length }),
);
const muchBytes = 64_000_000;
let server: Listening;
let onMuchEnded: () => void;
const muchEnded = new Promise<void>((resolve) => {
  onMuchEnded = resolve;
});

beforeAll(async () => {
  const app = express();
  app.use((request, response, next) => {
    assignRequestId(request, response);
    next();
  });
  // More than any buffer between the two holds.
  app.get("/much", (_request, response) => {
    response.once("close", onMuchEnded);
    response.end(Buffer.alloc(muchBytes));
  });
  mountRoutes(app, [measure], {}, "https://api.example.test");
  app.use(handleErrors(pino({ level: "silent" })));
  const patience = { headersMs: 200, requestMs: 400, checkMs: 50, idleMs: 800 };
  server = await listen(app, "127.0.0.1", 0, patience);
});
afterAll(() => server?.close());

/** Sends this and no more; tells what came until the server closed the connection. */
function send(text: string): Promise<string> {
  return new Promise((resolve) => {
    let answer = "";
    const socket = connect(server.port, "127.0.0.1", () => socket.write(text));
    socket.on("data", (chunk) => {
      answer += chunk.toString();
    });
    socket.on("error", () => {});
    socket.on("close", () => resolve(answer));
  });
}

describe("a client that takes its time", () => {
  it.each([
    ["over its headers", "GET /much HTTP/1.1\r\nHost: a\r\nX-A: "],
    ["over its body", 'POST /measure HTTP/1.1\r\nHost: a\r\nContent-Length: 99\r\n\r\n{"text"'],
  ])("%s gets an error and is disconnected", async (_over, text) => {
    const answer = await send(text);
    expect(answer).toMatch(/^HTTP\/1.1 408 Request Timeout\r\n/);
    expect(answer).toContain('"code":"request_timeout"');
  });

  it("that does not read its answer is cut off", async () => {
    const socket = connect(server.port, "127.0.0.1");
    socket.on("error", () => {});
    socket.pause();
    socket.write("GET /much HTTP/1.1\r\nHost: a\r\n\r\n");

    await muchEnded;
    expect(socket.bytesRead).toBeLessThan(muchBytes);
    socket.destroy();
  });
});

describe("a request that is too much", () => {
  const post = (body: Buffer, headers: Record<string, string> = {}) =>
    fetch(`http://127.0.0.1:${server.port}/measure`, { method: "POST", body, headers });

  it("in its body is refused, and so is one that grows when it is unpacked", async () => {
    const text = Buffer.from(JSON.stringify({ text: "x".repeat(10_000_000) }));

    const plain = await post(text);
    const packed = await post(gzipSync(text), { "content-encoding": "gzip" });
    const small = await post(gzipSync('{"text":"abc"}'), { "content-encoding": "gzip" });

    expect(gzipSync(text).length).toBeLessThan(16_384);
    expect([plain.status, packed.status, small.status]).toEqual([413, 413, 200]);
  });

  it("in its headers is refused", async () => {
    const large = await send(
      `GET /measure HTTP/1.1\r\nHost: a\r\nX-A: ${"x".repeat(17_000)}\r\n\r\n`,
    );
    expect(large).toMatch(/^HTTP\/1.1 431 /);
  });
});
