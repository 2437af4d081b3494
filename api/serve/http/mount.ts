import type { Express, Request, RequestHandler, Response } from "express";
import { reject } from "../../../projections/domain/rejection.ts";
import { sendRejection } from "./answer.ts";
import type { ApiProfile } from "./api-profile.ts";
import { jsonBody } from "./body/json-body.ts";
import { limitConcurrency } from "./concurrency/limit-concurrency.ts";
import type { LoadClass } from "./concurrency/load-class.ts";
import { metaEnvelope } from "./envelope.ts";
import { handler, sendRefusal } from "./handler.ts";
import { addressOf } from "./reads/position.ts";
import { requireScope } from "./require-scope.ts";
import { invalidCode, type Route, scopeOf } from "./route.ts";

type Methods = { get?: RequestHandler[]; post?: RequestHandler[] };

/** Serves a path: its methods, HEAD with GET, OPTIONS, and 405 for the others. `path` as in OpenAPI. */
export function servePath(app: Express, path: string, methods: Methods): void {
  const pattern = path.replaceAll(/\{(\w+)\}/g, ":$1");
  const allow = [
    ...(methods.get ? ["GET", "HEAD"] : []),
    ...(methods.post ? ["POST"] : []),
    "OPTIONS",
  ];
  const setRouteLabel: RequestHandler = (_request, response, next) => {
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
  app.all(pattern, setRouteLabel);
  if (methods.get) app.get(pattern, ...methods.get);
  if (methods.post) app.post(pattern, ...methods.post);
  app.all(pattern, others);
}

/** Mounts the table. Routes of one path share its 405. `context`: what all routes use, `db` is replaced for each. */
export function mountRoutes<Context>(
  app: Express,
  routes: readonly Route<Context>[],
  context: Context,
  baseUrl: string,
  manner: ApiProfile<Context> = { envelope: metaEnvelope, prefix: "" },
): void {
  const paths = new Map<string, Methods>();
  for (const route of routes) {
    const path = manner.prefix + route.path;
    const methods = paths.get(path) ?? {};
    const { loadClass = "data" } = route;
    const handle = handler(route, context, baseUrl, manner);
    const scope = scopeOf(route);
    // After the body: who sends one byte by byte takes no slot.
    methods[route.method] = [
      ...(scope === null ? [] : [requireScope(scope)]),
      ...bodyParsers(route, manner),
      limited(route.method, loadClass, handle, manner),
    ];
    paths.set(path, methods);
  }
  for (const [path, methods] of staticPathsFirst([...paths])) servePath(app, path, methods);
}

/** What took too long a moment ago is refused before it takes a slot. */
function limited(
  method: "get" | "post",
  loadClass: LoadClass,
  handle: (request: Request, response: Response) => Promise<void>,
  { concurrency, slowRequests }: Pick<ApiProfile, "concurrency" | "slowRequests">,
): RequestHandler {
  const inSlot =
    concurrency === undefined ? handle : limitConcurrency(concurrency, loadClass, handle);
  if (slowRequests === undefined || method === "post") return inSlot;
  return (request, response) =>
    slowRequests.read(addressOf(request), () => inSlot(request, response));
}

/** A static path segment may match another path's parameter, so static paths are mounted first. */
function staticPathsFirst(paths: readonly [string, Methods][]): [string, Methods][] {
  return paths.toSorted(
    ([one], [other]) => Number(one.includes("{")) - Number(other.includes("{")),
  );
}

function bodyParsers<Context>(
  route: Route<Context>,
  { challenge }: Pick<ApiProfile, "challenge">,
): RequestHandler[] {
  if (route.body === undefined) return [];
  const invalid = invalidCode(route);
  const refuse = (response: Response, message: string) =>
    sendRefusal(response, route.refuses[invalid] ?? 422, reject(invalid, message), challenge);
  return [jsonBody(route.bodyLimits ?? {}, refuse)];
}
