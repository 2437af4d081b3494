import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ErrorRequestHandler, Express, Request, RequestHandler, Response } from "express";
import helmet from "helmet";
import type { Logger } from "pino";
import { sendFixed, textDocument } from "#api/http/answer.ts";
import { databaseRefusal } from "#api/http/failures.ts";
import { servePath } from "#api/http/mount.ts";
import { loggedPath, requestIdOf } from "#api/http/request.ts";
import { pagePolicy } from "#api/http/security.ts";
import type { Website } from "./document.ts";
import type { Html } from "./html.ts";

type HeaderOptions = {
  readonly referrer: "no-referrer" | "same-origin";
  readonly cacheControl?: string;
  /** Further sources of the policy, or others than by default. */
  readonly sources?: Readonly<Record<string, readonly string[]>>;
};

/** For all pages of a site: scripts, styles, images and forms of its own only, and no other site reads them. */
export function websiteHeaders({ referrer, cacheControl, sources }: HeaderOptions): RequestHandler {
  const secure = helmet({
    contentSecurityPolicy: pagePolicy({
      "img-src": ["'self'"],
      "form-action": ["'self'"],
      ...sources,
    }),
    referrerPolicy: { policy: referrer },
  });
  return (request, response, next) => {
    response.removeHeader("Access-Control-Allow-Origin");
    response.removeHeader("Access-Control-Expose-Headers");
    if (cacheControl !== undefined) response.set("Cache-Control", cacheControl);
    secure(request, response, next);
  };
}

type AssetFiles = {
  readonly icon: string;
  /** Paths of files; the styles become one sheet. */
  readonly styles: readonly string[];
  readonly script: string;
  /** What the script imports, by their own names. */
  readonly modules?: readonly string[];
};

const shared = join(import.meta.dirname, "../assets");

/** The path of a file that several sites may have. */
export const sharedAsset = (name: string): string => join(shared, name);

const javascript = "text/javascript; charset=utf-8";

/** Serves a site's icon, sheet and scripts where its pages look for them. `headers`: where the app sets none of its own. */
export function mountAssets(
  app: Express,
  { assets, files }: Website,
  { icon, styles, script, modules = [] }: AssetFiles,
  headers?: RequestHandler,
): void {
  const before = headers === undefined ? [] : [headers];
  const read = (path: string) => readFileSync(path, "utf8");
  const all: [name: string, type: string, text: string][] = [
    ["icon.svg", "image/svg+xml", icon],
    [`${files}.css`, "text/css; charset=utf-8", styles.map(read).join("")],
    [`${files}.js`, javascript, read(script)],
    ...modules.map((name): [string, string, string] => [name, javascript, read(sharedAsset(name))]),
  ];
  for (const [name, type, text] of all) {
    const document = textDocument({ type, text, cacheControl: "no-cache" });
    servePath(app, `${assets}/${name}`, { get: [...before, sendFixed(document)] });
  }
}

/** Sends a page that was made for this request alone. */
export function sendHtml(response: Response, { text }: Html, status = 200): void {
  response.status(status).type("html").end(text);
}

/** Why a page cannot be shown. */
export type PageFault = { readonly status: number; readonly title: string; readonly why: string };

const title = "This page cannot be shown";

type Failed = { readonly request: Request; readonly response: Response; readonly logger: Logger };

/** What a page says of a thrown error, whose cause is only in the log. `Retry-After` is set where waiting helps. */
export function pageFault(error: unknown, failed: Failed): PageFault {
  if (databaseRefusal(error, failed) !== undefined) {
    const why = "This cannot be read at present. Reload the page in a few seconds.";
    return { status: 503, title, why };
  }
  const { request, response, logger } = failed;
  const { method } = request;
  const [requestId, path] = [requestIdOf(response), loggedPath(request)];
  logger.error({ err: error, requestId, method, path }, "request failed");
  const why = `Something went wrong here. Try again; request id ${requestId}.`;
  return { status: 500, title, why };
}

/** What Express and its parser say of a form or an address. */
function requestFault(error: unknown): PageFault | undefined {
  const status = error instanceof Error && "status" in error ? Number(error.status) : 500;
  if (!(status >= 400 && status < 500)) return undefined;
  return { status, title, why: "What was sent is too large or malformed." };
}

/** Errors of a site are answered with its page. */
export function answerFaults(
  logger: Logger,
  send: (request: Request, response: Response, fault: PageFault) => void,
): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    if (response.headersSent) next(error);
    else {
      const fault = requestFault(error) ?? pageFault(error, { request, response, logger });
      send(request, response, fault);
    }
  };
}
