import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import express from "express";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describeNftData } from "#api/account/routes.ts";
import { type Listening, listen } from "#api/http/server.ts";
import { explainedCodes } from "#api/pages/reference/error-explanations.ts";
import { describedApis, mountReferences } from "#api/pages/reference/mount-reference.ts";
import { codesOf, operationsOf } from "#api/reference/api-document.ts";
import { postmanCollection } from "#api/reference/postman.ts";
import { describeV1, routes } from "#api/routes.ts";
import {
  type PackedClient,
  packClient,
  run,
} from "#test/integration/sdk/consumers/packed-client.ts";
import { withOwnParts } from "#test/support/http/openapi.ts";
import { isMedia, v1Requests } from "#test/support/http/operation-requests.ts";
import { openServedMarket, type ServedMarket } from "#test/support/http/served-market.ts";

let market: ServedMarket;
let client: PackedClient;
/** The same pages, whose examples are requests of this market. */
let listening: Listening;
let document: ReturnType<typeof describeV1>;
const account = describeNftData("https://api.example.test/apechain", { hasStream: true });

beforeAll(async () => {
  market = await openServedMarket();
  client = await packClient();
  document = withRequestsOf(market);
  const app = express();
  mountReferences(app, describedApis(document, account, market.v1.url), undefined);
  listening = await listen(app, "127.0.0.1", 0);
});
afterAll(async () => {
  await listening?.close();
  await client?.close();
  await market?.close();
});

type Described = {
  parameters?: { name: string; in: string; example?: unknown }[];
  requestBody?: { content: Record<string, { example?: unknown }> };
};

function withRequestsOf(served: ServedMarket): ReturnType<typeof describeV1> {
  const copy = withOwnParts(describeV1(served.v1.url, routes));
  for (const [name, { path, query, body }] of Object.entries(v1Requests(served))) {
    const [method = "", address = ""] = name.split(" ");
    const operation = (copy.paths as Record<string, Record<string, Described>>)[address]?.[method];
    for (const one of operation?.parameters ?? []) {
      const value = (one.in === "path" ? path : query)?.[one.name];
      if (value === undefined) delete one.example;
      else one.example = value;
    }
    const json = operation?.requestBody?.content["application/json"];
    if (json !== undefined) json.example = body;
  }
  return copy;
}

const open = (path: string) => fetch(`http://127.0.0.1:${listening.port}${path}`);
const textOf = (html: string) =>
  html.replaceAll(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)));

/** The code of a page's samples by language. */
async function samplesOf(id: string): Promise<Map<string, string>> {
  const html = await (await open(`/docs/operations/${id}`)).text();
  const samples = html.matchAll(
    /data-language="(\w+)"[^>]*><summary>\w+<\/summary><pre[^>]*><code>(.*?)<\/code>/gs,
  );
  return new Map([...samples].map(([, language = "", code = ""]) => [language, textOf(code)]));
}

/** Those that anybody may call, that change nothing and that answer JSON. */
const readable = () =>
  operationsOf(document).filter(
    ({ method, path, responses = {} }) =>
      method === "get" &&
      !isMedia(`get ${path}`) &&
      !Object.values(responses).some((one) => codesOf(one).includes("key_required")),
  );

async function inTurn<Item>(items: readonly Item[], work: (item: Item) => Promise<void>) {
  const left = [...items];
  const worker = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) await work(next);
  };
  await Promise.all([worker(), worker()]);
}

