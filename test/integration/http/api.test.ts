import fc from "fast-check";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { createApp } from "#api/app.ts";
import type { ServiceStatus } from "#api/status/service-status.ts";
import { documentedEndpoints } from "#test/spec/endpoints.ts";
import { addressOf } from "#test/support/database/given.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import {
  addressOfContract,
  contracts,
  type SeededSale,
  seededSales,
  seedRows,
  today,
  wordOf,
} from "#test/support/http/api-rows.ts";
import { type ApiClient, serve } from "#test/support/http/openapi.ts";
import { openTestMarket } from "#test/support/orders/test-market.ts";

const baseUrl = "https://api.example.test";
const siteUrl = "https://site.example.test";

let database: TestDatabase;
let api: ApiClient;

const idle: ServiceStatus = {
  ready: true,
  failing: [],
  warnings: [],
  logPosition: 0,
  chains: [],
  projections: [],
};

beforeAll(async () => {
  database = await createDatabase({ template: "projected" });
  await seedRows(database.db);
  const context = {
    db: database.db,
    siteUrl,
    chains: [1, 33139] as const,
    readStatus: async () => idle,
    market: openTestMarket(database.db),
    now: () => today,
  };
  api = await serve(createApp({ context, baseUrl, logger: pino({ level: "silent" }) }));
});

afterAll(async () => {
  await api?.close();
  await database?.drop();
});

const List = z.object({
  data: z.array(z.looseObject({})),
  meta: z.object({
    chainId: z.number(),
    total: z.number(),
    page: z.number().nullable(),
    per_page: z.number(),
    next_cursor: z.string().nullable(),
  }),
});
const Failure = z.object({
  success: z.literal(false),
  error: z.string(),
  message: z.string(),
  code: z.string(),
  requestId: z.string(),
  details: z.array(z.looseObject({ field: z.string() })).optional(),
});

async function list(path: string) {
  const { status, body } = await api.get(path);
  expect(status, JSON.stringify(body)).toBe(200);
  return List.parse(body);
}

async function one(path: string) {
  const { status, body } = await api.get(path);
  expect(status, JSON.stringify(body)).toBe(200);
  return z.object({ data: z.looseObject({}) }).parse(body).data;
}

async function refusal(path: string, status: number, code: string) {
  const answer = await api.get(path);
  const failure = Failure.parse(answer.body);
  expect([answer.status, failure.code]).toEqual([status, code]);
  expect(failure.message).toBe(failure.error);
  expect(answer.headers.get("x-request-id")).toBe(failure.requestId);
  return failure;
}

/** Every row of a list, by following cursors from the first page. */
async function walkCursors(path: string) {
  const rows: unknown[] = [];
  let next = await list(path);
  for (;;) {
    rows.push(...next.data);
    expect(rows.length).toBeLessThanOrEqual(next.meta.total);
    if (next.meta.next_cursor === null) return { rows, total: next.meta.total };
    next = await list(`${path}&cursor=${next.meta.next_cursor}`);
    expect(next.meta.page).toBeNull();
  }
}

async function walkPages(path: string) {
  const rows: unknown[] = [];
  for (let page = 1; ; page += 1) {
    const { data, meta } = await list(`${path}&page=${page}`);
    expect(meta.page).toBe(page);
    if (data.length === 0) return rows;
    rows.push(...data);
  }
}

function saleIds(keep: (sale: SeededSale) => boolean): string[] {
  return seededSales
    .filter(keep)
    .sort(
      (a, b) =>
        b.block - a.block || b.transactionIndex - a.transactionIndex || b.ordinal - a.ordinal,
    )
    .map(({ contract, ordinal }) => wordOf(contract.chainId * 1000 + ordinal));
}

