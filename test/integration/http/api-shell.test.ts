import { connect } from "node:net";
import express from "express";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { createApp } from "#api/app.ts";
import { handleErrors, handleUnknownPath } from "#api/http/failures.ts";
import { mountRoutes } from "#api/http/mount.ts";
import { assignRequestId } from "#api/http/request.ts";
import { routeFor } from "#api/http/route.ts";
import { type Listening, listen } from "#api/http/server.ts";
import { reject } from "#projections/domain/rejection.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { seedRows, today } from "#test/support/http/api-rows.ts";
import { openTestMarket } from "#test/support/orders/test-market.ts";

let database: TestDatabase;
let listening: Listening;
let url: string;
const lines: string[] = [];

beforeAll(async () => {
  database = await createDatabase({ template: "projected" });
  await seedRows(database.db);
  const context = {
    db: database.db,
    siteUrl: "https://site.example.test",
    chains: [33139] as const,
    market: openTestMarket(database.db),
    readStatus: async () => {
      throw new Error("the secret cause");
    },
    now: () => today,
  };
  const logger = pino({ level: "error" }, { write: (line: string) => void lines.push(line) });
  const app = createApp({ context, baseUrl: "https://api.example.test", logger });
  listening = await listen(app, "127.0.0.1", 0);
  url = `http://127.0.0.1:${listening.port}`;
});

afterAll(async () => {
  await listening?.close();
  await database?.drop();
});

const sales = "/v1/sales?chainId=33139";

/** What is answered to the beginning of a request as it is written here, until the connection ends. */
const sendLine = (line: string) =>
  new Promise<string>((resolve, fail) => {
    let text = "";
    const socket = connect(listening.port, "127.0.0.1", () => socket.write(`${line}\r\n\r\n`));
    socket.on("data", (chunk) => {
      text += chunk.toString();
    });
    socket.on("close", () => resolve(text));
    socket.on("error", fail);
  });

describe("the envelope of refusals", () => {
  it("answers unknown paths", async () => {
    const response = await fetch(`${url}/v1/nothing`);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ success: false, code: "not_found" });
  });

  it.each(["POST", "PUT", "DELETE", "PATCH"])(
    "answers %s where it is not served",
    async (method) => {
      const response = await fetch(url + sales, {
        method,
        body: "{",
        headers: { "content-type": "application/json" },
      });
      expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
      expect(await response.json()).toMatchObject({ success: false, code: "method_not_allowed" });
    },
  );

  it("answers a fault without its cause, which is in the log under the request's id", async () => {
    const response = await fetch(`${url}/v1/status`, {
      headers: { "x-request-id": "my-request-1" },
    });
    const body = await response.text();
    expect(response.status).toBe(500);
    expect(JSON.parse(body)).toMatchObject({ code: "internal", requestId: "my-request-1" });
    expect(body).not.toContain("secret");
    const told = lines.filter((line) => line.includes("my-request-1")).join();
    expect(told).toContain("the secret cause");
  });

  it("says that a chain of the interface is not served here", async () => {
    const response = await fetch(`${url}/v1/sales`);
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({ code: "unsupported_chain" });
  });

  it("links to this service, whatever host the request line names", async () => {
    const line = `GET http://evil.test${sales}&per_page=1 HTTP/1.1`;
    const answer = await sendLine(`${line}\r\nHost: evil.test\r\nConnection: close`);
    expect(answer).toMatch(/^HTTP\/1.1 200 /);
    const [, link] = /^link: <([^>]+)>; rel="next"\r$/im.exec(answer) ?? [];
    const { origin, pathname, searchParams } = new URL(link ?? "");
    expect([origin, pathname]).toEqual(["https://api.example.test", "/v1/sales"]);
    expect(Object.fromEntries(searchParams)).toEqual({
      ...{ chainId: "33139", per_page: "1" },
      cursor: expect.any(String),
    });
  });

  it.each([
    ["what is not HTTP", "nonsense", 400],
    ["a path longer than headers may be", `GET /${"x".repeat(60_000)} HTTP/1.1`, 431],
  ])("answers %s, under a request id too", async (_case, line, status) => {
    const answer = await sendLine(line);
    const [head = "", body = ""] = answer.split("\r\n\r\n");
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    const requestId = /^X-Request-Id: (.+)$/m.exec(head)?.[1];
    expect(requestId).toMatch(/^[\w-]{36}$/);
    expect(JSON.parse(body)).toMatchObject({ success: false, requestId });
  });
});

describe("request ids", () => {
  it("makes one when the caller's is not well formed", async () => {
    const response = await fetch(url + sales, { headers: { "x-request-id": "short" } });
    expect(response.headers.get("x-request-id")).toMatch(/^[\w-]{36}$/);
  });
});

describe("conditional requests", () => {
  it.each([sales, "/v1/openapi.json", "/docs", "/"])(
    "answers 304 for %s when nothing changed",
    async (path) => {
      const first = await fetch(url + path);
      await first.arrayBuffer();
      const etag = first.headers.get("etag") ?? "";
      for (const header of [etag, `"x", ${etag}`, "*", etag.replace("W/", "")]) {
        const again = await fetch(url + path, { headers: { "if-none-match": header } });
        expect([again.status, await again.text(), again.headers.get("etag")]).toEqual([
          304,
          "",
          etag,
        ]);
      }
      const other = await fetch(url + path, { headers: { "if-none-match": '"other"' } });
      await other.arrayBuffer();
      expect(other.status).toBe(200);
    },
  );
});

