import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describeNftData } from "#api/account/routes.ts";
import { readExamples } from "#api/reference/examples.ts";
import { describeV1, routes } from "#api/routes.ts";
import { checkExamples, examplesOf, shapesOf, storeExamples } from "#test/support/http/examples.ts";
import {
  type ClientAnswers,
  type GeneratedClients,
  generateClients,
} from "#test/support/http/generated-clients.ts";
import { base } from "#test/support/http/nft-data-fixture.ts";
import { accountRequests, isMedia, v1Requests } from "#test/support/http/operation-requests.ts";
import { rowUses } from "#test/support/http/row-uses.ts";
import { openServedMarket, type ServedMarket } from "#test/support/http/served-market.ts";

let market: ServedMarket;
beforeAll(async () => {
  market = await openServedMarket();
});
afterAll(() => market?.close());

/** Only its maker can cancel an order, on chain. */
function statusesOf(name: string): number[] {
  if (isMedia(name)) return [404];
  // Each client asks for it, and a token has one in ten minutes.
  if (name.endsWith("/refresh")) return [202, 429];
  // The first of the clients deletes it.
  if (name.endsWith("/delete")) return [200, 404];
  // The first of the clients uses up what was signed.
  if (name.endsWith("/siwe")) return [201, 401];
  return name.endsWith("/cancel") ? [409] : [200, 201];
}

const documents = {
  v1: {
    api: () => market.v1,
    whole: describeV1("https://api.example.test", routes),
    requests: v1Requests,
    prefix: "",
  },
  account: {
    api: () => market.account,
    whole: describeNftData("https://api.example.test", { hasStream: true }),
    requests: accountRequests,
    prefix: base,
  },
} as const;
const apis = Object.entries(documents) as [
  "v1" | "account",
  (typeof documents)["v1" | "account"],
][];

describe.each(apis)("clients generated from the document of %s", (name, one) => {
  const requests = () => one.requests(market);
  let clients: GeneratedClients;
  let answers: Record<string, ClientAnswers> = {};
  beforeAll(async () => {
    clients = await generateClients(one.api().document as never, requests());
    const headers: Record<string, string> =
      one.prefix === ""
        ? { "x-api-key": market.key }
        : { authorization: `Bearer ${market.bearer}` };
    for (const [client, call] of Object.entries(await clients.callers())) {
      answers = { ...answers, [client]: await call(one.api().url + one.prefix, headers) };
    }
    // A new or changed operation: `UPDATE_EXAMPLES=1 npx vitest run generated-clients`, then `npm run format`.
    const isUpdate = process.env.UPDATE_EXAMPLES !== undefined;
    if (isUpdate) storeExamples(name, examplesOf(requests(), answers.openapiFetch ?? {}));
  });
  afterAll(() => clients?.delete());

  it("compile in strict mode with a call of every operation", () => {
    expect(clients.errors).toEqual([]);
  });

  it.runIf(name === "v1")(
    "know which fields a whole row has, and that a row of `fields` may lack any",
    async () => {
      const { program, lists } = rowUses(one.api().document as never);
      expect(lists).toBeGreaterThan(7);
      expect(await clients.errorsOf(program)).toEqual([]);
    },
  );

  it("are answered by every operation as documented", () => {
    const operations = Object.entries(one.api().document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method} ${path}`),
    );
    expect(operations.length).toBeGreaterThan(10);
    for (const [client, answered] of Object.entries(answers)) {
      expect(Object.keys(answered), client).toEqual(operations);
      for (const [operation, { status, body }] of Object.entries(answered)) {
        const told = `${client}: ${operation} ${JSON.stringify(body)}`;
        expect(statusesOf(operation), told).toContain(status);
        expect(body, told).toBeTypeOf("object");
      }
    }
  });

  it("see an example of every operation that is a real answer of today's shape", () => {
    const today = shapesOf(examplesOf(requests(), answers.openapiFetch ?? {}));
    expect(shapesOf(readExamples()[name])).toEqual(today);
  });

  it("see examples of the account's one chain", () => {
    const text = JSON.stringify(readExamples().account);
    const chains = [...text.matchAll(/(?:chain_id":|chainId=)(\d+)/g)].map(([, id]) => id);
    expect([...new Set(chains)]).toEqual(["33139"]);
  });

  it("see examples that their schemas accept", () => {
    const { places, errors } = checkExamples(one.whole);
    expect(errors).toEqual([]);
    const answered = places.filter((place) => place.includes("/responses/"));
    expect(answered).toHaveLength(Object.keys(readExamples()[name]).length);
  });
});