describe("GET /v1/sales", () => {
  const kin = [contracts.kin.id, contracts.kinSecond.id];
  const lists: [string, (sale: SeededSale) => boolean][] = [
    ["?per_page=10", ({ contract }) => contract.chainId === 1],
    ["?chainId=33139&per_page=2", ({ contract }) => contract.chainId === 33139],
    ["?collection=punks&per_page=7", ({ contract }) => contract.id === contracts.punks.id],
    ["?collection=KIN&per_page=9", ({ contract }) => kin.includes(contract.id)],
    [
      `?collection=${addressOfContract(contracts.kinSecond)}&per_page=9`,
      ({ contract }) => contract.id === contracts.kinSecond.id,
    ],
    [
      "?collection=kin&token_id=3&per_page=2",
      ({ contract, tokenId }) => kin.includes(contract.id) && tokenId === 3n,
    ],
    [
      `?collection=${addressOfContract(contracts.kinSecond).toUpperCase().replace("0X", "0x")}&token_id=3&per_page=2`,
      ({ contract, tokenId }) => contract.id === contracts.kinSecond.id && tokenId === 3n,
    ],
  ];
  it.each(lists)("lists %s newest first, the same by pages and by cursors", async (query, keep) => {
    const expected = saleIds(keep);
    const walked = await walkCursors(`/v1/sales${query}`);
    const ids = walked.rows.map((row) => z.object({ saleId: z.string() }).parse(row).saleId);
    expect(ids).toEqual(expected);
    expect(walked.total).toBe(expected.length);
    expect(await walkPages(`/v1/sales${query}`)).toEqual(walked.rows);
  });

  it("returns prices, parties, fees and links of a sale", async () => {
    const { data } = await list("/v1/sales?chainId=33139&per_page=1");
    expect(data[0]).toMatchObject({
      chainId: 33139,
      collection: { address: addressOfContract(contracts.apes), slug: "apes", name: "Apes" },
      contract: addressOfContract(contracts.apes),
      tokenId: "2",
      quantity: 1,
      price: 0.3,
      priceWei: "300000000000000000",
      totalWei: "300000000000000000",
      currency: { symbol: "APE", address: "0x0000000000000000000000000000000000000000" },
      usd: null,
      seller: addressOf(50),
      buyer: addressOf(51),
      fees: [{ recipient: addressOf(60), wei: "3000000000000000", bps: 100, kind: "service" }],
      bundle: null,
      timestamp: "2026-03-10T10:34:56.000Z",
      urls: { collection: `${siteUrl}/collections/apes?chainId=33139` },
    });
  });

  it("links to the next page", async () => {
    const answer = await api.get("/v1/sales?per_page=5&page=2");
    const { meta } = List.parse(answer.body);
    const link = `<${baseUrl}/v1/sales?per_page=5&cursor=${meta.next_cursor}>; rel="next"`;
    expect(answer.headers.get("link")).toBe(link);
  });

  it("returns an empty page beyond the end", async () => {
    const { data, meta } = await list("/v1/sales?page=200&per_page=50");
    expect(data).toEqual([]);
    expect(meta).toMatchObject({ total: 137, page: 200, next_cursor: null });
  });

  describe("404 not_found", () => {
    it.each(["nothing", addressOf(7), "a%00b", "%2F..%2F"])("for collection %s", async (key) => {
      await refusal(`/v1/sales?collection=${key}`, 404, "not_found");
    });
    it("for a collection of the other chain", async () => {
      await refusal("/v1/sales?collection=punks&chainId=33139", 404, "not_found");
    });
  });

  it.each(["2", "abc", "", "1&chainId=1", "01"])(
    "422 unsupported_chain for chainId=%s",
    async (text) => {
      await refusal(`/v1/sales?chainId=${text}`, 422, "unsupported_chain");
    },
  );

  it.each([
    ["page=0", "page"],
    ["page=1.5", "page"],
    ["page=1&page=2", "page"],
    ["per_page=101", "per_page"],
    ["per_page=0", "per_page"],
    ["collection=punks&token_id=0x1", "token_id"],
    [`collection=punks&token_id=${2n ** 256n}`, "token_id"],
    ["traits=Gold", "traits"],
    ["traits[a]=1&traits[b]=1&traits[c]=1&traits[d]=1&traits[e]=1&traits[f]=1", "traits"],
    ["page=1&cursor=abc", "cursor"],
    ["collection[]=punks", "collection"],
  ])("422 invalid_parameters for %s", async (query, field) => {
    const { details } = await refusal(`/v1/sales?${query}`, 422, "invalid_parameters");
    expect(details?.map((detail) => detail.field)).toContain(field);
  });

  it.each(["page=201", "page=10001&per_page=1", `page=${"9".repeat(400)}`])(
    "422 use_cursor for %.40s",
    async (query) => {
      await refusal(`/v1/sales?${query}`, 422, "use_cursor");
    },
  );

  describe("422 invalid_cursor", () => {
    it("for a cursor that was tampered with, at any position", async () => {
      const { meta } = await list("/v1/sales?per_page=5");
      const cursor = meta.next_cursor ?? "";
      for (let at = 0; at < cursor.length; at += 1) {
        const other = cursor[at] === "A" ? "B" : "A";
        const tampered = cursor.slice(0, at) + other + cursor.slice(at + 1);
        await refusal(`/v1/sales?per_page=5&cursor=${tampered}`, 422, "invalid_cursor");
      }
    });

    it("for a cursor of another list", async () => {
      const { meta } = await list("/v1/sales?per_page=5");
      for (const query of ["chainId=33139", "collection=punks", "collection=kin&token_id=1"]) {
        await refusal(`/v1/sales?${query}&cursor=${meta.next_cursor}`, 422, "invalid_cursor");
      }
      await refusal(`/v1/collections?cursor=${meta.next_cursor}`, 422, "invalid_cursor");
    });

    it.each(["", "%00", "x".repeat(5000)])("for an invalid cursor: %.10s", async (text) => {
      await refusal(`/v1/sales?cursor=${text}`, 422, "invalid_cursor");
    });
  });
});

