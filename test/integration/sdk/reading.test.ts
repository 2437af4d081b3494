import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MarketError, type MarketOptions, market } from "#sdk/src/index.ts";

type Reply = (request: IncomingMessage, response: ServerResponse) => void;

let server: Server;
let url: string;
/** What is answered, one after another; the last one again and again. */
let replies: Reply[];
let received: { method: string; path: string; headers: IncomingMessage["headers"] }[];

beforeEach(async () => {
  received = [];
  server = createServer((request, response) => {
    const { method = "", url: path = "", headers } = request;
    received.push({ method, path, headers });
    const [reply] = replies.length > 1 ? replies.splice(0, 1) : replies;
    reply?.(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const open = (more: Partial<MarketOptions> = {}) =>
  market({ url, chainId: 33139, retry: { delayMs: 1 }, ...more });

const answer =
  (status: number, body: unknown, headers: Record<string, string> = {}): Reply =>
  (_, response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  };
const refusal = { success: false, code: "not_found", message: "No listing x", error: "No listing" };
const row = { success: true, data: { askId: "x" } };
const cut: Reply = (_, response) => {
  response.writeHead(200, { "content-length": "100" });
  response.write('{"data":');
  response.socket?.destroy();
};
const get = (options?: Partial<MarketOptions>) =>
  open(options).get("/v1/listings/{askId}", { askId: "x/y" });

describe("a request of the client", () => {
  it("names the chain and the key, and fills the path", async () => {
    replies = [answer(200, row)];
    expect(await get({ key: "secret" })).toEqual(row);
    const [request] = received;
    expect(request?.path).toBe("/v1/listings/x%2Fy?chainId=33139");
    expect(request?.headers["x-api-key"]).toBe("secret");
    const nameless = open().get("/v1/listings/{askId}", { askId: "" });
    await expect(nameless).rejects.toMatchObject({
      ...{ name: "MarketError", code: "invalid_parameters", status: 0 },
      details: [{ field: "askId" }],
    });
  });

  it("that reaches nobody says why", async () => {
    const away = new URL(url);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    const asked = market({ url: away.href, chainId: 33139, retry: { tries: 1 } });
    const answered = asked.get("/v1/listings/{askId}", { askId: "x" });
    await expect(answered).rejects.toMatchObject({ code: "network", status: 0 });
    await expect(answered).rejects.toThrow(`ECONNREFUSED 127.0.0.1:${away.port}`);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  });

  it("names the position of what the client has posted, to the same chain", async () => {
    replies = [
      answer(200, row, { "x-position": "70" }),
      answer(201, row, { "x-position": "90" }),
      answer(201, row, { "x-position": "80" }),
      answer(200, row),
    ];
    const api = open();
    const read = (params: object) => api.get("/v1/listings/{askId}", { askId: "x", ...params });
    await read({});
    await api.post("/v1/listings/{askId}/buy-data", { askId: "x" });
    await api.post("/v1/listings/{askId}/buy-data", { askId: "x" });
    await read({});
    await read({ chainId: 1 });
    const sent = received.map(({ headers }) => headers["x-min-position"]);
    expect(sent).toEqual([undefined, undefined, "90", "90", undefined]);
  });

  it.each([
    ["a broken connection", cut],
    ["429", answer(429, { code: "rate_limited", message: "slow" }, { "retry-after": "0" })],
    ["502", answer(502, "<html>bad gateway</html>")],
    ["503", answer(503, "")],
    ["504", answer(504, {})],
    ["half an answer", answer(200, '{"data":[')],
  ])("is repeated after %s, three times in all", async (_, failure) => {
    replies = [failure, failure, answer(200, row)];
    expect(await get()).toEqual(row);
    replies = [failure];
    received = [];
    await expect(get()).rejects.toBeInstanceOf(MarketError);
    expect(received).toHaveLength(3);
  });

  it.each([400, 401, 404, 409, 422, 500])("is not repeated after %i", async (status) => {
    replies = [answer(status, refusal)];
    await expect(get()).rejects.toMatchObject({ status });
    expect(received).toHaveLength(1);
  });

  it("is not repeated when it makes a key, and is when it submits an order", async () => {
    replies = [answer(503, { code: "unavailable", message: "later" })];
    await expect(open().post("/v1/auth/keys", {})).rejects.toMatchObject({ status: 503 });
    expect(received).toHaveLength(1);
    replies = [answer(503, ""), answer(201, row)];
    await open().post("/v1/orders/asks/{askId}/sync", { askId: "x" });
    expect(received).toHaveLength(3);
  });

  it("waits as long as Retry-After says, unless that is after the deadline", async () => {
    replies = [
      answer(429, { code: "rate_limited", message: "slow" }, { "retry-after": "1" }),
      answer(200, row),
    ];
    const start = performance.now();
    await get();
    expect(performance.now() - start).toBeGreaterThan(990);

    const later = new Date(Date.now() + 3_600_000).toUTCString();
    replies = [answer(503, { code: "x", message: "" }, { "retry-after": later })];
    received = [];
    const error = await get().catch((thrown: MarketError) => thrown);
    expect(error).toMatchObject({ status: 503, code: "x" });
    const { retryAfterMs } = error as MarketError;
    expect(retryAfterMs).toBeGreaterThan(3_500_000);
    expect(received).toHaveLength(1);
  });

  it("has one deadline for all its tries", async () => {
    replies = [() => undefined];
    await expect(get({ timeoutMs: 50 })).rejects.toMatchObject({ code: "timeout", status: 0 });
    replies = [answer(503, "")];
    received = [];
    const waiting = get({ timeoutMs: 200, retry: { tries: 50, delayMs: 50 } });
    await expect(waiting).rejects.toMatchObject({ name: "MarketError" });
    expect(received.length).toBeLessThan(20);
  });

  it("ends with the caller's reason when it is aborted, also while it waits", async () => {
    const leaving = new AbortController();
    replies = [answer(429, { code: "rate_limited", message: "" }, { "retry-after": "5" })];
    const params = { askId: "x" };
    const { signal } = leaving;
    const waiting = open().get("/v1/listings/{askId}", params, { signal });
    setTimeout(() => leaving.abort(new Error("enough")), 20);
    await expect(waiting).rejects.toThrow("enough");
  });

  it("fails with the API's code, details and request id", async () => {
    const details = [{ field: "price", message: "too low", expected: "2", actual: "1" }];
    const body = { ...refusal, code: "price_too_low", details };
    replies = [answer(422, body, { "x-request-id": "r-1" })];
    await expect(get()).rejects.toMatchObject({
      ...{ name: "MarketError", status: 422, code: "price_too_low", message: "No listing x" },
      ...{ details, requestId: "r-1", retryAfterMs: null },
    });
  });

  it.each([
    ["HTML", 200, "<html></html>"],
    ["nothing", 200, ""],
    ["a text", 200, '"text"'],
    ["HTML of a proxy", 403, "<html>denied</html>"],
    ["JSON of somebody else", 404, { detail: "nginx" }],
  ])("fails with a code of its own when it is answered %s", async (_, status, body) => {
    replies = [answer(status, body)];
    await expect(get()).rejects.toMatchObject({ status, code: "unexpected_answer" });
  });

  it("is revalidated by its ETag, and gives a new object each time", async () => {
    replies = [answer(200, row, { etag: '"1"' }), answer(304, ""), answer(200, { data: 2 })];
    const api = open();
    const read = () => api.get("/v1/listings/{askId}", { askId: "x" });
    const [first, second] = [await read(), await read()];
    expect(second).toEqual(first);
    expect(second).not.toBe(first);
    expect(received[1]?.headers["if-none-match"]).toBe('"1"');
    expect(await read()).toEqual({ data: 2 });
  });

  it("forgets answers when too many are kept", async () => {
    replies = [answer(200, row, { etag: '"1"' })];
    const api = open({ cacheEntries: 2 });
    for (const askId of ["a", "b", "c", "a"]) await api.get("/v1/listings/{askId}", { askId });
    expect(received.map(({ headers }) => headers["if-none-match"])).toEqual(
      Array.from({ length: 4 }, () => undefined),
    );
    await api.get("/v1/listings/{askId}", { askId: "a" });
    expect(received[4]?.headers["if-none-match"]).toBe('"1"');
  });
});

describe("pages", () => {
  const sales = Array.from({ length: 25 }, (_, index) => ({ saleId: `${index}` }));
  const list: Reply = (request, response) => {
    const query = new URL(request.url ?? "", url).searchParams;
    const start = Number(query.get("cursor") ?? 0);
    const end = start + Number(query.get("per_page"));
    const data = sales.slice(start, end);
    const next_cursor = end < sales.length ? `${end}` : null;
    answer(200, { success: true, data, meta: { total: 25, next_cursor } })(request, response);
  };
  const collect = async (rows: AsyncIterable<{ saleId: string }>) => {
    const ids: string[] = [];
    for await (const { saleId } of rows) ids.push(saleId);
    return ids;
  };
  const allIds = sales.map(({ saleId }) => saleId);

  it("hand out every row once, by cursor, and again when they are iterated again", async () => {
    replies = [list];
    const pages = open().pages("/v1/sales", { per_page: 10 });
    expect(await collect(pages)).toEqual(allIds);
    expect(received).toHaveLength(3);
    expect(await collect(pages)).toEqual(allIds);
  });

  it("end at the limit without asking for more than that", async () => {
    replies = [list];
    expect(await collect(open().pages("/v1/sales", { per_page: 10 }, { limit: 12 }))).toHaveLength(
      12,
    );
    expect(received.map(({ path }) => new URL(path, url).searchParams.get("per_page"))).toEqual([
      "10",
      "2",
    ]);
    received = [];
    expect(await collect(open().pages("/v1/sales", {}, { limit: 0 }))).toEqual([]);
    expect(received).toEqual([]);
  });

  it("give no more rows than the limit of a list that has pages of its own size", async () => {
    const meta = { total: 3, next_cursor: null };
    replies = [answer(200, { success: true, data: sales.slice(0, 3), meta })];
    const rows = open().pages("/v1/sales", {}, { limit: 2 });
    expect(await collect(rows)).toEqual(["0", "1"]);
  });

  it("are gone on with from the cursor of a page", async () => {
    replies = [list];
    const api = open();
    const ids: string[] = [];
    let cursor: string | null = null;
    do {
      const options: { cursor?: string } = cursor === null ? {} : { cursor };
      for await (const page of api.pages("/v1/sales", { per_page: 10 }, options).byPage()) {
        ids.push(...page.rows.map(({ saleId }) => saleId));
        cursor = page.next;
        break;
      }
    } while (cursor !== null);
    expect(ids).toEqual(allIds);
  });

  it.each([
    ["no rows", { success: true, data: null, meta: { next_cursor: null } }],
    ["no meta", { success: true, data: [] }],
    ["the same cursor again", { success: true, data: [], meta: { next_cursor: "10" } }],
  ])("fail with a typed error when they are answered %s", async (_, body) => {
    replies = [answer(200, body)];
    const rows = collect(open().pages("/v1/sales", {}, { cursor: "10" }));
    await expect(rows).rejects.toMatchObject({ name: "MarketError", code: "unexpected_answer" });
  });
});
