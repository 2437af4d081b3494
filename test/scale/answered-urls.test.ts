import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { drawRequests, type RequestDocument } from "../support/http/document-requests.ts";
import { knownValues } from "../support/http/known-values.ts";
import { v1Requests } from "../support/http/operation-requests.ts";
import { baseUrl, openServedMarket, type ServedMarket } from "../support/http/served-market.ts";

const answers = 1_000;
/** Most of the market's 75. Half of them are tokens of one collection, of which a thousand answers may hold no long list. */
const addresses = 60;
const mostAnswers = 20 * answers;
/** Drawn and sent at a time. */
const batch = 100;

let market: ServedMarket;
beforeAll(async () => {
  market = await openServedMarket({ hasPages: true });
});
afterAll(() => market?.close());

type Named = { readonly url: string; readonly id: string };

/** Every address in an answer, with what names its row: the last part of the address. */
function urlsIn(value: unknown): Named[] {
  if (Array.isArray(value)) return value.flatMap(urlsIn);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) =>
    name === "urls" ? Object.values(part as Record<string, string>).map(namedOf) : urlsIn(part),
  );
}

const namedOf = (url: string): Named => ({
  url,
  id: decodeURIComponent(new URL(url).pathname.split("/").at(-1) ?? ""),
});

/** What is answered; documents have none, and text has no addresses. */
const dataOf = (body: unknown): unknown =>
  typeof body === "string"
    ? undefined
    : z.looseObject({ data: z.unknown().optional() }).parse(body).data;

/** What a page shows, without its links and what it asks for. */
async function shownAt(url: string): Promise<{ status: number; text: string }> {
  const response = await fetch(url.replace(baseUrl, market.v1.url), {
    headers: { accept: "text/html" },
  });
  const html = await response.text();
  const main = /<main[^>]*>([\s\S]*)<\/main>/.exec(html)?.[1] ?? "";
  return { status: response.status, text: main.replaceAll(/ href="[^"]*"/g, "") };
}

/** Addresses in drawn answers, with what names their rows. */
async function drawAddresses(seed: number): Promise<Map<string, string>> {
  const known = { values: knownValues(market), requests: v1Requests(market) };
  const all = drawRequests(market.v1.document as unknown as RequestDocument, known);
  const reads = all.filter(({ method }) => method === "get");
  const found = new Map<string, string>();
  let answered = 0;
  const isEnough = () => answered >= answers && found.size > addresses;
  for (let round = 0; !isEnough() && answered < mostAnswers; round += 1) {
    for (const { path } of fc.sample(reads, { numRuns: batch, seed: seed + round })) {
      const { status, body } = await market.v1.get(path);
      if (status === 200) answered += 1;
      for (const { url, id } of urlsIn(dataOf(body))) found.set(url, id);
    }
  }
  process.stderr.write(`answered urls: ${answered} answers, ${found.size} addresses, ${seed}\n`);
  return found;
}

it("every address in a thousand answers or more opens a page that shows its row", async () => {
  const { seed = Date.now() } = fc.readConfigureGlobal() ?? {};
  const found = await drawAddresses(seed);
  const wrong: string[] = [];
  for (const [url, id] of found) {
    const { status, text } = await shownAt(url);
    if (status !== 200 || !text.includes(id)) wrong.push(`${status} ${url}`);
  }
  expect(wrong, `seed ${seed}`).toEqual([]);
  expect(found.size).toBeGreaterThan(addresses);
});