describe("GET /v1/sales/{saleId}", () => {
  it("returns what the list shows, in any case of the id", async () => {
    const { data } = await list("/v1/sales?per_page=3");
    for (const row of data) {
      const id = String(row.saleId);
      expect(await one(`/v1/sales/${id}`)).toEqual(row);
      expect(await one(`/v1/sales/${id.toUpperCase().replace("0X", "0x")}`)).toEqual(row);
      await refusal(`/v1/sales/${id}?chainId=33139`, 404, "not_found");
    }
  });

  it("404 not_found for an unknown one, 422 for what is no id", async () => {
    await refusal(`/v1/sales/0x${"ab".repeat(32)}`, 404, "not_found");
    for (const id of ["1", "0x12", `0x${"g".repeat(64)}`]) {
      await refusal(`/v1/sales/${id}`, 422, "invalid_parameters");
    }
  });
});

describe("GET /v1/collections", () => {
  const slugs = (rows: unknown[]) =>
    rows.map((row) => z.object({ slug: z.string() }).parse(row).slug);

  const expected: [string, string[]][] = [
    ["sort=supply", ["editions", "kin", "punks"]],
    ["sort=supply&direction=asc", ["punks", "kin", "editions"]],
    ["sort=holders&direction=asc", ["punks", "kin", "editions"]],
    ["sort=sales&period=30d", ["kin", "punks", "editions"]],
    ["sort=sales&period=30d&exclude_wash=true", ["punks", "editions", "kin"]],
    ["sort=volume&period=7d&direction=asc&exclude_wash=true", ["kin", "editions", "punks"]],
    ["sort=supply&exclude_wash=true", ["editions", "kin", "punks"]],
    ["search=PUNK", ["punks"]],
    ["search=100%25_e", ["editions"]],
    ["search=%25", ["editions"]],
    ["search=_", ["editions"]],
    [`search=${addressOfContract(contracts.kinSecond).slice(-4)}`, ["kin"]],
    ["verified=true", ["punks"]],
    ["verified=false&sort=supply", ["editions", "kin"]],
    ["chainId=33139", ["apes"]],
    ["search=none", []],
  ];
  it.each(expected)("lists %s", async (query, order) => {
    const { data, meta } = await list(`/v1/collections?${query}`);
    expect(slugs(data)).toEqual(order);
    expect(meta.total).toBe(order.length);
  });

  it.each([
    ...["volume", "floor", "sales", "listed", "supply", "holders", "change"],
    ...["volume&exclude_wash=true", "sales&exclude_wash=true"],
  ])("walks sort %s by cursors as by pages, both ways", async (sort) => {
    for (const direction of ["asc", "desc"]) {
      const path = `/v1/collections?sort=${sort}&direction=${direction}&period=7d&per_page=1`;
      const { rows, total } = await walkCursors(path);
      expect(rows).toHaveLength(total);
      expect(await walkPages(path)).toEqual(rows);
    }
  });

  it("tells which part of volume and sales is of wash trades", async () => {
    const { data } = await list("/v1/collections?sort=sales&period=30d");
    const [kin, punks] = data as { stats: Record<string, Record<string, unknown>> }[];
    expect(kin?.stats.washSales).toEqual(kin?.stats.sales);
    expect(kin?.stats.washVolume).toEqual(kin?.stats.volume);
    expect(kin?.stats.washVolumeWei).toEqual(kin?.stats.volumeWei);
    expect(punks?.stats).toMatchObject({
      washSales: { "30d": 0 },
      washVolume: { "30d": 0 },
      washVolumeWei: { "30d": "0" },
    });
  });

  it("shows volume and sales of the period only, native and wrapped together", async () => {
    const { data } = await list("/v1/collections?search=punks&period=7d");
    const recent = seededSales.filter(
      ({ contract, ageHours }) => contract.id === contracts.punks.id && ageHours < 168,
    );
    const wei = recent.reduce((sum, { priceWei }) => sum + priceWei, 0n);
    expect(data[0]).toMatchObject({
      stats: { volumeWei: { "7d": String(wei) }, sales: { "7d": recent.length } },
    });
    expect(
      z
        .looseObject({ stats: z.looseObject({ volume: z.strictObject({ "7d": z.number() }) }) })
        .safeParse(data[0]).success,
    ).toBe(true);
  });

  it.each([
    "sort=price",
    "direction=up",
    "period=all",
    "verified=yes",
    `search=${"x".repeat(101)}`,
    "search=%00",
  ])("422 invalid_parameters for %.20s", async (query) => {
    await refusal(`/v1/collections?${query}`, 422, "invalid_parameters");
  });

  it("422 invalid_cursor for a cursor of another sort or direction", async () => {
    const { meta } = await list("/v1/collections?sort=supply&per_page=1");
    for (const query of [
      "sort=holders",
      "sort=supply&direction=asc",
      "sort=supply&verified=true",
    ]) {
      await refusal(`/v1/collections?${query}&cursor=${meta.next_cursor}`, 422, "invalid_cursor");
    }
  });
});

