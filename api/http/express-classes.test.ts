import { createServer, IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expressClasses } from "./server.ts";

const app = express();
app.get("/", (request, response) => {
  response.json({ host: request.get("host"), protocol: request.protocol });
});

const seen: { request: object; response: object }[] = [];
const server = createServer(expressClasses(app), (request, response) => {
  const [ofRequest, ofResponse] = [request, response].map((one) => Object.getPrototypeOf(one));
  seen.push({ request: ofRequest, response: ofResponse });
  app(request, response);
});

beforeAll(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)));
afterAll(() => new Promise((resolve) => server.close(resolve)));

describe("a server's requests and responses", () => {
  it("have the prototypes that Express sets, before it sees them", async () => {
    const { port } = server.address() as AddressInfo;
    const answer = await fetch(`http://127.0.0.1:${port}/`);
    expect(await answer.json()).toEqual({ host: `127.0.0.1:${port}`, protocol: "http" });
    expect(seen).toEqual([{ request: app.request, response: app.response }]);
    expect(seen[0]?.request).toBe(app.request);
    expect(seen[0]?.response).toBe(app.response);
  });

  it("are Node's", () => {
    expect(app.request).toBeInstanceOf(IncomingMessage);
    expect(app.response).toBeInstanceOf(ServerResponse);
  });
});
