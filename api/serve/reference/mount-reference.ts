import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Express, RequestHandler } from "express";
import { sendFixed, textDocument } from "#api/http/answer.ts";
import { servePath } from "#api/http/mount.ts";
import { pageHeaders } from "#api/http/security.ts";
import { styleSheet } from "./style.ts";

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
