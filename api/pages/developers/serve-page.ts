import { createHash, timingSafeEqual } from "node:crypto";
import express, { type Express, type Request, type RequestHandler, type Response } from "express";
import helmet from "helmet";
import { maxAgeDays, readSession } from "#api/accounts/sessions.ts";
import { servePath } from "#api/http/mount.ts";
import { callerAddress } from "#api/http/request.ts";
import { pagePolicy } from "#api/http/security.ts";
import {
  type Developers,
  type DeveloperVisit,
  type OpenHandler,
  type Reply,
  refusalPage,
  type SignedInHandler,
} from "./layout.ts";

type Handlers<Handler> = { get?: Handler; post?: Handler };

/** Serves a page and its form without sign-in. */
export function serveDeveloperPage(
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
  serveDeveloperPage(app, developers, path, {
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

function visitOf(request: Request): DeveloperVisit {
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

/** The cookie with the session token. On https the `__Host-` prefix keeps other hosts of the domain from setting it. */
function sessionCookie(baseUrl: string) {
  const isSecure = baseUrl.startsWith("https:");
  const name = isSecure ? "__Host-session" : "session";
  const write = (value: string, seconds: number) =>
    [
      `${name}=${value}`,
      "Path=/",
      `Max-Age=${seconds}`,
      "HttpOnly",
      "SameSite=Lax",
      ...(isSecure ? ["Secure"] : []),
    ].join("; ");
  return {
    /** The token of a request; null when it has none, or more than one. */
    read(header: string | undefined): string | null {
      const values = (header ?? "")
        .split(";")
        .map((pair) => pair.trim())
        .filter((pair) => pair.startsWith(`${name}=`))
        .map((pair) => pair.slice(name.length + 1));
      return values.length === 1 ? (values[0] ?? null) : null;
    },
    keep: (token: string) => write(token, maxAgeDays * 86_400),
    forget: () => write("", 0),
  };
}

type SessionCookie = ReturnType<typeof sessionCookie>;

/**
 * Whether a form was sent from one of our own pages, by `Sec-Fetch-Site` and `Origin`. A client that sends no origin
 * is refused. Proxies may change the host, so the configured one is accepted as well.
 */
export function hasOwnOrigin(request: Request, baseUrl: string): boolean {
  const site = request.get("sec-fetch-site");
  if (site !== undefined && site !== "same-origin") return false;
  const origin = request.get("origin");
  if (origin === undefined || !URL.canParse(origin)) return false;
  const [from, ours] = [new URL(origin), new URL(baseUrl)];
  const isOurHost = from.host === ours.host || from.host === request.get("host");
  return isOurHost && from.protocol === ours.protocol;
}

/** The CSRF token of a session's forms. It does not reveal the session token. */
const formTokenFor = (sessionToken: string): string =>
  createHash("sha256").update(`form of ${sessionToken}`).digest("base64url");

function isFormToken(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}

const secure = helmet({
  contentSecurityPolicy: pagePolicy({ "img-src": ["'self'"], "form-action": ["'self'"] }),
  // Without a referrer browsers send "null" as the origin of a form.
  referrerPolicy: { policy: "same-origin" },
});

/**
 * For pages with secrets: not stored, not readable by other sites, and not compressed, since the compressed length
 * could reveal a secret next to text chosen by an attacker (BREACH).
 */
export const developerHeaders: RequestHandler = (request, response, next) => {
  response.removeHeader("Access-Control-Allow-Origin");
  response.removeHeader("Access-Control-Expose-Headers");
  response.set("Cache-Control", "no-store, no-transform");
  secure(request, response, next);
};