describe("the examples of the reference run as they stand", () => {
  it("in a shell", async () => {
    await inTurn(readable(), async ({ id }) => {
      const command = (await samplesOf(id)).get("curl") ?? "";
      const { stdout } = await run("sh", ["-c", command]);
      const answer = JSON.parse(stdout) as { success?: boolean; openapi?: string };
      expect(answer.success ?? answer.openapi !== undefined, `${command}\n${stdout}`).toBe(true);
    });
  });

  it("in Python", async () => {
    const withData = readable().filter(({ id }) => id !== "getOpenApiDocument");
    await inTurn(withData, async ({ id }) => {
      const program = (await samplesOf(id)).get("Python") ?? "";
      const { stdout } = await run("python3", ["-c", program]);
      expect(stdout.trim(), program).not.toBe("");
    });
  });

  it("with the client", async () => {
    const folder = join(client.directory, "samples");
    await mkdir(folder);
    const withData = readable().filter(({ id }) => id !== "getOpenApiDocument");
    for (const { id } of withData) {
      const program = (await samplesOf(id)).get("TypeScript") ?? "";
      await writeFile(join(folder, `${id}.mjs`), program);
    }
    const all = withData.map(({ id }) => `await import("./${id}.mjs"); console.log("ran ${id}");`);
    await writeFile(join(folder, "all.mjs"), all.join("\n"));
    const { stdout } = await run(process.execPath, [join(folder, "all.mjs")], {
      maxBuffer: 64 * 1024 * 1024,
    });
    const ran = [...stdout.matchAll(/^ran (\w+)$/gm)].map(([, id]) => id);
    expect(ran).toEqual(withData.map(({ id }) => id));
  });

  it("also those that post, which name a body that the endpoint takes", async () => {
    const command = (await samplesOf("getBuyData")).get("curl") ?? "";
    expect(command).toContain("-X POST");
    expect(JSON.parse((await run("sh", ["-c", command])).stdout)).toMatchObject({ success: true });
    const program = (await samplesOf("getBuyData")).get("Python") ?? "";
    expect((await run("python3", ["-c", program])).stdout).toContain("'to': '0x");
  });
});

type PostmanRequest = {
  readonly name: string;
  readonly request: {
    readonly method: string;
    readonly header: readonly { key: string; value: string }[];
    readonly url: {
      readonly path: readonly string[];
      readonly query: readonly { key: string; value: string; disabled?: boolean }[];
      readonly variable: readonly { key: string; value: string }[];
    };
    readonly body?: { readonly raw: string };
  };
};
type PostmanCollection = {
  readonly variable: readonly { key: string; value: string }[];
  readonly item: readonly { readonly item: readonly PostmanRequest[] }[];
};

/** What Postman sends: variables in place of their names, and of the query what is not disabled. */
function sentBy({ request }: PostmanRequest, variables: ReadonlyMap<string, string>): Request {
  const ofUrl = new Map(request.url.variable.map(({ key, value }) => [`:${key}`, value]));
  const path = request.url.path.map((one) => encodeURIComponent(ofUrl.get(one) ?? one)).join("/");
  const url = new URL(`${variables.get("baseUrl")}/${path}`);
  for (const { key, value, disabled } of request.url.query)
    if (disabled !== true) url.searchParams.append(key, value);
  const headers = request.header.map(({ key, value }): [string, string] => [
    key,
    value.replaceAll(/\{\{(\w+)\}\}/g, (_, name) => variables.get(name) ?? ""),
  ]);
  const { method, body } = request;
  return new Request(url, { method, headers, ...(body && { body: body.raw }) });
}

it("each request of the Postman collection runs as imported", async () => {
  const collection = postmanCollection(document, market.v1.url) as PostmanCollection;
  const variables = new Map(collection.variable.map(({ key, value }) => [key, value]));
  variables.set("apiKey", market.key);
  const requests = collection.item.flatMap(({ item }) => item);
  expect(requests).toHaveLength(operationsOf(document).length);
  for (const one of requests) {
    const request = sentBy(one, variables);
    const response = await fetch(request);
    const told = `${one.name}: ${request.method} ${request.url} ${await response.text()}`;
    // Only its maker can cancel an order; the market holds no media, and the request for CSV is of no snapshot; what is deleted or refreshed is so once.
    const isRefused = /^(?:Cancel|Get \w+ (?:image|banner|animation|metadata|csv))/.test(one.name);
    expect(isRefused ? [404, 409] : [200, 201, 202], told).toContain(response.status);
  }
});

