import { describe, expect, it } from "vitest";
import { z } from "zod";
import {
  type Browser,
  type Desk,
  keyIdOf,
  type Page,
  secretIn,
  signUp,
} from "./accounts-fixture.ts";
import { useTwoDesks } from "./two-desks.ts";

const start = new Date("2026-03-10T12:00:00.000Z");
const dayMs = 86_400_000;
const desks = useTwoDesks(start);

type Terms = { scopes?: string[]; expires?: string; networks?: string };

const allScopes = ["read", "orders", "stream", "webhooks"];

const submit = (browser: Browser, { scopes = allScopes, ...terms }: Terms) =>
  browser.post("/developers/keys", {
    name: "bot",
    terms: "yes",
    ...Object.fromEntries(scopes.map((scope) => [`scope-${scope}`, "yes"])),
    ...terms,
  });

async function keyWith(terms: Terms): Promise<{ browser: Browser; key: string; page: Page }> {
  const browser = await signUp(desks.one);
  const page = await submit(browser, terms);
  return { browser, key: secretIn(page, "live"), page };
}

const Failure = z.object({ code: z.string(), message: z.string() });

type Call = {
  method?: string;
  path: string;
  key: string;
  address?: string;
  at?: Desk;
  accept?: string;
};

/** The status and the code of an answer: 422 for callers who may ask. */
async function call(asked: Call) {
  const { method = "get", path, key, address = "10.1.1.1", at = desks.one, accept = "*/*" } = asked;
  const response = await fetch(at.url + path, {
    method,
    headers: {
      "x-api-key": key,
      "x-forwarded-for": address,
      accept,
      "content-type": "application/json",
    },
    body: method === "post" ? "{}" : null,
  });
  const { code } = Failure.parse(await response.json());
  return [response.status, code] as const;
}

const reading = "/v1/orders/params?chainId=5";
const selling = "/v1/orders/asks";
const paging = "/v1/events?chainId=5";
/** Refused by the stream itself. */
const streaming = "/v1/events?chainId=33139&type=nothing";

describe("the scopes of a key", () => {
  it.each([
    [["read"], [422, 422, 403, 403]],
    [["orders"], [403, 403, 422, 403]],
    [["stream"], [403, 403, 403, 422]],
    [
      ["read", "stream"],
      [422, 422, 403, 422],
    ],
    [
      ["read", "orders", "stream"],
      [422, 422, 422, 422],
    ],
  ])("%s are what it may be used for", async (scopes, expected) => {
    const { key } = await keyWith({ scopes });

    const answers = [
      await call({ path: reading, key }),
      await call({ path: paging, key }),
      await call({ path: selling, key, method: "post" }),
      await call({ path: streaming, key, at: desks.other, accept: "text/event-stream" }),
    ];
    expect(answers.map(([status]) => status)).toEqual(expected);
    for (const [status, code] of answers) {
      expect(code === "insufficient_scope").toBe(status === 403);
    }
  });

  it("are at least one, and shown with the key", async () => {
    const { page: refused } = await keyWith({ scopes: [] });
    const { browser, key } = await keyWith({ scopes: ["read"] });
    const keys = await browser.get("/developers");
    const shown = await browser.get(`/developers/keys/${keyIdOf(keys, key)}`);

    expect(refused.status).toBe(422);
    expect(refused.text).toMatch(/<details open>.*id="scopes-error" role="alert">Choose/s);
    expect(keys.text).toContain('<span class="mark">read</span>');
    expect(shown.text).toMatch(/<li>read: read market data<\/li><\/ul>/);
  });
});

