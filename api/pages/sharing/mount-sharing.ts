import type { Express, Request, RequestHandler, Response } from "express";
import { sendDocument, sendFixed, sendText, textDocument } from "#api/http/answer.ts";
import { servePath } from "#api/http/mount.ts";
import { addressWith } from "#api/http/reads/position.ts";
import { limitPictures } from "#api/pictures/serve-pictures.ts";
import { marketSite } from "../kit/layout.ts";
import { beforePages, type MarketSite, withSlot } from "../kit/mount-site.ts";
import { pageInputOf } from "../kit/page-input.ts";
import type { SiteContext } from "../kit/serve-page.ts";
import { pageFault } from "../kit/serve-website.ts";
import { openReader, type Reader, RefusedRead } from "../kit/visit.ts";
import { serveCard } from "./serve-cards.ts";
import { sitemapIndex, sitemapPart } from "./sitemap.ts";

/** Pages that are another page filtered or sorted, or of one person. */
const unlisted = [
  ...["/v1/", "/live", "/search", "/developers"],
  ...["cursor", "sort", "traits", "type", "min_price", "max_price", "marketplace", "listed"].map(
    (name) => `/*${name}=`,
  ),
];

const robots = (origin: string) =>
  [
    "User-agent: *",

    ...unlisted.map((path) => `Disallow: ${path}`),
    `Sitemap: ${origin}/sitemap.xml`,
  ]
    .join("\n")
    .concat("\n");

const manifest = (name: string) => ({
  ...{ name, short_name: name, start_url: "/", display: "browser" },
  ...{ background_color: "#ffffff", theme_color: "#2456d6" },
  icons: [{ src: "/assets/site/icon.svg", sizes: "any", type: "image/svg+xml" }],
});

type Sharing = MarketSite & {
  /** Where weaknesses are reported to: an address of mail or the web; null: nobody said. */
  readonly securityContact: string | null;
};

/** Serves what programs ask a site for: which pages they may read, and which there are. */
export function mountSharing(app: Express, site: Sharing): void {
  const { origin, securityContact } = site;
  mountCards(app, site);
  const before = beforePages(site);
  const fixed = (path: string, type: string, text: string) =>
    servePath(app, path, {
      get: [sendFixed(textDocument({ type, text, cacheControl: day }))],
    });
  fixed("/robots.txt", plain, robots(origin));
  fixed(
    "/site.webmanifest",
    "application/manifest+json",
    JSON.stringify(manifest(marketSite.name)),
  );
  if (securityContact !== null)
    servePath(app, "/.well-known/security.txt", {
      get: [answerSecurity(origin, securityContact, site.context.now)],
    });
  const serve = (make: MakeMap) => ({ get: [...before, serveMap(site, make)] });
  const { chains } = site.context;
  servePath(
    app,
    "/sitemap.xml",
    serve((read) => sitemapIndex(read, chains, origin)),
  );
  servePath(
    app,
    "/sitemaps/{chainId}/{kind}/{page}",
    serve(async (read, request) => {
      const { key } = pageInputOf(request);
      const named = { chainId: key("chainId"), kind: key("kind"), page: key("page") };
      const isServed = chains.some((one) => String(one) === named.chainId);
      return isServed ? sitemapPart(read, named, origin) : null;
    }),
  );
}

/** A card counts as a picture does, and reads as a page does. */
function mountCards(app: Express, site: Sharing): void {
  const before = site.limiter === undefined ? [] : [limitPictures(site.limiter)];
  for (const [path, , options] of site.pages) {
    if (options?.card === undefined) continue;
    const get = [...before, withSlot(site, serveCard(site, options.card))];
    servePath(app, `/cards${path}`, { get });
  }
}

const plain = "text/plain; charset=utf-8";
const day = "public, max-age=86400";
const hour = "public, max-age=3600";

/** Days that a `security.txt` says it is good for (RFC 9116): it is made anew each day. */
const securityDays = 180;

function answerSecurity(origin: string, contact: string, now: () => Date): RequestHandler {
  return (request, response) => {
    const today = new Date(now().toISOString().slice(0, 10));
    const end = new Date(today.getTime() + securityDays * 86_400_000);
    const canonical = `${origin}/.well-known/security.txt`;
    const lines = [
      `Contact: ${contact}`,
      `Expires: ${end.toISOString()}`,
      `Canonical: ${canonical}`,
    ];
    return sendText(request, response, {
      ...{ type: plain, cacheControl: day },
      text: `${lines.join("\n")}\n`,
    });
  };
}

type MakeMap = (read: Reader["read"], request: Request) => Promise<string | null>;

/** A map is read in one snapshot and cached, as a page is. */
function serveMap(site: SiteContext, make: MakeMap): RequestHandler {
  const { context, reads, logger, explain } = site;
  return async (request, response) => {
    const address = addressWith(request, []);
    const source = { request: address, reads, loadClass: "lists", atLeast: 0n } as const;
    try {
      const text = await reads.inSnapshot(source, ({ db }) =>
        make(openReader({ ...context, db }).read, request),
      );
      if (text === null) sendStatus(response, 404);
      else
        await sendDocument(
          request,
          response,
          textDocument({ type: "application/xml; charset=utf-8", text, cacheControl: hour }),
        );
    } catch (error) {
      if (error instanceof RefusedRead) sendStatus(response, error.status);
      else
        sendStatus(response, pageFault(await explain(error), { request, response, logger }).status);
    }
  };
}

const sendStatus = (response: Response, status: number): void => {
  response.status(status).set("Cache-Control", "no-store").type("txt").end(`${status}\n`);
};