it("each question of /llms.txt is answered at its address", async () => {
  const text = await (await fetch(`${market.v1.url}/llms.txt`)).text();
  const addresses = [...text.matchAll(/\? `(http[^`]+)`/g)].map(([, one = ""]) => one);
  expect(addresses).toHaveLength(10);
  const requests = v1Requests(market);
  const given = Object.values(requests).flatMap(({ path = {} }) => Object.entries(path));
  const values = new Map([...given, ["text", "punks"], ["trait", "Fur"], ["value", "Gold"]]);
  for (const one of addresses) {
    const path = one
      .slice(one.indexOf("/v1/"))
      .replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(values.get(name) ?? ""));
    const answer = await market.v1.get(path, { "x-api-key": market.key });
    expect([path, answer.status]).toEqual([path, 200]);
  }
});

const isOfReference = (address: string) => /^(\/apechain)?\/docs/.test(address);

/** Where a page leads, without the places within pages. */
async function linksOf(path: string): Promise<string[]> {
  const response = await open(path);
  expect([path, response.status]).toEqual([path, 200]);
  const addresses = (await response.text()).matchAll(/href="([^"]+)"/g);
  return [...addresses].map(([, one = ""]) => textOf(one).split("#")[0] ?? "").filter(Boolean);
}

/** All pages of the reference that links lead to, and where else they lead. */
async function crawl(from: readonly string[]) {
  const seen = new Set(from);
  const outside = new Set<string>();
  for (const path of seen) {
    const links = await linksOf(path);
    for (const one of links) (isOfReference(one) ? seen : outside).add(one);
  }
  return { seen, outside };
}

describe("the reference", () => {
  it("explains each code that an endpoint may refuse with, and no other", () => {
    const codes = [document, account].flatMap((one) =>
      operationsOf(one).flatMap(({ responses = {} }) =>
        Object.values(responses).flatMap((response) => codesOf(response)),
      ),
    );
    expect([...explainedCodes].sort()).toEqual([...new Set(codes)].sort());
  });

  it("says what each operation does, with the example and the codes of one", async () => {
    const plain = (html: string) => textOf(html.replaceAll(/<[^>]*>/g, ""));
    const overview = plain(await (await open("/docs")).text());
    for (const { description = "" } of operationsOf(document))
      expect(overview).toContain(description.replaceAll("`", ""));
    const buying = plain(await (await open("/docs/operations/getBuyData")).text());
    for (const part of ['"buyer"', '"validUntil"', "price_above_max", "order_mismatch"])
      expect(buying).toContain(part);
  });

  it("has a page of every operation, and leads nowhere that does not exist", async () => {
    const { seen, outside } = await crawl(["/docs", "/apechain/docs"]);
    for (const { id } of operationsOf(document)) expect(seen).toContain(`/docs/operations/${id}`);
    for (const { id } of operationsOf(account))
      expect(seen).toContain(`/apechain/docs/operations/${id}`);
    const ownAddresses = [...outside].filter((one) => !/^https:/.test(one)).sort();
    expect(ownAddresses).toEqual([
      "/",
      "/apechain/openapi.json",
      "/developers",
      "/llms.txt",
      "/postman.json",
      "/v1/openapi.json",
      "/v1/status",
    ]);
  });

  it.each([
    ["cursor", "/docs/guides/paging"],
    ["best bid", "/docs/operations/getBestBids"],
    ["royalty_missing", "/docs/errors#royalty_missing"],
  ])("finds %s", async (text, path) => {
    const html = await (await open(`/docs?q=${encodeURIComponent(text)}`)).text();
    expect(html.slice(html.indexOf("<article>"))).toContain(`href="${path}"`);
  });

  it("shows what was searched for as text", async () => {
    const html = await (await open(`/docs?q=${encodeURIComponent("<script>x</script>")}`)).text();
    expect(html).not.toContain("<script>x");
    expect(textOf(html)).toContain("Nothing has “<script>x</script>”.");
  });

  it("says that there is no such page", async () => {
    const response = await open("/docs/operations/constructor");
    expect(response.status).toBe(404);
    expect(await response.text()).toContain("no page at this address");
  });
});

it("a refusal leads to the explanation of its code", async () => {
  const response = await fetch(`${market.v1.url}/v1/sales?chainId=5`);
  const [, path] = /^<([^>]+)>; rel="help"$/.exec(response.headers.get("link") ?? "") ?? [];
  const { code } = (await response.json()) as { code: string };
  expect(path).toBe(`/docs/errors#${code}`);
  const page = await (await open("/docs/errors")).text();
  expect(page).toContain(`id="${code}"`);
});
