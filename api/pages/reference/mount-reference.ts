import type { Express, RequestHandler } from "express";
import { sendFixed, sendText, textDocument } from "../../http/answer.ts";
import { type Limiter, limitDocuments } from "../../http/limit.ts";
import { servePath } from "../../http/mount.ts";
import type { ApiDocument } from "../../reference/api-document.ts";
import type { Html } from "../kit/html.ts";
import { mountAssets, sendHtml, sharedAsset, websiteHeaders } from "../kit/serve-website.ts";
import { readGuides } from "./guides.ts";
import { type ReferenceApi, referenceSite } from "./layout.ts";
import { openReferencePages } from "./reference-pages.ts";

/** Its pages call the API that they describe. */
export const referenceHeaders = websiteHeaders({
  referrer: "no-referrer",
  sources: { "connect-src": ["'self'"] },
});

/** `/v1`, and the account API where it is served; the server of its document includes its path. */
export function describedApis(
  market: ApiDocument,
  account: (ApiDocument & { readonly servers?: readonly { url?: string }[] }) | undefined,
  baseUrl: string,
): ReferenceApi[] {
  const first: ReferenceApi = {
    path: "/docs",
    baseUrl,
    documentPath: "/v1/openapi.json",
    credential: { header: "X-API-Key", value: "YOUR_KEY" },
    hasClient: true,
    document: market,
  };
  const url = account?.servers?.[0]?.url;
  if (account === undefined || url === undefined) return [first];
  const { pathname } = new URL(url);
  const second: ReferenceApi = {
    path: `${pathname}/docs`,
    baseUrl: url,
    documentPath: `${pathname}/openapi.json`,
    credential: { header: "Authorization", value: "Bearer YOUR_TOKEN" },
    hasClient: false,
    document: account,
  };
  return [first, second];
}

/** The references of some APIs, and what they share. They count with the other documents. */
export function mountReferences(
  app: Express,
  apis: readonly ReferenceApi[],
  limiter: Limiter | undefined,
): void {
  const documents = ["/llms.txt", "/postman.json", ...apis.map(({ path }) => path)];
  if (limiter !== undefined) app.use(documents, limitDocuments(limiter));
  const files = {
    icon,
    styles: ["base.css", "reference.css"].map(sharedAsset),
    script: sharedAsset("reference.js"),
  };
  mountAssets(app, referenceSite, files, referenceHeaders);
  for (const api of apis) mountReference(app, api);
}

/** The reference of an API, made from its document when it is first asked for. The guides stand in the first one. */
function mountReference(app: Express, api: ReferenceApi): void {
  const pages = once(() => openReferencePages(api, api.hasClient ? readGuides(api.baseUrl) : []));
  const serve = (path: string, handler: RequestHandler) =>
    servePath(app, path, { get: [referenceHeaders, handler] });

  const overview = once(() => sendPage(pages().overview()));
  serve(api.path, (request, response, next) => {
    const { q } = request.query;
    const text = typeof q === "string" ? q.trim().slice(0, maxSearch) : "";
    if (text === "") return overview()(request, response, next);
    return sendText(request, response, textOf(pages().search(text)));
  });
  if (api.hasClient) {
    const errors = once(() => sendPage(pages().errors()));
    serve(`${api.path}/errors`, (...call) => errors()(...call));
    serve(`${api.path}/guides/{name}`, byName(pages, "name", "guide"));
  }
  serve(`${api.path}/operations/{id}`, byName(pages, "id", "operation"));
}

const maxSearch = 100;

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

const textOf = ({ text }: Html) =>
  ({ type: "text/html; charset=utf-8", text, cacheControl: "no-cache" }) as const;

/** A page that is the same while the process runs. */
const sendPage = (page: Html): RequestHandler => sendFixed(textDocument(textOf(page)));

/** The page of a name in the path. There are as many as there are endpoints and guides. */
function byName(
  pages: () => ReturnType<typeof openReferencePages>,
  parameter: string,
  kind: "guide" | "operation",
): RequestHandler {
  const known = new Map<string, RequestHandler>();
  return (request, response, next) => {
    const name = String(request.params[parameter]);
    const page = known.has(name) ? null : pages()[kind](name);
    if (page !== null) known.set(name, sendPage(page));
    const send = known.get(name);
    if (send !== undefined) return send(request, response, next);
    return sendHtml(response, pages().missing(), 404);
  };
}

/** The favicon: a page with lines. */
const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#2456d6"/><path d="M9 10h14M9 16h14M9 22h9" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round"/></svg>
`;
