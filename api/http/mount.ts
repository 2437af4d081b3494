import { type IRouter, type Request, type RequestHandler, type Response, Router } from "express";
import { reject } from "#projections/domain/rejection.ts";
import { sendRejection } from "./answer.ts";
import { type ApiProfile, metaEnvelope } from "./api-profile.ts";
import { jsonBody } from "./body.ts";
import { type LoadClass, limitConcurrency } from "./concurrency.ts";
import { handler, sendRefusal } from "./handler.ts";
import { keyOf, limitRefusals, type Scope } from "./limit.ts";
import { parametersOf, refuseUnknownParameters } from "./query.ts";
import { addressOf } from "./reads/position.ts";
import { invalidCode, type Route, scopeOf } from "./route.ts";

type Methods = { get?: RequestHandler[]; post?: RequestHandler[] };

/**
 * Serves a path: its methods, HEAD with GET, OPTIONS, and 405 for the others. `path` as in OpenAPI, from the router's own
 * place; `label`: the whole of it, for metrics.
 */
export function servePath(router: IRouter, path: string, methods: Methods, label = path): void {
  const pattern = path.replaceAll(/\{(\w+)\}/g, ":$1");
  const allow = [
    ...(methods.get ? ["GET", "HEAD"] : []),
    ...(methods.post ? ["POST"] : []),
    "OPTIONS",
  ];
  const setRouteLabel: RequestHandler = (_request, response, next) => {
    response.locals.route = label;
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
  // One route: each is compared with the paths of requests for all that follow it.
  const route = router.route(pattern).all(setRouteLabel);
  if (methods.get) route.get(...methods.get);
  if (methods.post) route.post(...methods.post);
  route.all(others);
}

/**
 * Mounts the table. Routes of one path share its 405. Those whose first segment is the same are behind one router, so that
 * no other request is compared with each of them. `context`: what all routes use, `db` is replaced for each.
 */
export function mountRoutes<Context>(
  app: IRouter,
  routes: readonly Route<Context>[],
  context: Context,
  baseUrl: string,
  profile: ApiProfile = { envelope: metaEnvelope, prefix: "" },
): void {
  const paths = new Map<string, Methods>();
  for (const route of routes) {
    const path = profile.prefix + route.path;
    const methods = paths.get(path) ?? {};
    const { loadClass = "data" } = route;
    const handle = handler(route, context, baseUrl, profile);
    const scope = scopeOf(route);
    // After the body: who sends one byte by byte takes no slot.
    methods[route.method] = [
      ...(scope === null ? [] : [requireScope(scope)]),
      refuseUnknownParameters(parametersOf(route, profile.parameters)),
      ...bodyParsers(route, profile),
      limited(route.method, loadClass, handle, profile),
    ];
    paths.set(path, methods);
  }
  const routers = new Map<string, IRouter>();
  for (const [path, methods] of staticPathsFirst([...paths])) {
    const place = /^\/[^/]*/.exec(path)?.[0] ?? "/";
    const router = routers.get(place) ?? Router();
    routers.set(place, router);
    servePath(router, path.slice(place.length) || "/", methods, path);
  }
  for (const [place, router] of routers) app.use(place, router);
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

/** Why the key of a request may not be used for something; undefined: it may. */
export function scopeRefusal(scope: Scope, response: Response) {
  const held = keyOf(response)?.scopes ?? null;
  if (held === null || held.includes(scope)) return undefined;
  const message = `This key may not be used here: it has the scopes ${held.join(", ")}, not ${scope}`;
  return reject("insufficient_scope", message);
}

/** Refuses keys that lack the scope of an endpoint. */
export function requireScope(scope: Scope): RequestHandler {
  return (_request, response, next) => {
    const refused = scopeRefusal(scope, response);
    if (refused === undefined) next();
    else sendRejection(response, limitRefusals.insufficient_scope, refused);
  };
}
