import type { Express, RequestHandler } from "express";
import { answerFeed, countStreamOrRefuse } from "#api/feed/answer-feed.ts";
import { sendRejection } from "#api/http/answer.ts";
import { type ConcurrencyLimiter, limitConcurrency } from "#api/http/concurrency.ts";
import { limitPages } from "#api/http/limit.ts";
import { servePath } from "#api/http/mount.ts";
import { callerAddress } from "#api/http/request.ts";
import type { Pictures } from "#api/pictures/open-pictures.ts";
import { limitPictures, picturePaths, servePictures } from "#api/pictures/serve-pictures.ts";
import type { MediaLinks } from "#api/v1/media-links.ts";
import { defaultChain } from "#chains/index.ts";
import { reject } from "#projections/domain/rejection.ts";
import { chainOf } from "./chain-choice.ts";
import { busyPage, limitedPage, marketSite, unknownPage } from "./layout.ts";
import { type PageOptions, type SiteContext, sendPage, servePage } from "./serve-page.ts";
import { mountAssets, sharedAsset, websiteHeaders } from "./serve-website.ts";
import type { PageHandler } from "./visit.ts";

export type SitePage = readonly [path: string, handler: PageHandler, options?: PageOptions];

export type MarketSite = SiteContext & {
  readonly pages: readonly SitePage[];
  readonly concurrency?: ConcurrencyLimiter | undefined;
  readonly pictures?: Pictures | undefined;
};

const modules = [
  ...["live.js", "live-row.js", "chart.js", "copy.js", "make.js", "number.js"],
  ...["suggest.js", "time.js"],
  ...[
    "trade.js",
    "trade-store.js",
    "trade-flow.js",
    "trade-select.js",
    "trade-sheet.js",
    "trade-views.js",
  ],
  "client.js",
];

/** Mounts the market's pages and their assets. */
export function mountSite(app: Express, site: MarketSite): void {
  const headers = siteHeaders(site.context.media);
  const before = beforePages(site);
  for (const [path, handler, options] of site.pages) {
    const handle = servePage(site, handler, options);
    servePath(app, path, { get: [...before, withSlot(site, handle)] });
  }
  if (site.feedOf !== undefined) {
    servePath(app, "/live", { get: [...before, streamToPages(site)] });
  }
  mountPictures(app, site);
  const styles = ["base.css", "parts.css", "charts.css", "trade.css", "phone.css"].map(sharedAsset);
  const files = { icon, styles, script: sharedAsset("site.js"), modules };
  mountAssets(app, marketSite, files, headers);
}

/** What is done for every page, before it is made. */
export const beforePages = (site: Omit<MarketSite, "pages">): readonly RequestHandler[] => [
  siteHeaders(site.context.media),
  withLimit(site),
];

/** Somebody who looks for a page is answered with one; programs get the API's own 404. */
export function answerUnknownPages(site: MarketSite): RequestHandler {
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

function mountPictures(app: Express, { limiter, context, pictures }: MarketSite): void {
  const serve = servePictures({ context, pictures });
  const get = limiter === undefined ? [serve] : [limitPictures(limiter), serve];
  for (const path of picturePaths) servePath(app, path, { get });
}

function withLimit(site: Omit<MarketSite, "pages">): RequestHandler {
  const { limiter } = site;
  if (limiter === undefined) return (_request, _response, next) => next();
  return limitPages(limiter, (request, response) =>
    sendPage(request, response, site, limitedPage(site.context.chains[0] ?? defaultChain.id)),
  );
}

/** A page waits for its slot with the long lists. */
export function withSlot(site: MarketSite, handle: ReturnType<typeof servePage>): RequestHandler {
  const { concurrency } = site;
  if (concurrency === undefined) return handle;
  return limitConcurrency(concurrency, "lists", handle, (request, response) =>
    sendPage(request, response, site, busyPage(site.context.chains[0] ?? defaultChain.id)),
  );
}

const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#2456d6"/><path d="M7 21l6-7 5 4 7-9" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" stroke-linejoin="round"/></svg>
`;

/**
 * For the market's pages: our own scripts, styles and images only, and forms to ourselves. Videos and sounds of tokens
 * stand anywhere on the web and redirect further, so that https is the only bound on them: they load with a click.
 */
function siteHeaders(media: Pick<MediaLinks, "ipfsGateway" | "arweaveGateway">): RequestHandler {
  const gateways = [media.ipfsGateway, media.arweaveGateway].map((url) => new URL(url).origin);
  const plain = new Set(gateways.filter((one) => !/^https:/.test(one)));
  const sources = { "media-src": ["'self'", "https:", ...plain], "connect-src": ["'self'"] };
  return websiteHeaders({ referrer: "no-referrer", sources });
}

/** A page that was open shows the newest rows only. Who wants the whole log takes a key and the API's stream. */
const mostBehind = 10_000n;

/** Events for open pages: the same stream as the API's, for browsers of this site and without a key. */
function streamToPages({ context, feedOf, streams }: SiteContext): RequestHandler {
  return (request, response, next) => {
    const chainId = chainOf(request, context.chains);
    const feed = chainId === undefined ? undefined : feedOf?.(chainId, "latest");
    if (feed === undefined) {
      sendRejection(response, 404, reject("not_found", "No feed of this chain"));
      return;
    }
    const caller = { accountId: null, address: callerAddress(request), credential: null };
    if (countStreamOrRefuse(streams, caller, response))
      answerFeed(feed, { mostBehind, opener: "page" })(request, response, next);
  };
}
