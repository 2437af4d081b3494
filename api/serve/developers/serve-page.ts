import express, { type Express, type Request, type RequestHandler, type Response } from "express";
import { readSession } from "#api/accounts/sessions.ts";
import { callerAddress } from "#api/http/request.ts";
import { servePath } from "#api/http/mount.ts";
import { formTokenFor, hasOwnOrigin, isFormToken } from "./form-origin.ts";
import { developerHeaders } from "./headers.ts";
import { refusalPage } from "./layout.ts";
import type { Developers, OpenHandler, Reply, SignedInHandler, Visit } from "./page-handler.ts";
import { type SessionCookie, sessionCookie } from "./session-cookie.ts";

type Handlers<Handler> = { get?: Handler; post?: Handler };

/** Serves a page and its form without sign-in. */
export function servePage(
  app: Express,
  developers: Developers,
  path: string,
  handlers: Handlers<OpenHandler>,
): void {
  const { get, post } = handlers;
  const headers = [developerHeaders];
  servePath(app, path, {
    ...(get && { get: [...headers, answer(developers, get)] }),
    ...(post && { post: [...headers, formOf(developers), answer(developers, post)] }),
  });
}

/** Serves a page and its form to signed-in users, and redirects others to the sign-in page. */
export function serveSignedIn(
  app: Express,
  developers: Developers,
  path: string,
  { get, post }: Handlers<SignedInHandler>,
): void {
  servePage(app, developers, path, {
    ...(get && {
      get: async (all, visit, signedIn) => (signedIn ? get(all, visit, signedIn) : signInFirst),
    }),
    ...(post && {
      post: async (all, visit, signedIn) => {
        if (signedIn === null) return signInFirst;
        if (!isFormToken(visit.field("form"), signedIn.formToken)) return foreignForm;
        return post(all, visit, signedIn);
      },
    }),
  });
}

const signInFirst: Reply = { to: "/developers/sign-in", sessionToken: null };

const foreignForm: Reply = {
  status: 403,
  page: refusalPage(
    "This form was refused",
    "It was not sent from a page of this session. Go back, reload the page and try again.",
  ),
};

const readForm = express.urlencoded({ extended: false, limit: 16_384, parameterLimit: 50 });

/** Checks the origin of a form before its body is parsed. */
function formOf({ accounts: { baseUrl } }: Developers): RequestHandler {
  return (request, response, next) => {
    if (hasOwnOrigin(request, baseUrl)) readForm(request, response, next);
    else send(response, foreignForm, sessionCookie(baseUrl));
  };
}

function answer(developers: Developers, handle: OpenHandler): RequestHandler {
  const { db, clock, baseUrl } = developers.accounts;
  const cookie = sessionCookie(baseUrl);
  return async (request, response) => {
    const token = cookie.read(request.get("cookie"));
    const session = token === null ? null : await readSession(db, token, clock);
    const signedIn =
      token === null || session === null ? null : { session, formToken: formTokenFor(token) };
    send(response, await handle(developers, visitOf(request), signedIn), cookie);
  };
}

function visitOf(request: Request): Visit {
  const agent = request.get("user-agent") ?? "";
  return {
    visitor: { address: callerAddress(request), agent },
    parameter: (name) => textOf(request.params, name) || textOf(request.query, name),
    field: (name) => textOf(request.body, name),
    path: request.path,
    fields: textsOf(request.body),
  };
}

function textOf(fields: unknown, name: string): string {
  if (typeof fields !== "object" || fields === null || !Object.hasOwn(fields, name)) return "";
  const value: unknown = Reflect.get(fields, name);
  return typeof value === "string" ? value : "";
}

function textsOf(fields: unknown): ReadonlyMap<string, string> {
  const entries = Object.entries(fields ?? {});
  return new Map(
    entries.filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}

function send(response: Response, reply: Reply, cookie: SessionCookie): void {
  const { sessionToken } = reply;
  if (sessionToken === null) response.append("Set-Cookie", cookie.forget());
  else if (sessionToken !== undefined) response.append("Set-Cookie", cookie.keep(sessionToken));
  if ("to" in reply) {
    response.status(303).set("Location", reply.to).end();
    return;
  }
  if ("download" in reply) {
    const { name, data } = reply.download;
    response.set("Content-Disposition", `attachment; filename="${name}"`);
    response.type("json").end(`${JSON.stringify(data, null, 2)}\n`);
    return;
  }
  const { page, status = 200, retryAfterSeconds } = reply;
  if (retryAfterSeconds !== undefined) response.set("Retry-After", String(retryAfterSeconds));
  response.status(status).type("html").end(page.text);
}