describe("GET /v1/collections/{collection}", () => {
  it("combines the statistics of all contracts of a collection, by slug and by any of its addresses", async () => {
    const bySlug = await one("/v1/collections/kin");
    expect(bySlug).toMatchObject({
      address: addressOfContract(contracts.kin),
      contracts: [
        { address: addressOfContract(contracts.kin), standard: "erc721" },
        { address: addressOfContract(contracts.kinSecond), standard: "erc721" },
      ],
      stats: { supply: 5, holders: 2, listed: 0, floor: null },
    });
    expect(await one(`/v1/collections/${addressOfContract(contracts.kinSecond)}`)).toEqual(bySlug);
  });

  it("counts the units of an ERC-1155 as its supply", async () => {
    const editions = await one("/v1/collections/editions");
    expect(editions).toMatchObject({ standard: "erc1155", stats: { supply: 30, holders: 2 } });
  });

  it("404 not_found for an unknown one", async () => {
    await refusal("/v1/collections/none", 404, "not_found");
    await refusal("/v1/collections/punks?chainId=33139", 404, "not_found");
    await refusal("/v1/collections/%00", 404, "not_found");
  });

  it("422 invalid_parameters for an address that cannot be decoded", async () => {
    await refusal("/v1/collections/%E0%A4%A", 422, "invalid_parameters");
  });
});

