import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { drawRequests, type RequestDocument } from "#test/support/http/document-requests.ts";
import { knownValues } from "#test/support/http/known-values.ts";
import { base } from "#test/support/http/nft-data-fixture.ts";
import { accountRequests, v1Requests } from "#test/support/http/operation-requests.ts";
import type { DrawnRequest } from "#test/support/http/plausible-requests.ts";
import { openPrismProxy, type PrismProxy } from "#test/support/http/prism-proxy.ts";
import { openServedMarket, type ServedMarket } from "#test/support/http/served-market.ts";
import { runsOf } from "#test/support/thoroughness.ts";

/** More for a whole run: `DRAWN_REQUESTS=3000 npx vitest run --project integration http/prism`. */
const runs = Number(process.env.DRAWN_REQUESTS ?? runsOf(1_000, 300));

let market: ServedMarket;
beforeAll(async () => {
  market = await openServedMarket();
});
afterAll(() => market?.close());

const apis = {
  "/v1": {
    ...{ server: () => market.v1.url, document: "/v1/openapi.json" },
    ...{ api: () => market.v1, requestsOf: v1Requests },
    headers: (): Record<string, string> => ({ "x-api-key": market.key }),
  },
  "the account API": {
    ...{ server: () => market.v1.url + base, document: "/openapi.json" },
    ...{ api: () => market.account, requestsOf: accountRequests },
    headers: (): Record<string, string> => ({ authorization: `Bearer ${market.bearer}` }),
  },
};

/** A body that is no JSON is never answered: Prism 5.16 reads it, then waits for its end again. */
function isReadByPrism({ body = "" }: DrawnRequest): boolean {
  try {
    return body === "" || JSON.parse(body) !== undefined;
  } catch {
    return false;
  }
}

/**
 * What is no difference: of a list of orders each is answered on its own, a malformed one with its refusal; and a body
 * where the document names none, of which OpenAPI says nothing, is not read.
 */
const isTakenAsDocumented = (violation: string) =>
  /^request\.body\.(listings|bids)\.\d+/.test(violation) ||
  violation.startsWith("request: No supported content types");

describe.each(Object.entries(apis))("%s through Prism, by its document", (_, one) => {
  let prism: PrismProxy;
  beforeAll(async () => {
    prism = await openPrismProxy(one.server(), one.document);
  });
  afterAll(() => prism?.close());

  it("answers every request that can be drawn as documented, and takes none that the document refuses", async () => {
    const known = { values: knownValues(market), requests: one.requestsOf(market) };
    const requests = drawRequests(one.api().document as unknown as RequestDocument, known);
    const { seed = Date.now() } = fc.readConfigureGlobal() ?? {};
    const drawn = fc.sample(requests.filter(isReadByPrism), { numRuns: runs / 2, seed });
    let succeeded = 0;
    for (const request of drawn) {
      const { status, ...said } = await prism.ask(request, one.headers());
      const isTaken = status < 300;
      if (isTaken) succeeded += 1;
      const place = `seed ${seed}: ${request.method} ${request.path} ${request.body?.slice(0, 500)} (${status})`;
      expect(said.answer, place).toEqual([]);
      const differences = said.request.filter((one) => !isTakenAsDocumented(one));
      if (isTaken) expect(differences, place).toEqual([]);
    }
    expect(succeeded).toBeGreaterThan(runs / 5);
  }, 1_000_000);
});
