import express, { type Express, type RequestHandler } from "express";
import { isRejection, reject } from "../../projections/domain/rejection.ts";
import { sendJson, sendRejection } from "./answer.ts";
import { nextLink } from "./page.ts";
import type { Answer, Route } from "./route.ts";

type Methods = { get?: RequestHandler[]; post?: RequestHandler[] };

/** Serves a path: its methods, HEAD with GET, OPTIONS, and 405 for the others. `path` as in OpenAPI. */
export function servePath(app: Express, path: string, methods: Methods): void {
  const pattern = path.replaceAll(/\{(\w+)\}/g, ":$1");
  const allow = [
    ...(methods.get ? ["GET", "HEAD"] : []),
    ...(methods.post ? ["POST"] : []),
    "OPTIONS",
  ];
  const mark: RequestHandler = (_request, response, next) => {
    response.locals.route = path;
    next();
  };
  const others: RequestHandler = (request, response) => {
    response.set("Allow", allow.join(", "));
    if (request.method === "OPTIONS") {
      response.status(204).end();
      return;
    }
    const message = `${request.method} is not served here; ${allow.join(", ")} are`;
    sendRejection(response, 405, reject("method_not_allowed", message));
  };
  app.all(pattern, mark);
  if (methods.get) app.get(pattern, ...methods.get);
  if (methods.post) app.post(pattern, ...methods.post);
  app.all(pattern, others);
}

/** Mounts the table. Routes of one path share its 405. */
export function mountRoutes<Context>(
  app: Express,
  routes: readonly Route<Context>[],
  context: Context,
  baseUrl: string,
): void {
  const paths = new Map<string, Methods>();
  for (const route of routes) {
    const methods = paths.get(route.path) ?? {};
    methods[route.method] = [...bodyParsers(route), handler(route, context, baseUrl)];
    paths.set(route.path, methods);
  }
  for (const [path, methods] of paths) servePath(app, path, methods);
}

/** Any content type is read as JSON: a caller who forgets the header is still understood. */
function bodyParsers<Context>({ body, maxBodyBytes = 16_384 }: Route<Context>): RequestHandler[] {
  return body === undefined ? [] : [express.json({ type: () => true, limit: maxBodyBytes })];
}

function handler<Context>(
  route: Route<Context>,
  context: Context,
  baseUrl: string,
): RequestHandler {
  return async (request, response) => {
    const { params, query, body } = request;
    const answer = await route.answer({ params, query, body }, context);
    if (isRejection(answer)) {
      const status = route.refuses[answer.rejected];
      if (status === undefined)
        throw new Error(`${route.path} does not declare ${answer.rejected}`);
      sendRejection(response, status, answer);
      return;
    }
    const next = nextLink(baseUrl, request.originalUrl, answer.meta);
    if (next !== undefined) response.set("Link", next);
    sendJson(request, response, envelope(answer), route.maxAgeSeconds);
  };
}

function envelope({ data, meta }: Answer): Record<string, unknown> {
  return meta === undefined ? { success: true, data } : { success: true, data, meta };
}