describe("the expiry of a key", () => {
  it("ends it at the start of that day, in every process", async () => {
    const { browser, key } = await keyWith({ expires: "2026-03-12" });
    const ends = Date.parse("2026-03-12T00:00:00Z") - start.getTime();

    desks.clock = desks.later(ends - 1);
    const before = await call({ path: reading, key });
    desks.clock = desks.later(ends);
    const after = await call({ path: reading, key, at: desks.other });

    expect(before[0]).toBe(422);
    expect(after).toEqual([401, "expired_key"]);
    expect((await browser.get("/developers")).text).toContain("no keys yet");
  });

  it("is not put off by a rotation", async () => {
    const { browser, key, page } = await keyWith({ expires: "2026-03-12", scopes: ["read"] });
    const rotated = await browser.post(`/developers/keys/${keyIdOf(page, key)}/rotate`);
    const next = secretIn(rotated, "live");

    desks.clock = desks.later(dayMs);
    const during = await call({ path: selling, key: next, method: "post" });
    desks.clock = new Date("2026-03-12T00:00:00Z");
    const after = await call({ path: reading, key: next });

    expect([during[1], after[1]]).toEqual(["insufficient_scope", "expired_key"]);
  });

  it.each(["2026-03-10", "2026-02-30", "tomorrow", "2050-01-01"])(
    "is not %s, and the page says so beside the field",
    async (expires) => {
      const { page } = await keyWith({ expires });
      expect(page.status).toBe(422);
      expect(page.text).toMatch(/name="expires".*id="expires-error" role="alert"/s);
    },
  );
});

describe("the networks of a key", () => {
  it.each([
    ["203.0.113.0/24", "203.0.113.77", "203.0.114.1"],
    ["203.0.113.9", "203.0.113.9", "203.0.113.10"],
    ["203.0.113.9/24", "203.0.113.200", "203.0.112.200"],
    ["2001:db8:1::/48", "2001:db8:1:9::5", "2001:db8:2::5"],
    ["2001:db8::7", "2001:0db8:0:0::7", "2001:db8::8"],
    ["10.0.0.0/8, 2001:db8::/32", "10.200.0.1", "11.0.0.1"],
    ["10.0.0.0/8 2001:db8::/32", "2001:db8:ffff::1", "2001:db9::1"],
    ["203.0.113.0/24", "::ffff:203.0.113.4", "::ffff:203.0.114.4"],
    ["203.0.113.0/24", "203.0.113.4:5123", "nonsense"],
  ])("%s let %s in, and not %s", async (networks, inside, outside) => {
    const { key } = await keyWith({ networks });
    const answers = [
      await call({ path: reading, key, address: inside }),
      await call({ path: reading, key, address: outside, at: desks.other }),
      await call({ path: reading, key, address: inside, at: desks.other }),
    ];
    expect(answers).toEqual([
      [422, "unsupported_chain"],
      [403, "address_not_allowed"],
      [422, "unsupported_chain"],
    ]);
  });

  it("are those of the caller, not of a proxy that is not trusted", async () => {
    const { key } = await keyWith({ networks: "203.0.113.0/24" });
    const forged = await call({ path: reading, key, address: "203.0.113.7, 198.51.100.1" });
    expect(forged[1]).toBe("address_not_allowed");
  });

  it("keep others from using up its limit", async () => {
    const { key } = await keyWith({ networks: "203.0.113.0/24" });
    await Promise.all(
      Array.from({ length: 130 }, () => call({ path: reading, key, address: "198.51.100.1" })),
    );
    expect((await call({ path: reading, key, address: "203.0.113.7" }))[0]).toBe(422);
  });

  it.each([
    "203.0.113.0/33",
    "nonsense",
    "2001:db8::/129",
    "fe80::1%eth0",
    "1.2.3.4/8/9",
    "::ffff:1.2.3.4",
    Array.from({ length: 21 }, (_, index) => `10.0.0.${index}`).join(" "),
  ])("are not %s, and the page says so beside the field", async (networks) => {
    const { page } = await keyWith({ networks });
    expect(page.status).toBe(422);
    expect(page.text).toMatch(/name="networks".*id="networks-error" role="alert"/s);
  });
});

describe("the limit of a permanent key", () => {
  it("is its own beside the account's other keys, over processes, and exact", async () => {
    const browser = await signUp(desks.one);
    const keys: string[] = [];
    for (let time = 0; time < 2; time += 1) keys.push(secretIn(await submit(browser, {}), "live"));
    const statuses = await Promise.all(
      Array.from({ length: 270 }, async (_, time) => {
        const key = keys[time % 2] ?? "";
        const at = time % 4 < 2 ? desks.one : desks.other;
        return (await call({ path: reading, key, at, address: `10.2.0.${time}` }))[0];
      }),
    );

    expect(statuses.filter((status) => status === 422)).toHaveLength(240);
    expect(statuses.filter((status) => status === 429)).toHaveLength(30);
  });
});