describe("methods of every path", () => {
  it("answers HEAD as GET without the body", async () => {
    const get = await fetch(url + sales, { headers: { "accept-encoding": "identity" } });
    const text = await get.text();
    const head = await fetch(url + sales, {
      method: "HEAD",
      headers: { "accept-encoding": "identity" },
    });
    expect(head.status).toBe(200);
    expect(head.headers.get("etag")).toBe(get.headers.get("etag"));
    expect(head.headers.get("content-length")).toBe(String(Buffer.byteLength(text)));
    expect(await head.text()).toBe("");
  });

  it("answers a browser's preflight and a plain OPTIONS", async () => {
    const preflight = await fetch(url + sales, {
      method: "OPTIONS",
      headers: { origin: "https://shop.example.test", "access-control-request-method": "GET" },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-origin")).toBe("*");
    const allowed = preflight.headers.get("access-control-allow-headers");
    for (const name of ["X-API-Key", "Traceparent", "Tracestate"]) expect(allowed).toContain(name);
  });

  it("lets a browser read the headers that matter", async () => {
    const response = await fetch(url + sales, { headers: { origin: "https://shop.example.test" } });
    await response.arrayBuffer();
    const exposed = response.headers.get("access-control-expose-headers") ?? "";
    for (const name of ["X-Request-Id", "ETag", "Link", "Retry-After"])
      expect(exposed).toContain(name);
    expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(response.headers.get("x-powered-by")).toBeNull();
  });
});

describe("pages", () => {
  it.each(["/", "/docs"])("%s loads nothing from elsewhere", async (path) => {
    const response = await fetch(url + path);
    const html = await response.text();
    expect(response.headers.get("content-type")).toContain("text/html");
    expect(response.headers.get("content-security-policy")).toContain("script-src 'self'");
    const loaded = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address = ""]) => address);
    expect(loaded.every((address) => /^[/#]/.test(address))).toBe(true);
    for (const address of loaded.filter((one) => /\.(css|js)$/.test(one))) {
      const part = await fetch(url + address);
      await part.arrayBuffer();
      expect([address, part.status]).toEqual([address, 200]);
    }
  });

  it("compresses what is large", async () => {
    const response = await fetch(`${url}/v1/openapi.json`, {
      headers: { "accept-encoding": "gzip" },
    });
    await response.arrayBuffer();
    expect(response.headers.get("content-encoding")).toBe("gzip");
  });
});

describe("/healthz", () => {
  it("says that the process is up, whatever else is not", async () => {
    const response = await fetch(`${url}/healthz`);
    expect([response.status, await response.json()]).toEqual([
      200,
      { success: true, data: { up: true } },
    ]);
  });
});

describe("routes that take a body", () => {
  type Nothing = Record<string, never>;
  const route = routeFor<Nothing>(() => undefined);
  const greet = route(
    {
      method: "post",
      path: "/greet/{name}",
      operationId: "greet",
      tag: "Test",
      summary: "Greets",
      params: z.object({ name: z.string().max(5) }),
      body: z.object({ times: z.int().min(1) }),
      data: z.array(z.string()),
      refuses: { bad_structure: 422, too_often: 409 },
      bodyLimits: { maxBytes: 100 },
    },
    async ({ params, body }) =>
      body.times > 3
        ? reject("too_often", "Three times is enough")
        : { data: Array<string>(body.times).fill(params.name) },
  );
  let greeter: Listening;

  beforeAll(async () => {
    const app = express();
    app.use((request, response, next) => {
      assignRequestId(request, response);
      next();
    });
    mountRoutes(app, [greet], {}, "https://api.example.test");
    app.use(handleUnknownPath, handleErrors(pino({ level: "silent" })));
    greeter = await listen(app, "127.0.0.1", 0);
  });
  afterAll(() => greeter?.close());

  const post = async (name: string, body: string) => {
    const response = await fetch(`http://127.0.0.1:${greeter.port}/greet/${name}`, {
      method: "POST",
      body,
    });
    const answer = z
      .looseObject({ code: z.string().optional(), data: z.unknown().optional() })
      .parse(await response.json());
    return [response.status, answer.code ?? answer.data];
  };

  it("hand parsed input to the handler", async () => {
    expect(await post("ann", '{"times":2}')).toEqual([200, ["ann", "ann"]]);
  });

  it.each([
    ["malformed JSON", '{"times":', 422, "bad_structure"],
    ["no body", "", 422, "bad_structure"],
    ["a wrong field", '{"times":0}', 422, "bad_structure"],
    ["an array", "[]", 422, "bad_structure"],
    [
      "too large a body",
      JSON.stringify({ times: 1, pad: "x".repeat(200) }),
      413,
      "payload_too_large",
    ],
    ["a declared refusal", '{"times":4}', 409, "too_often"],
  ])("refuse %s", async (_what, body, status, code) => {
    expect(await post("ann", body)).toEqual([status, code]);
  });

  it("refuse a path parameter that does not fit", async () => {
    expect(await post("annabel", '{"times":1}')).toEqual([422, "bad_structure"]);
  });

  it("cannot refuse with a code they do not declare", () => {
    const shape = {
      method: "get",
      path: "/x",
      operationId: "x",
      tag: "",
      summary: "",
      data: z.null(),
      refuses: {},
    } as const;
    // @ts-expect-error the code is not declared
    route(shape, async () => reject("undeclared", ""));
  });

  it("must declare how they refuse bad input", () => {
    const query = z.object({ page: z.string() });
    const shape = {
      method: "get",
      path: "/x",
      operationId: "x",
      tag: "",
      summary: "",
      data: z.null(),
      refuses: {},
      query,
    } as const;
    expect(() => route(shape, async () => ({ data: null }))).toThrow("invalid_parameters");
  });
});
