import type { Express, Request, RequestHandler, Response } from "express";
import { isRejection, reject } from "../../../projections/domain/rejection.ts";
import {
  type Document,
  jsonDocument,
  mediaDocument,
  sendDocument,
  sendRejection,
  sendResult,
} from "./answer.ts";
import { jsonBody } from "./body/json-body.ts";
import { callerAddress } from "./caller-address.ts";
import type { ConcurrencyLimiter } from "./concurrency/concurrency-limiter.ts";
import { limitConcurrency } from "./concurrency/limit-concurrency.ts";
import type { LoadClass } from "./concurrency/load-class.ts";
import { type Envelope, metaEnvelope } from "./envelope.ts";
import { keyOf } from "./limit.ts";
import { nextLink } from "./page.ts";
import { requireScope } from "./require-scope.ts";
import type { ResponseCache } from "./response-cache.ts";
import {
  type Answer,
  type Input,
  invalidCode,
  type Refusal,
  type Refused,
  type Route,
  scopeOf,
  successesOf,
} from "./route.ts";
import type { SlowRequests } from "./slow-requests.ts";

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

/** What all routes of one API share. */
export type ApiProfile = {
  readonly envelope: Envelope;
  /** Prepended to the path of each route. */
  readonly prefix: string;
  /** WWW-Authenticate of a route's own 401. */
  readonly challenge?: string;
  /** Cache for the responses of cacheable routes; without it nothing is cached. */
  readonly cache?: ResponseCache | undefined;
  /** Limits of concurrency; without them every request starts at once. */
  readonly concurrency?: ConcurrencyLimiter | undefined;
  /** Reads that took too long; without it each is tried again. */
  readonly slowRequests?: SlowRequests | undefined;
};

/** Mounts the table. Routes of one path share its 405. `contextOf`: what routes of a class use. */
export function mountRoutes<Context>(
  app: Express,
  routes: readonly Route<Context>[],
  contextOf: (loadClass: LoadClass) => Context,
  baseUrl: string,
  manner: ApiProfile = { envelope: metaEnvelope, prefix: "" },
): void {
  const paths = new Map<string, Methods>();
  for (const route of routes) {
    const path = manner.prefix + route.path;
    const methods = paths.get(path) ?? {};
    const { loadClass = "data" } = route;
    const handle = handler(route, contextOf(loadClass), baseUrl, manner);
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
  { concurrency, slowRequests }: ApiProfile,
): RequestHandler {
  const inSlot =
    concurrency === undefined ? handle : limitConcurrency(concurrency, loadClass, handle);
  if (slowRequests === undefined || method === "post") return inSlot;
  return (request, response) =>
    slowRequests.read(request.originalUrl, () => inSlot(request, response));
}

/** A static path segment may match another path's parameter, so static paths are mounted first. */
function staticPathsFirst(paths: readonly [string, Methods][]): [string, Methods][] {
  return paths.toSorted(
    ([one], [other]) => Number(one.includes("{")) - Number(other.includes("{")),
  );
}

function bodyParsers<Context>(route: Route<Context>, { challenge }: ApiProfile): RequestHandler[] {
  if (route.body === undefined) return [];
  const invalid = invalidCode(route);
  const refuse = (response: Response, message: string) =>
    sendRefusal(response, route.refuses[invalid] ?? 422, reject(invalid, message), challenge);
  return [jsonBody(route.bodyLimits ?? {}, refuse)];
}

function handler<Context>(
  route: Route<Context>,
  context: Context,
  baseUrl: string,
  { envelope, challenge, cache }: ApiProfile,
): (request: Request, response: Response) => Promise<void> {
  const refuse = (response: Response, rejection: Refused) => {
    const refusal = route.refuses[rejection.rejected];
    if (refusal === undefined)
      throw new Error(`${route.path} does not declare ${rejection.rejected}`);
    sendRefusal(response, refusal, rejection, challenge);
  };
  if (route.method === "post") {
    return async (request, response) => {
      const answer = await route.answer(inputOf(request, response), context);
      if (isRejection(answer)) refuse(response, answer);
      else sendResult(response, statusOf(answer, route), bodyOf(answer, envelope));
    };
  }
  const make = async (
    request: Request,
    response: Response,
    given: Context,
  ): Promise<Document | Refused> => {
    const answer = await route.answer(inputOf(request, response), given);
    if (isRejection(answer)) return answer;
    const maxAgeSeconds = answer.maxAgeSeconds ?? route.maxAgeSeconds;
    if (answer.media !== undefined) return mediaDocument(answer.media, maxAgeSeconds);
    const link = nextLink(baseUrl, request.originalUrl, answer.meta);
    const { isVolatile = false } = answer;
    return jsonDocument(bodyOf(answer, envelope), { link, maxAgeSeconds, isVolatile });
  };
  const responses = route.isCacheable === true ? cache : undefined;
  return async (request, response) => {
    const made = await (responses === undefined
      ? make(request, response, context)
      : responses.get(request.originalUrl, (now) =>
          make(request, response, { ...context, now: () => now }),
        ));
    if (isRejection(made)) refuse(response, made);
    else await sendDocument(request, response, made);
  };
}

function inputOf(request: Request, response: Response): Input {
  const { params, query, body } = request;
  return { params, query, body, address: callerAddress(request), key: keyOf(response) };
}

function sendRefusal(
  response: Response,
  refusal: Refusal,
  rejection: Refused,
  challenge: string | undefined,
): void {
  const { status, ...extra } = typeof refusal === "number" ? { status: refusal } : refusal;
  const fallback = status === 503 ? unavailableSeconds : undefined;
  const retryAfterSeconds = rejection.retryAfterSeconds ?? fallback;
  if (status === 401 && challenge !== undefined) response.set("WWW-Authenticate", challenge);
  if (retryAfterSeconds !== undefined) response.set("Retry-After", String(retryAfterSeconds));
  sendRejection(response, status, rejection, extra);
}

/** `Retry-After` of a 503 that does not say when it ends, as of a chain that does not answer. */
export const unavailableSeconds = 5;

function statusOf<Context>({ status }: Answer, route: Route<Context>): number {
  const [first, ...others] = Object.keys(successesOf(route));
  if (status === undefined && others.length > 0)
    throw new Error(`${route.path} does not say which success its answer is`);
  return status ?? Number(first);
}

function bodyOf({ data, meta, batch }: Answer, { wrap }: Envelope): Record<string, unknown> {
  if (batch === undefined) return wrap({ data, meta });
  const { message, isDone } = batch;
  return { success: isDone, message, ...(!isDone && { error: message }), data };
}
