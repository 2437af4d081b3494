import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Express, RequestHandler } from "express";
import { sendFixed, textDocument } from "../http/answer.ts";
import { servePath } from "../http/mount.ts";
import { pageHeaders } from "../http/security.ts";

const require = createRequire(import.meta.url);
const swaggerUi = dirname(require.resolve("swagger-ui-dist/package.json"));

/** The page of `/v1`, and what all pages of a reference are made of. */
export function mountReference(app: Express): void {
  serveReference(app, { path: "/docs", api: "", document: "/v1/openapi.json" });
  serve(app, "/docs/swagger-ui.css", packaged("swagger-ui.css", "text/css; charset=utf-8"));
  serve(
    app,
    "/docs/swagger-ui-bundle.js",
    packaged("swagger-ui-bundle.js", "text/javascript; charset=utf-8"),
  );
  serve(app, "/assets/style.css", fixed("text/css; charset=utf-8", styleSheet));
}

type Reference = {
  /** Of the page. */
  readonly path: string;
  /** Path prefix of the API; the document's paths are relative to it. */
  readonly api: string;
  /** Path of its document, from there. */
  readonly document: string;
};

/** Swagger UI over our own document, from our own host: nothing is fetched elsewhere. */
export function serveReference(app: Express, reference: Reference): void {
  serve(app, reference.path, fixed("text/html; charset=utf-8", pageOf(reference)));
  serve(
    app,
    `${reference.path}/start.js`,
    fixed("text/javascript; charset=utf-8", startOf(reference)),
  );
}

function serve(app: Express, path: string, handler: RequestHandler): void {
  servePath(app, path, { get: [pageHeaders, handler] });
}

function fixed(type: string, text: string): RequestHandler {
  return sendFixed(textDocument({ type, text, cacheControl: "no-cache" }));
}

function packaged(file: string, type: string): RequestHandler {
  const text = readFileSync(join(swaggerUi, file));
  return sendFixed(textDocument({ type, text, cacheControl: "public, max-age=3600" }));
}

const pageOf = ({ path, api, document }: Reference) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API reference</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="stylesheet" href="/assets/style.css">
</head>
<body class="reference">
<header><strong>API reference</strong><a href="/">Market</a><a href="${api}${document}">openapi.json</a></header>
<div id="reference"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="${path}/start.js"></script>
</body>
</html>
`;

/** The server list is taken from the page's own address, so that trying out works behind any name. */
const startOf = ({ api, document }: Reference) => `SwaggerUIBundle({
  url: "${api}${document}",
  dom_id: "#reference",
  deepLinking: true,
  defaultModelsExpandDepth: -1,
  docExpansion: "list",
  tryItOutEnabled: true,
  displayRequestDuration: true,
  validatorUrl: null,
  responseInterceptor: (response) => {
    if (response.url.endsWith("${api}${document}") && response.body && response.body.servers) {
      response.body.servers = [{ url: location.origin + "${api}" }];
    }
    return response;
  },
});
`;

type Response = {
  readonly content?: {
    readonly "application/json"?: {
      readonly schema?: {
        readonly properties?: { readonly code?: { readonly enum?: readonly string[] } };
      };
    };
  };
};
type Operation = {
  readonly summary?: string;
  readonly operationId?: string;
  readonly responses?: Readonly<Record<string, Response>>;
};

type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

type Document = {
  readonly info: { readonly title: string; readonly description?: string };
  readonly paths: object;
};

/** `/llms.txt`: the API in one text for language models (llmstxt.org): where its documents are, and every operation by name. */
function llmsText({ info, paths }: Document, baseUrl: string): string {
  const operations = Object.entries(paths as Paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, { summary = "", operationId = "", responses = {} }]) =>
        `- \`${operationId}\`: ${method.toUpperCase()} ${path} — ${summary}${codesOf(responses)}`,
    ),
  );
  return [
    `# ${info.title}`,
    `> ${info.description ?? info.title}`,
    "Answers are JSON: `{ success, data, meta }`, or `{ success, code, message, details }` with one of the operation's codes. Lists go on with `cursor` = `meta.next_cursor`; `fields=a,b` sends only these fields of each row. A key is sent as `X-API-Key`; without one a lower limit applies. Nothing is signed or sent by the API: it returns what a wallet signs and sends.",
    "## Documents",
    `- [OpenAPI](${baseUrl}/v1/openapi.json): every parameter, answer, example and error code`,
    `- [Reference](${baseUrl}/docs): the same to read and to try`,
    `- Tools for agents: MCP over HTTP at ${baseUrl}/mcp`,
    `- [Status](${baseUrl}/v1/status): chains, and how far they are indexed`,
    "## Operations",
    operations.join("\n"),
    "",
  ].join("\n\n");
}

/** The codes of an operation's refusals, which answer with a status of their own. */
function codesOf(responses: Readonly<Record<string, Response>>): string {
  const codes = Object.values(responses).flatMap(
    ({ content }) => content?.["application/json"]?.schema?.properties?.code?.enum ?? [],
  );
  return codes.length === 0 ? "" : `. Codes: ${[...new Set(codes)].join(", ")}`;
}

export function llmsDocument(document: Document, baseUrl: string) {
  const type = "text/plain; charset=utf-8";
  return textDocument({ type, text: llmsText(document, baseUrl), cacheControl: "no-cache" });
}

/** One sheet for the landing page and the reference. Only system fonts, so that nothing is fetched elsewhere. */
const styleSheet = `
:root { color-scheme: light dark; --ink: #1b1f24; --quiet: #5b6470; --line: #d9dee4; --paper: #fff; --link: #0b57d0; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 46rem; margin: 0 auto; padding: 3rem 1.25rem; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 .5rem; }
h2 { font-size: 1rem; margin: 2rem 0 .5rem; }
p, li span { color: var(--quiet); }
ul { list-style: none; margin: 0; padding: 0; border-top: 1px solid var(--line); }
li { display: flex; flex-wrap: wrap; gap: 0 1rem; padding: .6rem 0; border-bottom: 1px solid var(--line); }
li a { flex: 0 0 21rem; max-width: 100%; }
a { color: var(--link); overflow-wrap: anywhere; }
code, pre { font: .875rem/1.5 ui-monospace, monospace; }
pre { margin: 0; padding: .75rem 1rem; border: 1px solid var(--line); border-radius: 6px; overflow-x: auto; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ed; --quiet: #9aa4b0; --line: #30363d; --paper: #14171a; --link: #8ab4f8; }
}
body.reference { --paper: #fff; color-scheme: light; }
.reference header { display: flex; gap: 1rem; align-items: baseline; padding: .75rem 1.25rem; border-bottom: 1px solid #d9dee4; }
.reference header a { color: #0b57d0; }
.reference main { max-width: none; padding: 0; }
.reference .swagger-ui { max-width: 72rem; margin: 0 auto; }
.reference .swagger-ui, .reference .swagger-ui .info .title, .reference .swagger-ui .opblock-tag,
.reference .swagger-ui .opblock .opblock-summary-description { font-family: system-ui, sans-serif; }
.reference .swagger-ui .info { margin: 1.5rem 0 .5rem; }
.reference .swagger-ui .scheme-container { padding: 1rem 0; margin: 0; box-shadow: none; }
.reference .swagger-ui .opblock { box-shadow: none; }
`;