describe("GET /v1/collections/{collection}/tokens/{tokenId}", () => {
  it("returns the owner and the last sale", async () => {
    const last = saleIds(({ contract, tokenId }) => contract.id === 1 && tokenId === 0n)[0];
    expect(await one("/v1/collections/punks/tokens/0")).toMatchObject({
      tokenId: "0",
      owner: addressOf(50),
      isBurned: false,
      lastSale: { saleId: last },
      metadata: { status: "pending", updatedAt: null },
      listing: null,
    });
  });

  it("serves the largest token id", async () => {
    const tokenId = String(2n ** 256n - 1n);
    expect(await one(`/v1/collections/punks/tokens/${tokenId}`)).toMatchObject({ tokenId });
  });

  it("selects the existing token of a collection by slug, the contract's by address", async () => {
    const [kin, kinSecond] = [
      addressOfContract(contracts.kin),
      addressOfContract(contracts.kinSecond),
    ];
    expect(await one("/v1/collections/kin/tokens/7")).toMatchObject({
      contract: kinSecond,
      isBurned: false,
    });
    expect(await one(`/v1/collections/${kin}/tokens/7`)).toMatchObject({
      contract: kin,
      isBurned: true,
      owner: null,
      metadata: { status: "failed", updatedAt: null },
    });
    expect(await one("/v1/collections/kin/tokens/8")).toMatchObject({
      contract: kin,
      isBurned: true,
    });
  });

  it("counts holders and units of an ERC-1155 id", async () => {
    expect(await one("/v1/collections/editions/tokens/1")).toMatchObject({
      standard: "erc1155",
      owner: null,
      holders: 2,
      supply: 30,
    });
  });

  it("404 not_found for an unknown token or collection", async () => {
    await refusal("/v1/collections/punks/tokens/12345", 404, "not_found");
    await refusal("/v1/collections/none/tokens/1", 404, "not_found");
    await refusal(
      `/v1/collections/${addressOfContract(contracts.kinSecond)}/tokens/8`,
      404,
      "not_found",
    );
  });

  it.each(["abc", "-1", "0x1", "01", "9".repeat(79)])(
    "422 invalid_parameters for token %.10s",
    async (id) => {
      await refusal(`/v1/collections/punks/tokens/${id}`, 422, "invalid_parameters");
    },
  );
});

describe("the served document", () => {
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
    ...["invalid_key", "revoked_key", "expired_key", "address_not_allowed", "insufficient_scope"],
  ];

  it("contains the documented endpoints with their parameters and codes, and no others", () => {
    const Code = z.object({
      properties: z.object({ code: z.object({ enum: z.array(z.string()) }) }),
    });
    const Content = z.looseObject({
      content: z.object({ "application/json": z.object({ schema: Code }) }),
    });
    const served = Object.entries(api.document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { parameters = [], responses }]) => ({
        method,
        path,
        // Of every endpoint that reads projections.
        parameters: parameters
          .map(({ name }) => name)
          .filter((name) => name !== "X-Min-Position")
          .sort(),
        codes: Object.fromEntries(
          Object.entries(responses)
            // 405 is a shared response of every operation.
            .filter(([status]) => Number(status) >= 400 && status !== "405")
            .flatMap(([status, response]) => {
              const { code } =
                Content.parse(response).content["application/json"].schema.properties;
              return code.enum.map((name) => [name, Number(status)]);
            })
            .filter(([name]) => !everywhere.includes(String(name))),
        ),
      })),
    );
    const documented = documentedEndpoints.map((endpoint) => ({
      ...endpoint,
      parameters: endpoint.parameters.toSorted(),
    }));
    const byPath = (a: { path: string }, b: { path: string }) => a.path.localeCompare(b.path);
    expect(served.sort(byPath)).toEqual(documented.sort(byPath));
  });
});

describe("any request", () => {
  it("never causes a 500, whatever its parameters", async () => {
    const hostile = fc.oneof(
      fc.string({ unit: "binary", maxLength: 30 }),
      fc.constantFrom("\0", "'", "%", "\\", "[]", "-1", "1e9", "NaN", "null", "[object Object]"),
      fc.bigInt({ min: -(2n ** 260n), max: 2n ** 260n }).map(String),
    );
    const name = fc.constantFrom(
      ...documentedEndpoints.flatMap(({ parameters }) => parameters),
      "traits[a]",
      "traits[__proto__]",
      "traits[constructor]",
      "constructor",
      "page[]",
      "cursor[x]",
    );
    const query = fc.array(fc.tuple(name, hostile), { maxLength: 5 });
    const reads = documentedEndpoints.filter(({ method }) => method === "get");
    const path = fc.constantFrom(...reads.map((endpoint) => endpoint.path));
    await fc.assert(
      fc.asyncProperty(path, query, hostile, hostile, async (template, pairs, first, second) => {
        const word = (text: string) =>
          encodeURIComponent(text.replaceAll(/[\ud800-\udfff]/g, "?")).replaceAll(".", "%2E") ||
          "x";
        const asked = template
          .replace("{collection}", word(first))
          .replace("{tokenId}", word(second));
        const search = pairs.map(([key, value]) => `${key}=${word(value)}`).join("&");
        const { status } = await api.get(`${asked}?${search}`);
        expect(status).toBeLessThan(500);
      }),
      { numRuns: 300 },
    );
  });
});
