import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { watchEventLoop } from "#test/support/http/event-loop-turns.ts";
import {
  from,
  type LimitedApi,
  newAddress,
  openLimitedApi,
} from "#test/support/http/limited-api.ts";

let database: TestDatabase;
let api: LimitedApi;
let other: LimitedApi;

beforeAll(async () => {
  database = await createDatabase();
  const { url } = database;
  const now = () => new Date("2026-03-10T12:00:00.000Z");
  [api, other] = await Promise.all([openLimitedApi({ url, now }), openLimitedApi({ url, now })]);
});
afterAll(async () => {
  await Promise.all([api?.close(), other?.close()]);
  await database?.drop();
});

const single = "/v1/orders/asks";
const bulk = "/v1/orders/asks/bulk";
const chainId = 33139;
const retired = { seaport: { protocol: "payment-processor" } };
const nested = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;
const post = (path: string, body: unknown, caller = newAddress()) =>
  api.post(path, body, from(caller));

const Bulk = z.object({
  data: z.object({ results: z.array(z.looseObject({ code: z.string(), message: z.string() })) }),
});
const codesOf = ({ body }: { body: unknown }) =>
  Bulk.parse(body).data.results.map(({ code }) => code);

describe("a body nested 9,000 deep", () => {
  const order = `{"protocol_address":${nested(9_000)}}`;

  it.each([
    ["in an order", single, `{"chainId":${chainId},"seaport":${order}}`],
    [
      "beside an order",
      single,
      `{"chainId":${chainId},"seaport":{},"protocol_address":${nested(9_000)}}`,
    ],
    ["as a whole", single, nested(9_000)],
    ["without an end", single, "[".repeat(9_000)],
    [
      "beside the orders of a bulk request",
      bulk,
      `{"chainId":${chainId},"listings":[{}],"protocol_address":${nested(9_000)}}`,
    ],
  ])("%s is refused", async (_where, path, body) => {
    const answer = await post(path, body);
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({ success: false, code: "bad_structure" });
  });

  it("in one item of a bulk request is refused for that item only", async () => {
    const items = [JSON.stringify(retired), `{"seaport":${order}}`, JSON.stringify(retired)];
    const answer = await post(bulk, `{"chainId":${chainId},"listings":[${items}]}`);
    expect(answer.status).toBe(200);
    expect(codesOf(answer)).toEqual(["pp_retired", "bad_structure", "pp_retired"]);
  });
});

describe("a body of many keys", () => {
  const keys = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 0]));

  it("is refused before it is parsed", async () => {
    const answer = await post(single, { chainId, seaport: keys(5_000) });
    expect(answer.body).toMatchObject({ code: "bad_structure" });
    expect(JSON.stringify(answer.body)).toContain("more than 1500");
  });

  it("in one item of a bulk request is refused for that item only", async () => {
    const listings = [retired, { seaport: keys(5_000) }, retired];
    const answer = await post(bulk, { chainId, listings });
    expect(codesOf(answer)).toEqual(["pp_retired", "bad_structure", "pp_retired"]);
  });

  it("of which one is unknown is refused by that name, in a bulk request for its item", async () => {
    const answer = await post(bulk, {
      chainId,
      listings: [{ ...retired, opensae: {} }, retired, { seaport: { signature: "0x", salz: 1 } }],
    });
    expect(codesOf(answer)).toEqual(["bad_structure", "pp_retired", "bad_structure"]);
    expect(JSON.stringify(answer.body)).toContain("opensae: is not a field");
    expect(JSON.stringify(answer.body)).toContain("salz");
  });

  it("with an unknown one is refused by every endpoint", async () => {
    const paths = Object.entries(api.document.paths)
      .filter(([, { post: operation }]) => operation?.requestBody !== undefined)
      .map(([path]) => path.replaceAll(/\{\w+\}/g, `mkt-0x${"ab".repeat(32)}`));
    expect(paths.length).toBeGreaterThan(8);
    for (const path of paths) {
      const { status, body } = await post(path, { chainId, surprise: 1 });
      expect([path, status]).toEqual([path, 422]);
      const code = path.includes("buy-data") ? "bad_request" : "bad_structure";
      expect([path, body]).toMatchObject([path, { code }]);
      // Of an order and of a list, what is missing is reported first.
      if (!path.includes("/orders/")) expect(JSON.stringify(body)).toContain("surprise");
    }
  });
});

