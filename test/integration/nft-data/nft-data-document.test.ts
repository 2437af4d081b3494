import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { nftDataEndpoints } from "#test/spec/nft-data-endpoints.ts";
import {
  base,
  type NftDataFixture,
  openNftDataFixture,
} from "#test/support/http/nft-data-fixture.ts";
import { holders, nfts } from "#test/support/market-data/token-market.ts";
import { runsOf } from "#test/support/thoroughness.ts";

let stage: NftDataFixture;
beforeAll(async () => {
  stage = await openNftDataFixture();
  await stage.playMarket(41, 25);
});
afterAll(() => stage?.close());

const everywhere = [
  ...[
    "internal",
    "overloaded",
    "database_unavailable",
    "position_not_reached",
    "invalid_position",
    "query_timeout",
    "payload_too_large",
    "unsupported_media_type",
    "unknown_parameter",
    "rate_limited",
  ],
  ...["token_required", "invalid_token"],
];

const Failure = z.looseObject({
  content: z.object({
    "application/json": z.object({
      schema: z.object({
        properties: z.object({ code: z.object({ enum: z.array(z.string()) }) }),
      }),
    }),
  }),
});

/** Codes of an operation and the status of each, without those of every operation, which are shared. */
function codesOf(responses: Record<string, unknown>): Record<string, number> {
  const failures = Object.entries(responses).filter(
    ([status, response]) =>
      Number(status) >= 400 && !JSON.stringify(response).startsWith('{"$ref"'),
  );
  return Object.fromEntries(
    failures.flatMap(([status, response]) => {
      const { schema } = Failure.parse(response).content["application/json"];
      const codes = schema.properties.code.enum.filter((code) => !everywhere.includes(code));
      return codes.map((code) => [code, Number(status)]);
    }),
  );
}

describe("the document", () => {
  it("holds the documented endpoints with their parameters and codes, and no others", () => {
    const served = Object.entries(stage.api.document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { parameters = [], responses }]) => ({
        method,
        path,
        parameters: parameters
          .map(({ name }) => name)
          .filter((name) => name !== "X-Min-Position")
          .sort(),
        codes: codesOf(responses),
      })),
    );
    const documented = nftDataEndpoints.map((endpoint) => ({
      ...endpoint,
      parameters: endpoint.parameters.toSorted(),
    }));
    const byPath = (a: { path: string }, b: { path: string }) => a.path.localeCompare(b.path);
    expect(served.sort(byPath)).toEqual(documented.sort(byPath));
  });

  it("tells that every operation but login and itself needs a token, and may be refused without", () => {
    for (const [path, methods] of Object.entries(stage.api.document.paths)) {
      for (const operation of Object.values(methods)) {
        const isOpen = ["/api/auth/login", "/openapi.json"].includes(path);
        expect([path, operation.security]).toEqual([path, isOpen ? [] : undefined]);
        expect("401" in operation.responses).toBe(path !== "/openapi.json");
      }
    }
  });
});

const hostile = fc.oneof(
  fc.string({ unit: "binary", maxLength: 30 }),
  fc.constantFrom("\0", "'", "%", "\\", "[]", "-1", "1e9", "NaN", "null", "2020-01-01T00:00:00Z"),
  fc.constantFrom("sale", "sale,cancel", "offer", "price_desc", "true", "+275760-09-13T00:00:00Z"),
  fc.constantFrom(nfts.kin.address, nfts.punks.address, ...holders),
  fc.bigInt({ min: -(2n ** 260n), max: 2n ** 260n }).map(String),
);
const word = (text: string) =>
  encodeURIComponent(text.replaceAll(/[\ud800-\udfff]/g, "?")).replaceAll(".", "%2E") || "x";

function answersInItsEnvelope({ status, body }: { status: number; body: unknown }) {
  expect(status).toBeLessThan(500);
  const { success } = z.looseObject({ success: z.boolean() }).parse(body);
  expect(success).toBe(status < 400);
  if (!success) z.looseObject({ error: z.string().min(1), code: z.string() }).parse(body);
}

describe("any request", () => {
  it("that reads is answered as documented and never with a fault", async () => {
    const reads = nftDataEndpoints.filter(
      ({ method, path }) => method === "get" && path !== "/openapi.json",
    );
    const names = reads.flatMap(({ parameters }) => parameters);
    const name = fc.constantFrom(
      ...names,
      ...["attributes[Fur]", "attributes[__proto__]", "attributes[a][b]", "cursor[x]", "type[]"],
    );
    const query = fc.array(fc.tuple(name, hostile), { maxLength: 5 });
    const path = fc.constantFrom(...reads.map((endpoint) => endpoint.path));
    await fc.assert(
      fc.asyncProperty(path, query, hostile, hostile, async (template, pairs, first, second) => {
        const asked = template.replace("{address}", word(first)).replace("{tokenId}", word(second));
        const search = pairs.map(([key, value]) => `${key}=${word(value)}`).join("&");
        answersInItsEnvelope(await stage.get(`${asked}?${search}`));
      }),
      { numRuns: runsOf(300, 60) },
    );
  });

  it("that sends something is answered as documented and never with a fault", async () => {
    const writes = nftDataEndpoints.filter(({ method }) => method === "post");
    const address = fc.constantFrom(nfts.kin.address, nfts.kinSecond.address, ...holders);
    const likely = fc.record(
      {
        addresses: fc.oneof(fc.array(address, { maxLength: 12 }), fc.array(hostile), hostile),
        limit: fc.oneof(fc.integer(), fc.double(), hostile),
        email: hostile,
        client_key: hostile,
      },
      { requiredKeys: [] },
    );
    const body = fc.oneof(
      likely.map((value) => JSON.stringify(value)),
      fc.json(),
      fc.string({ unit: "binary", maxLength: 60 }),
    );
    const path = fc.constantFrom(...writes.map((endpoint) => endpoint.path));
    await fc.assert(
      fc.asyncProperty(path, body, async (asked, text) => {
        answersInItsEnvelope(await stage.post(asked, text || " "));
      }),
      { numRuns: runsOf(200, 40) },
    );
  });

  it("with a cursor that was changed at any place is refused", async () => {
    for (const path of ["/api/activity", `/api/wallets/${holders[0]}/tokens`]) {
      const { next_cursor } = await stage.list(`${path}?limit=1`);
      const cursor = next_cursor ?? "";
      for (let at = 0; at < cursor.length; at += 3) {
        const other = cursor[at] === "A" ? "B" : "A";
        const tampered = cursor.slice(0, at) + other + cursor.slice(at + 1);
        await stage.refusal(`${path}?limit=1&cursor=${tampered}`, 422, "invalid_cursor");
      }
      await stage.refusal(`/api/collections?cursor=${cursor}`, 422, "invalid_cursor");
    }
    expect(base).toBe("/apechain");
  });
});
