import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Express, RequestHandler } from "express";
import { defaultChain } from "#chains/index.ts";
import { sendFixed, textDocument } from "#api/http/answer.ts";
import { type ConcurrencyLimiter, limitConcurrency } from "#api/http/concurrency.ts";
import { limitPages } from "#api/http/limit.ts";
import { servePath } from "#api/http/mount.ts";
import { busyPage, limitedPage, unknownPage } from "./error-pages.ts";
import { siteHeaders } from "./headers.ts";
import { streamToPages } from "./live-stream.ts";
import { type PageOptions, type SiteContext, sendPage, servePage } from "./serve-page.ts";
import type { PageHandler } from "./visit.ts";

export type SitePage = readonly [path: string, handler: PageHandler, options?: PageOptions];

export type Site = SiteContext & {
  readonly pages: readonly SitePage[];
  readonly concurrency?: ConcurrencyLimiter | undefined;
};

const scripts = ["site.js", "live.js", "live-row.js", "chart.js", "number.js", "time.js"];
const styles = ["base.css", "parts.css", "charts.css"];

const readAsset = (name: string): string =>
  readFileSync(join(import.meta.dirname, "../assets", name), "utf8");

/** Mounts the market's pages and their assets. */
export function mountSite(app: Express, site: Site): void {
  const headers = siteHeaders(site.context.media);
  const before = [headers, withLimit(site)];
  for (const [path, handler, options] of site.pages) {
    const handle = servePage(site, handler, options);
    servePath(app, path, { get: [...before, withSlot(site, handle)] });
  }
  if (site.feedOf !== undefined) {
    servePath(app, "/live", { get: [...before, streamToPages(site)] });
  }
  const assets: [name: string, type: string, text: string][] = [
    ["site.css", "text/css; charset=utf-8", styles.map(readAsset).join("")],
    ["icon.svg", "image/svg+xml", icon],
    ...scripts.map((name): [string, string, string] => [
      name,
      "text/javascript; charset=utf-8",
      readAsset(name),
    ]),
  ];
  for (const [name, type, text] of assets) {
    const document = textDocument({ type, text, cacheControl: "no-cache" });
    servePath(app, `/assets/site/${name}`, { get: [headers, sendFixed(document)] });
  }
}

/** Somebody who looks for a page is answered with one; programs get the API's own 404. */
export function answerUnknownPages(site: Site): RequestHandler {
  const headers = siteHeaders(site.context.media);
  return (request, response, next) => {
    const isPage = request.method === "GET" && request.accepts(["json", "html"]) === "html";
    if (!isPage || /^\/v1(\/|$)/.test(request.path)) {
      next();
      return;
    }
    headers(request, response, () =>
      sendPage(request, response, site, unknownPage(site.context.chains[0] ?? defaultChain.id)),
    );
  };
}

function withLimit(site: Site): RequestHandler {
  const { limiter } = site;
  if (limiter === undefined) return (_request, _response, next) => next();
  return limitPages(limiter, (request, response) =>
    sendPage(request, response, site, limitedPage(site.context.chains[0] ?? defaultChain.id)),
  );
}

/** A page waits for its slot with the long lists. */
function withSlot(site: Site, handle: ReturnType<typeof servePage>): RequestHandler {
  const { concurrency } = site;
  if (concurrency === undefined) return handle;
  return limitConcurrency(concurrency, "lists", handle, (request, response) =>
    sendPage(request, response, site, busyPage(site.context.chains[0] ?? defaultChain.id)),
  );
}

const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#2456d6"/><path d="M7 21l6-7 5 4 7-9" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" stroke-linejoin="round"/></svg>
`;