describe("a body that is too large", () => {
  it("is refused at once by its Content-Length, before a byte of it came", async () => {
    const { hostname, port } = new URL(api.url);
    const answer = await new Promise<string>((resolve) => {
      const socket = connect(Number(port), hostname, () =>
        socket.write(`POST ${bulk} HTTP/1.1\r\nHost: a\r\nContent-Length: 4000000\r\n\r\n`),
      );
      socket.once("data", (chunk) => {
        resolve(chunk.toString());
        socket.destroy();
      });
    });
    expect(answer).toMatch(/^HTTP\/1.1 413 /);
  });

  it.each([
    ["in chunks of unknown number", {}],
    ["compressed", { "content-encoding": "gzip" }],
  ])("is refused %s", async (_how, headers) => {
    const text = JSON.stringify({ chainId, seaport: "x".repeat(3_000_000) });
    const body = "content-encoding" in headers ? gzipSync(text) : new Blob([text]).stream();
    const answer = await fetch(api.url + single, {
      method: "post",
      body,
      headers: { ...headers, ...from(newAddress()) },
      duplex: "half",
    } as RequestInit);
    expect(answer.status).toBe(413);
    expect(await answer.json()).toMatchObject({ code: "payload_too_large" });
  });

  it.each([
    ["listings, with a cross-listing for each", bulk, "listings", 100],
    ["bids, with spaces between its values", "/v1/orders/bids/bulk", "bids", 50],
  ])("leaves room for the largest bulk request of %s", async (_, path, name, count) => {
    const isBid = name === "bids";
    const order = isBid ? { seaport: largeOrder } : { seaport: largeOrder, opensea: largeOrder };
    const body = { chainId, [name]: Array<unknown>(count).fill(order) };
    const text = JSON.stringify(body);
    const answer = await post(path, isBid ? text.replaceAll(/[,:]/g, "$& ") : text);
    expect(answer.status).toBe(200);
    expect(new Set(codesOf(answer))).not.toContain("bad_structure");
  });
});

describe("what a body costs", () => {
  const left = ({ headers }: { headers: Headers }) => headers.get("x-ratelimit-remaining");

  it("is one request of the caller's limit, whatever number of orders it has", async () => {
    const caller = newAddress();
    const listings = Array<unknown>(100).fill(retired);
    const answers = [];
    for (const process of [api, other, api, other])
      answers.push(await process.post(bulk, { chainId, listings }, from(caller)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(answers.map(left)).toEqual(["29", "28", "27", "26"]);
  });

  it("is one request for a single order, however many fields it has", async () => {
    const signature = `0x${"ab".repeat(65)}`;
    const seaport = { ...largeOrder.parameters, signature };
    const answer = await post(single, { chainId, seaport });
    expect([answer.status, left(answer)]).toEqual([422, "29"]);
  });

  it("is one request, however long it is", async () => {
    const answer = await post(single, { chainId, seaport: "x".repeat(60_000) });
    expect([answer.status, left(answer)]).toEqual([422, "29"]);
  });
});

it("no body keeps the event loop for long", async () => {
  const fill = (text: string) => text.repeat(Math.floor(500_000 / text.length));
  const keys = Array.from({ length: 250_000 }, (_, index) => `"k${index}":0`).join();
  const bodies = [
    `{"chainId":${chainId},"listings":[{"seaport":{}}],${keys}}`,
    `{"chainId":${chainId},"listings":[${fill("{},")}{}]}`,
    `{"chainId":${chainId},"listings":[${fill("[")}`,
    `{"chainId":${chainId},"listings":["${fill("\\u0000")}"]}`,
    `{"chainId":${chainId},"listings":[${fill('{"seaport":{"a":[[1]]}},')}{}]}`,
    JSON.stringify({
      chainId,
      listings: Array<unknown>(100).fill({ seaport: largeOrder, opensea: largeOrder }),
    }),
  ];
  const watch = watchEventLoop();
  const answers = [];
  for (const body of bodies)
    answers.push(
      ...(await Promise.all(
        [1, 2, 3].map(() =>
          fetch(api.url + bulk, { method: "post", body, headers: from(newAddress()) }),
        ),
      )),
    );
  const statuses = answers.map(({ status }) => status);
  for (const answer of answers) await answer.arrayBuffer();
  const longest = watch.stop();
  expect(new Set(statuses)).toEqual(new Set([413, 422, 200]));
  expect(longest).toBeLessThan(100);
});

const word = `0x${"ab".repeat(32)}`;
const uint = "115792089237316195423570985008687907853269984665640564039457";
const item = {
  itemType: 2,
  token: word.slice(0, 42),
  identifierOrCriteria: uint,
  startAmount: "123456789012345678901",
  endAmount: "123456789012345678901",
};
const leg = { ...item, recipient: item.token };
/** As seaport-js writes it, with three consideration items and a signature of a tree of the largest height. */
const largeOrder = {
  parameters: {
    offerer: item.token,
    zone: item.token,
    zoneHash: word,
    orderType: 0,
    startTime: "1700000000",
    endTime: "1700000000",
    conduitKey: word,
    salt: uint,
    counter: uint,
    offer: [item],
    consideration: [leg, leg, leg],
    totalOriginalConsiderationItems: 3,
  },
  signature: `0x${"ab".repeat(65 + 3 + 24 * 32)}`,
  protocol_address: item.token,
};
