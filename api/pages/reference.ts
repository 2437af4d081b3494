import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Express, RequestHandler } from "express";
import { sendText } from "../http/answer.ts";
import { servePath } from "../http/mount.ts";
import { pageHeaders } from "../http/security.ts";
import { styleSheet } from "./style.ts";

const require = createRequire(import.meta.url);
const swaggerUi = dirname(require.resolve("swagger-ui-dist/package.json"));

/** Swagger UI over our own document, from our own host: nothing is fetched elsewhere. */
export function mountReference(app: Express): void {
  const serve = (path: string, ...handlers: RequestHandler[]) =>
    servePath(app, path, { get: [pageHeaders, ...handlers] });
  serve("/docs", fixed("text/html; charset=utf-8", page));
  serve("/docs/start.js", fixed("text/javascript; charset=utf-8", start));
  serve("/docs/swagger-ui.css", packaged("swagger-ui.css"));
  serve("/docs/swagger-ui-bundle.js", packaged("swagger-ui-bundle.js"));
  serve("/assets/style.css", fixed("text/css; charset=utf-8", styleSheet));
}

function fixed(type: string, text: string): RequestHandler {
  return (request, response) =>
    sendText(request, response, { type, text, cacheControl: "no-cache" });
}

function packaged(file: string): RequestHandler {
  return (_request, response) => {
    response.sendFile(join(swaggerUi, file), { maxAge: "1h" });
  };
}

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API reference</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="stylesheet" href="/assets/style.css">
</head>
<body class="reference">
<header><strong>API reference</strong><a href="/">Overview</a><a href="/v1/openapi.json">openapi.json</a></header>
<div id="reference"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;

/** The server list is taken from the page's own address, so that trying out works behind any name. */
const start = `SwaggerUIBundle({
  url: "/v1/openapi.json",
  dom_id: "#reference",
  deepLinking: true,
  defaultModelsExpandDepth: -1,
  docExpansion: "list",
  tryItOutEnabled: true,
  displayRequestDuration: true,
  validatorUrl: null,
  responseInterceptor: (response) => {
    if (response.url.endsWith("/v1/openapi.json") && response.body && response.body.servers) {
      response.body.servers = [{ url: location.origin }];
    }
    return response;
  },
});
`;
