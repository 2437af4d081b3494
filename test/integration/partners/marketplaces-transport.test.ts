import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openTransport, type Timeouts } from "#jobs/partners/transport.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import { manualClock } from "#test/support/orders/partner-sync.ts";

type Reply = { status?: number; headers?: Record<string, string>; body?: string; cut?: boolean };

let server: Server;
let url: string;
/** What came in, by the clock of the one who asks. */
let asked: { at: number; path: string }[];
let clock: ReturnType<typeof manualClock>;
let reply: (count: number) => Reply;
beforeEach(async () => {
  asked = [];
  clock = manualClock();
  reply = () => ({});
  server = createServer((request, response) => {
    asked.push({ at: clock.now(), path: request.url ?? "" });
    const { status = 200, headers = {}, body = "{}", cut } = reply(asked.length);
    if (cut) request.socket.destroy();
    else response.writeHead(status, headers).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  for (const transport of opened.splice(0)) await transport.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const opened: ReturnType<typeof openTransport>[] = [];
const secret = "k-3141592653589793";

function open(patience: Partial<Timeouts> = {}, requestsPerMinute = 120) {
  const transport = openTransport({
    ...{ name: "Partner", url, requestsPerMinute, clock, random: () => 1 },
    headers: { "x-api-key": secret },
    timeouts: { timeoutMs: 30_000, waitMs: 3_600_000, attempts: 3, ...patience },
  });
  opened.push(transport);
  return transport;
}

const read = (path = "/page", query: Record<string, string> = {}) =>
  ({ method: "GET", path, query, budget: "read" }) as const;

/** Most requests within any window of 60 seconds. */
function densest(): number {
  const times = asked.map(({ at }) => at);
  return Math.max(
    ...times.map((from) => times.filter((at) => at >= from && at < from + 60_000).length),
  );
}

describe("the way to a partner", () => {
  it("keeps to its budget in every window of a minute, and uses it up", async () => {
    const transport = open();
    for (let index = 0; index < 500; index += 1) await transport.send(read(`/${index}`));

    expect(densest()).toBeLessThanOrEqual(120);
    expect(clock.now()).toBeLessThan(5 * 60_000);
  });

  it("says of a failed connection neither the partner's path nor the driver's code", async () => {
    reply = () => ({ cut: true });
    const answer = await open({ attempts: 1 }).send(read("/api/v2/listings"));
    expect(answer).toMatchObject({
      rejected: "upstream_error",
      message: "Partner did not answer: the connection failed",
    });
  });

  it("serves twenty requests of callers at once, and says when the next is possible", async () => {
    const transport = open({ waitMs: 0 });
    const act = (path: string) => ({ ...read(path), budget: "act" }) as const;
    const answers = await Promise.all(
      Array.from({ length: 21 }, (_, index) => transport.send(act(`/${index}`))),
    );

    expect(answers.slice(0, 20).filter(isRejection)).toEqual([]);
    expect(answers[20]).toMatchObject({ rejected: "partner_rate_limited", retryAfterSeconds: 2 });
    expect(asked).toHaveLength(20);
    await clock.sleep(2_000);
    expect(isRejection(await transport.send(act("/later")))).toBe(false);
  });

  it("tells a time of its own to each request of callers that it refuses, at which all are served", async () => {
    const transport = open({ waitMs: 0 });
    const act = (path: string) => ({ ...read(path), budget: "act" }) as const;
    const sendAll = (paths: readonly string[]) =>
      Promise.all(paths.map((path) => transport.send(act(path))));
    await sendAll(Array.from({ length: 20 }, (_, index) => `/first/${index}`));
    const paths = Array.from({ length: 12 }, (_, index) => `/second/${index}`);
    const refused = await sendAll(paths);
    const seconds = refused.map(
      (one) => ("retryAfterSeconds" in one && one.retryAfterSeconds) || 0,
    );
    expect(seconds).toEqual([2, 3, 5, 6, 8, 9, 11, 12, 14, 15, 17, 18]);
    await clock.sleep(18_000);
    expect((await sendAll(paths)).filter(isRejection)).toEqual([]);
  });

  it("keeps to its budget when many ask at once", async () => {
    const transport = open();
    await Promise.all(Array.from({ length: 150 }, (_, index) => transport.send(read(`/${index}`))));

    expect(asked).toHaveLength(150);
    expect(clock.now()).toBeGreaterThan(60_000);
  });

  it("leaves what callers wait for a budget of its own", async () => {
    const transport = open({ waitMs: 0 });
    while (!isRejection(await transport.send(read(`/${asked.length}`))));
    const answer = await transport.send({ method: "POST", path: "/act", body: {}, budget: "act" });

    expect(answer).toMatchObject({ status: 200 });
  });

  it.each(["act", "read"] as const)(
    "gives no caller more than a third of a budget for a minute: %s",
    async (budget) => {
      const transport = open({ waitMs: 0 });
      const third = budget === "act" ? 20 : 40;
      const sendAs = (caller: string, count: number) =>
        Promise.all(
          Array.from({ length: count }, async (_, index) => {
            const request = { ...read(`/${caller}/${clock.now()}/${index}`), budget, caller };
            return isRejection(await transport.send(request)) ? "refused" : "answered";
          }),
        );
      const answered = (answers: string[]) => answers.filter((one) => one === "answered").length;
      let served = 0;
      for (let second = 0; second < 300; second += 1) {
        served += answered(await sendAs("greedy", 5));
        if (second % 10 === 9) expect(await sendAs("modest", 1)).toEqual(["answered"]);
        await clock.sleep(1_000);
      }
      expect(served).toBeLessThanOrEqual(6 * third);
      expect(served).toBeGreaterThan(4 * third);
    },
  );

  it("waits as long as a 429 asks for, with all requests, and then is answered", async () => {
    reply = (count) => (count === 1 ? { status: 429, headers: { "retry-after": "30" } } : {});
    const transport = open();

    expect(await transport.send(read())).toMatchObject({ status: 200 });
    expect(asked.map(({ at }) => at >= 30_000)).toEqual([false, true]);
  });

  it("understands a Retry-After that is a date", async () => {
    const at = new Date(Date.now() + 90_000).toUTCString();
    reply = (count) => (count === 1 ? { status: 503, headers: { "retry-after": at } } : {});
    await open().send(read());

    expect(asked[1]?.at).toBeGreaterThan(85_000);
  });

  it("fails at once where the partner wants to be left alone for longer than there is time", async () => {
    reply = () => ({ status: 429, headers: { "retry-after": "600" } });
    const transport = open({ waitMs: 2_000 });

    const rationed = { rejected: "partner_rate_limited", retryAfterSeconds: expect.any(Number) };
    expect(await transport.send(read())).toMatchObject(rationed);
    expect(await transport.send(read("/other"))).toMatchObject(rationed);
    expect(asked).toHaveLength(1);
  });

  it("tries reads again after ever longer pauses, and answers with what comes then", async () => {
    reply = (count) => [{ status: 500 }, { cut: true }, { body: '{"a":1}' }][count - 1] ?? {};

    expect(await open().send(read())).toEqual({ status: 200, body: { a: 1 } });
    const [first = 0, second = 0, third = 0] = asked.map(({ at }) => at);
    expect(third - second).toBeGreaterThan(second - first);
  });

  it("does not repeat a request that changes something and may have arrived", async () => {
    for (const broken of [{ cut: true }, { status: 500 }]) {
      asked = [];
      reply = () => broken;
      const question = { method: "POST", path: "/post", body: {}, budget: "act" } as const;
      expect(await open().send(question)).toMatchObject({ rejected: "upstream_error" });
      expect(asked).toHaveLength(1);
    }
  });

  it("hands refusals to whoever asked", async () => {
    reply = () => ({ status: 404, body: '{"errors":["no"]}' });
    expect(await open().send(read())).toEqual({ status: 404, body: { errors: ["no"] } });
    reply = () => ({ status: 400, body: "<html>" });
    expect(await open().send(read())).toEqual({ status: 400, body: null });
  });

  it("follows no redirect, and does not take what is no JSON or without end", async () => {
    const replies: Reply[] = [
      { status: 302, headers: { location: `${url}/elsewhere` } },
      { body: "<html>" },
      { body: `"${"x".repeat(17 * 1024 * 1024)}"` },
    ];
    for (const bad of replies) {
      reply = () => bad;
      expect(await open({ attempts: 1 }).send(read())).toMatchObject({
        rejected: "upstream_error",
      });
    }
    expect(asked.some(({ path }) => path === "/elsewhere")).toBe(false);
  });

  it("leaves a partner alone that failed five times, and asks it once to see whether it is back", async () => {
    reply = () => ({ status: 502 });
    const transport = open({ attempts: 1 });
    for (let index = 0; index < 9; index += 1) await transport.send(read(`/${index}`));
    expect(asked).toHaveLength(5);

    clock.pass(6_000);
    await Promise.all([1, 2, 3].map((index) => transport.send(read(`/probe/${index}`))));
    expect(asked).toHaveLength(6);

    clock.pass(6_000);
    await transport.send(read("/too-early"));
    expect(asked).toHaveLength(6);

    reply = () => ({});
    clock.pass(6_000);
    expect(await transport.send(read("/back"))).toMatchObject({ status: 200 });
    expect(await transport.send(read("/again"))).toMatchObject({ status: 200 });
  });

  it("makes one request of equal reads that are under way at once", async () => {
    const transport = open();
    const answers = await Promise.all(
      [1, 2, 3].map(() => transport.send(read("/same", { a: "b" }))),
    );
    await transport.send(read("/same", { a: "b" }));

    expect(new Set(answers).size).toBe(1);
    expect(asked).toHaveLength(2);
  });

  it("tells nobody the key, the query or the address", async () => {
    const failures = [];
    for (const bad of [{ status: 401 }, { status: 500 }, { cut: true }, { body: "{" }]) {
      reply = () => bad;
      failures.push(await open({ attempts: 1 }).send(read("/page", { token: secret })));
    }
    server.closeAllConnections();
    const told = JSON.stringify(failures);
    expect(failures.every((failure) => isRejection(failure))).toBe(true);
    expect(told).not.toContain("/page");
    expect(told).not.toContain(secret);
    expect(told).not.toContain("127.0.0.1");
    // Neither codes nor names of the driver's errors.
    expect(told).not.toMatch(/UND_|ECONN|EPIPE|Error\b/);
  });

  it("keeps all digits of integers that are longer than a number holds", async () => {
    const counter = "84743221829462841362431244923412344234";
    reply = () => ({ body: `{"counter":${counter},"said":"\\"counter\\": ${counter}, and more"}` });

    expect(await open().send(read())).toMatchObject({
      body: { counter, said: `"counter": ${counter}, and more` },
    });
  });
});
