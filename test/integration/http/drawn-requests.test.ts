import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { drawRequests, type RequestDocument } from "#test/support/http/document-requests.ts";
import { watchEventLoop } from "#test/support/http/event-loop-turns.ts";
import { knownValues } from "#test/support/http/known-values.ts";
import { base } from "#test/support/http/nft-data-fixture.ts";
import { accountRequests, v1Requests } from "#test/support/http/operation-requests.ts";
import { openServedMarket, type ServedMarket } from "#test/support/http/served-market.ts";
import { runsOf } from "#test/support/thoroughness.ts";

/** 100,000 for a whole run: `DRAWN_REQUESTS=100000 npx vitest run --project integration drawn-requests`. */
const runs = Number(process.env.DRAWN_REQUESTS ?? runsOf(800, 200));
/** Drawn and sent at a time; drawing is not the server's work. */
const batch = 40;

let market: ServedMarket;
beforeAll(async () => {
  market = await openServedMarket();
});
afterAll(() => market?.close());

const apis = {
  "/v1": { api: () => market.v1, requestsOf: v1Requests, prefix: "" },
  "the account API": { api: () => market.account, requestsOf: accountRequests, prefix: base },
};

it.each(Object.entries(apis))(
  "%s: every request that can be drawn from the document is answered as documented, without a fault, and none holds the process",
  async (_, { api: apiOf, requestsOf, prefix }) => {
    const api = apiOf();
    const known = { values: knownValues(market), requests: requestsOf(market) };
    const requests = drawRequests(api.document as unknown as RequestDocument, known);
    const { seed = Date.now() } = fc.readConfigureGlobal() ?? {};
    const headers: Record<string, string> =
      prefix === "" ? { "x-api-key": market.key } : { authorization: `Bearer ${market.bearer}` };
    const counts = new Map<number, number>();
    let longest = 0;
    for (let done = 0; done < runs / 2; done += batch) {
      const drawn = fc.sample(requests, { numRuns: batch, seed: seed + done });
      const watch = watchEventLoop();
      for (const { method, path, body } of drawn) {
        // Validates the answer against the document.
        const at = prefix + path;
        const sent = method === "get" ? api.get(at, headers) : api.post(at, body, headers);
        const { status } = await sent.catch((error: unknown) => {
          throw new Error(`seed ${seed + done}: ${method} ${path} ${body?.slice(0, 2_000)}`, {
            cause: error,
          });
        });
        counts.set(status, (counts.get(status) ?? 0) + 1);
        expect(status, `${method} ${path} ${body?.slice(0, 500)}`).not.toBe(500);
      }
      longest = Math.max(longest, watch.stop());
    }
    const figures = {
      runs: runs / 2,
      seed,
      longestTurnMs: Math.round(longest),
      ...Object.fromEntries(counts),
    };
    process.stderr.write(`drawn requests: ${JSON.stringify(figures)}\n`);
    const succeeded = (counts.get(200) ?? 0) + (counts.get(201) ?? 0);
    expect(succeeded).toBeGreaterThan(runs / 4);
    expect(longest).toBeLessThan(100);
  },
  runs * 1_000,
);
