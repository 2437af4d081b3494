import express, { type Express, type Request, type RequestHandler, type Response } from "express";
import { isRejection, reject } from "../../../projections/domain/rejection.ts";
import { type Document, jsonDocument, sendDocument, sendRejection, sendResult } from "./answer.ts";
import { callerAddress } from "./caller-address.ts";
import { type Envelope, metaEnvelope } from "./envelope.ts";
import { nextLink } from "./page.ts";
import type { ResponseCache } from "./response-cache.ts";
import {
  type Answer,
  type Input,
  type Refusal,
  type Refused,
  type Route,
  successesOf,
} from "./route.ts";

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
};

/** Mounts the table. Routes of one path share its 405. */
export function mountRoutes<Context>(
  app: Express,
  routes: readonly Route<Context>[],
  context: Context,
  baseUrl: string,
  manner: ApiProfile = { envelope: metaEnvelope, prefix: "" },
): void {
  const paths = new Map<string, Methods>();
  for (const route of routes) {
    const path = manner.prefix + route.path;
    const methods = paths.get(path) ?? {};
    methods[route.method] = [...bodyParsers(route), handler(route, context, baseUrl, manner)];
    paths.set(path, methods);
  }
  for (const [path, methods] of staticPathsFirst([...paths])) servePath(app, path, methods);
}

/** A static path segment may match another path's parameter, so static paths are mounted first. */
function staticPathsFirst(paths: readonly [string, Methods][]): [string, Methods][] {
  return paths.toSorted(
    ([one], [other]) => Number(one.includes("{")) - Number(other.includes("{")),
  );
}

/** Every body is parsed as JSON, whatever its Content-Type: callers forget the header. */
function bodyParsers<Context>({ body, maxBodyBytes = 16_384 }: Route<Context>): RequestHandler[] {
  return body === undefined ? [] : [express.json({ type: () => true, limit: maxBodyBytes })];
}

function handler<Context>(
  route: Route<Context>,
  context: Context,
  baseUrl: string,
  { envelope, challenge, cache }: ApiProfile,
): RequestHandler {
  const refuse = (response: Response, rejection: Refused) => {
    const refusal = route.refuses[rejection.rejected];
    if (refusal === undefined)
      throw new Error(`${route.path} does not declare ${rejection.rejected}`);
    sendRefusal(response, refusal, rejection, challenge);
  };
  if (route.method === "post") {
    return async (request, response) => {
      const answer = await route.answer(inputOf(request), context);
      if (isRejection(answer)) refuse(response, answer);
      else sendResult(response, statusOf(answer, route), bodyOf(answer, envelope));
    };
  }
  const make = async (request: Request, given: Context): Promise<Document | Refused> => {
    const answer = await route.answer(inputOf(request), given);
    if (isRejection(answer)) return answer;
    const link = nextLink(baseUrl, request.originalUrl, answer.meta);
    const maxAgeSeconds = answer.maxAgeSeconds ?? route.maxAgeSeconds;
    const { isVolatile = false } = answer;
    return jsonDocument(bodyOf(answer, envelope), { link, maxAgeSeconds, isVolatile });
  };
  const responses = route.isCacheable === true ? cache : undefined;
  return async (request, response) => {
    const made = await (responses === undefined
      ? make(request, context)
      : responses.get(request.originalUrl, (now) => make(request, { ...context, now: () => now })));
    if (isRejection(made)) refuse(response, made);
    else await sendDocument(request, response, made);
  };
}

function inputOf(request: Request): Input {
  const { params, query, body } = request;
  return { params, query, body, address: callerAddress(request) };
}

function sendRefusal(
  response: Response,
  refusal: Refusal,
  rejection: Refused,
  challenge: string | undefined,
): void {
  const { retryAfterSeconds } = rejection;
  if (refusal === 401 && challenge !== undefined) response.set("WWW-Authenticate", challenge);
  if (retryAfterSeconds !== undefined) response.set("Retry-After", String(retryAfterSeconds));
  if (typeof refusal === "number") sendRejection(response, refusal, rejection);
  else sendRejection(response, refusal.status, rejection, { retry: refusal.retry });
}

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
