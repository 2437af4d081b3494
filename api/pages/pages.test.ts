import express from "express";
import { pino } from "pino";
import { afterAll, beforeAll, expect, it } from "vitest";
import { textDocument } from "#api/http/answer.ts";
import { type Listening, listen } from "#api/http/server.ts";
import { mountSite } from "./kit/mount-site.ts";
import { pages } from "./pages.ts";

type Site = Parameters<typeof mountSite>[1];

/** Addresses that answers are kept under. */
const kept: string[] = [];
const page = textDocument({ type: "text/html", text: "", cacheControl: "no-cache" });
const cache: Site["cache"] = {
  async get({ request }) {
    kept.push(request);
    return page;
  },
};

let site: Listening;
beforeAll(async () => {
  const app = express();
  const media = { ipfsGateway: "https://a.example.test", arweaveGateway: "https://b.example.test" };
  // Nothing else of them is needed where every answer is kept already.
  const context = { chains: [1], media } as unknown as Site["context"];
  const rest = { explain: null, reads: null } as unknown as Pick<Site, "explain" | "reads">;
  const own = pages.map(([path, handle, options = {}]) => {
    const { prepare: _, ...others } = options;
    return [path, handle, others] as const;
  });
  const shared = { origin: "https://market.example.test", cache };
  const logger = pino({ level: "silent" });
  mountSite(app, { context, pages: own, logger, ...shared, ...rest });
  site = await listen(app, "127.0.0.1", 0);
});
afterAll(() => site.close());

const all = [...new Set(pages.flatMap(([, , options]) => options?.parameters ?? []))].sort();

it.each(pages.map(([path, , options]) => ({ path, own: options?.parameters ?? [] })))(
  "$path is kept by its own parameters only",
  async ({ path, own }) => {
    kept.length = 0;
    const address = path.replaceAll(/\{\w+\}/g, "1");
    const query = ["chainId", ...all].map((name) => `${name}=1`).join("&");
    const answer = await fetch(`http://127.0.0.1:${site.port}${address}?${query}&utm_source=x`);
    expect(answer.status).toBe(200);

    const names = ["chainId", ...all.filter((name) => own.includes(name))];
    expect(kept).toEqual([`${address}?${names.map((name) => `${name}=1`).join("&")}`]);
  },
);

it("keeps a sale, a transaction, an order and the status under one address whatever others' parameters say", () => {
  const without = pages.filter(([, , options]) => options?.parameters === undefined);
  expect(without.map(([path]) => path)).toEqual([
    "/sales/{saleId}",
    "/transactions/{hash}",
    "/listings/{askId}",
    "/bids/{bidId}",
    "/status",
  ]);
});
