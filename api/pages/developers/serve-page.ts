import { createHash } from "node:crypto";
import type { Express, Request, RequestHandler, Response } from "express";
import { maxAgeDays, readSession } from "#api/accounts/sessions.ts";
import { servePath } from "#api/http/mount.ts";
import { callerAddress } from "#api/http/request.ts";
import { isSameToken, pageInputOf, readOwnForm } from "../kit/page-input.ts";
import { sendHtml, websiteHeaders } from "../kit/serve-website.ts";
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
        if (!isSameToken(visit.field("form"), signedIn.formToken)) return foreignForm;
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

/** Checks the origin of a form before its body is parsed. */
const formOf = ({ accounts: { baseUrl } }: Developers): RequestHandler =>
  readOwnForm(baseUrl, (_request, response) => send(response, foreignForm, sessionCookie(baseUrl)));

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
  return { ...pageInputOf(request), visitor: { address: callerAddress(request), agent } };
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
  sendHtml(response, page, status);
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

/** The CSRF token of a session's forms. It does not reveal the session token. */
const formTokenFor = (sessionToken: string): string =>
  createHash("sha256").update(`form of ${sessionToken}`).digest("base64url");

/**
 * For pages with secrets: not stored, not readable by other sites, and not compressed, since the compressed length
 * could reveal a secret next to text chosen by an attacker (BREACH).
 */
export const developerHeaders = websiteHeaders({
  cacheControl: "no-store, no-transform",
  // Without a referrer browsers send "null" as the origin of a form.
  referrer: "same-origin",
  // The script asks the API for the message that a wallet signs.
  sources: { "connect-src": ["'self'"] },
});