describe("the request log of a key", () => {
  it("has the method, the path, the query, the status, the code and the id of each request", async () => {
    const { browser, key, page } = await keyWith({ scopes: ["read"] });
    await call({ path: reading, key });
    await call({ path: `/v1/collections/some-slug?chainId=5&secret=${key}`, key, at: desks.other });
    await call({ path: selling, key, method: "post" });
    const { headers } = await fetch(`${desks.one.url}/v1/nothing`, {
      headers: { "x-api-key": key, "x-forwarded-for": "203.0.113.7" },
    });
    await Promise.all([desks.one.flushUsage(), desks.other.flushUsage()]);

    const own = `/developers/keys/${keyIdOf(page, key)}`;
    const rowsOf = async (query: string) => {
      const { text } = await browser.get(own + query);
      expect(text).not.toContain(key);
      const row =
        /<code>([A-Z]+ [^<]+)<\/code><\/td>\n<td[^>]*>(\d+)(?: <a href="\/docs\/errors#\w+">(\w+))?/g;
      return [...text.matchAll(row)].map(([, ...cells]) => cells.join(" ")).sort();
    };
    const all = [
      "GET /v1/collections/some-slug?chainId=5&#38;secret=mk_live_*** 422 unknown_parameter",
      "GET /v1/nothing 404 not_found",
      `GET ${reading} 422 unsupported_chain`,
      `POST ${selling} 403 insufficient_scope`,
    ];
    expect(await rowsOf("")).toEqual(all);
    expect(await rowsOf("?refused=yes")).toEqual(all);
    expect(await rowsOf("?text=UNSUPPORTED_CHAIN")).toEqual([all[2]]);
    expect(await rowsOf(`?text=${headers.get("x-request-id")}`)).toEqual([all[1]]);
    expect(await rowsOf("?text=%25")).toEqual([]);
  });

  it("is its owner's", async () => {
    const { key, page } = await keyWith({});
    const stranger = await signUp(desks.one);
    const id = keyIdOf(page, key);
    expect((await stranger.get(`/developers/keys/${id}`)).status).toBe(404);
  });
});

describe("GET /v1/auth/key", () => {
  const own = async (path: string, key?: string) => {
    const headers = { "x-forwarded-for": "203.0.113.7", ...(key && { "x-api-key": key }) };
    const response = await fetch(`${desks.one.url}/v1/auth/key${path}`, { headers });
    return { status: response.status, body: (await response.json()) as unknown, response };
  };

  it("shows the terms of the key that asks, whatever its scopes", async () => {
    const terms = { scopes: ["stream"], expires: "2026-03-12", networks: "203.0.113.7/24" };
    const { key } = await keyWith(terms);

    expect((await own("", key)).body).toEqual({
      success: true,
      data: {
        type: "permanent",
        name: "bot",
        requestsPerMinute: 120,
        scopes: ["stream"],
        networks: ["203.0.113.0/24"],
        createdAt: start.toISOString(),
        expiresAt: "2026-03-12T00:00:00.000Z",
        isReplaced: false,
      },
    });
  });

  it("pages through its own requests, newest first", async () => {
    const { key } = await keyWith({});
    const { key: stranger } = await keyWith({});
    for (let time = 0; time < 5; time += 1) await call({ path: `${reading}&n=${time}`, key });
    await call({ path: paging, key });
    await desks.one.flushUsage();

    const Page = z.object({
      data: z.array(z.object({ method: z.string(), path: z.string(), status: z.int() })),
      meta: z.object({ per_page: z.int(), next: z.string().nullable() }),
    });
    const seen: string[] = [];
    for (let query = "?per_page=4"; ; ) {
      const { data, meta } = Page.parse((await own(`/requests${query}`, key)).body);
      seen.push(...data.map(({ method, path, status }) => `${method} ${path} ${status}`));
      if (meta.next === null) break;
      query = `?per_page=4&before=${meta.next}`;
    }
    expect(seen).toEqual(["GET /v1/events 422", ...Array(5).fill("GET /v1/orders/params 422")]);
    expect(Page.parse((await own("/requests", stranger)).body).data).toEqual([]);
  });

  it.each(["", "/requests"])("is refused without a key: %s", async (path) => {
    const { status, body, response } = await own(path);
    expect([status, Failure.parse(body).code]).toEqual([401, "key_required"]);
    expect(response.headers.get("www-authenticate")).toBe('ApiKey header="X-API-Key"');
  });
});
