import type { ErrorRequestHandler, Express, RequestHandler } from "express";
import type { Logger } from "pino";
import { sendText } from "../http/answer.ts";
import { servePath } from "../http/mount.ts";
import { requestIdOf } from "../http/request-id.ts";
import { pageHeaders } from "../http/security.ts";
import * as account from "./account.ts";
import * as link from "./ask-for-link.ts";
import { showConfirm, takeConfirm } from "./confirm.ts";
import { developerHeaders } from "./headers.ts";
import { icon } from "./icon.ts";
import * as keys from "./keys.ts";
import { refusalPage } from "./layout.ts";
import { script } from "./script.ts";
import { servePage, serveSignedIn } from "./serve-page.ts";
import { showSignIn, takeSignIn } from "./sign-in.ts";
import { developerStyle } from "./style.ts";
import type { Developers } from "./visit.ts";

/** For everybody. */
const openPages = [
  ["/developers/sign-in", showSignIn, takeSignIn],
  ["/developers/sign-up", link.showSignUp, link.takeSignUp],
  ["/developers/forgot", link.showForgot, link.takeForgot],
  ["/developers/confirm", showConfirm, takeConfirm],
] as const;

/** For who is signed in. */
const pages = [
  ["/developers", keys.showKeys],
  ["/developers/account", account.showAccount],
] as const;

const forms = [
  ["/developers/sign-out", account.takeSignOut],
  ["/developers/keys", keys.takeKey],
  ["/developers/keys/{id}/rotate", keys.takeRotation],
  ["/developers/keys/{id}/revoke", keys.takeRevocation],
  ["/developers/client-key", keys.takeClientKey],
  ["/developers/client-key/revoke", keys.takeClientKeyRevocation],
  ["/developers/tokens/{id}/revoke", keys.takeTokenRevocation],
  ["/developers/account/password", account.takePassword],
  ["/developers/sessions/{id}/end", account.takeSessionEnd],
  ["/developers/sessions/end-others", account.takeOtherSessionsEnd],
] as const;

const assets = [
  ["/developers/style.css", "text/css; charset=utf-8", developerStyle],
  ["/developers/script.js", "text/javascript; charset=utf-8", script],
  ["/developers/icon.svg", "image/svg+xml", icon],
] as const;

/** The developer section: accounts, their keys and their sessions. */
export function mountDevelopers(app: Express, developers: Developers, logger: Logger): void {
  for (const [path, get, post] of openPages) servePage(app, developers, path, { get, post });
  for (const [path, get] of pages) serveSignedIn(app, developers, path, { get });
  for (const [path, post] of forms) serveSignedIn(app, developers, path, { post });
  for (const [path, type, text] of assets) {
    servePath(app, path, { get: [pageHeaders, fixed(type, text)] });
  }
  app.use("/developers", developerHeaders, answerUnknownPage, answerFaults(logger));
}

function fixed(type: string, text: string): RequestHandler {
  return (request, response) =>
    sendText(request, response, { type, text, cacheControl: "no-cache" });
}

const answerUnknownPage: RequestHandler = (_request, response) => {
  const page = refusalPage("Nothing is here", "There is no such page in the developer section.");
  response.status(404).type("html").end(page.text);
};

/** What goes wrong in a page is told in a page. */
function answerFaults(logger: Logger): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    if (response.headersSent) {
      next(error);
      return;
    }
    const status = error instanceof Error && "status" in error ? Number(error.status) : 500;
    const isTheirs = status >= 400 && status < 500;
    const requestId = requestIdOf(response);
    if (!isTheirs) {
      const { method, path } = request;
      logger.error({ err: error, requestId, method, path }, "request failed");
    }
    const page = isTheirs
      ? refusalPage("This cannot be read", "The form is too large or not well-formed.")
      : refusalPage(
          "Something failed on our side",
          `Try again. Number of the request: ${requestId}`,
        );
    response
      .status(isTheirs ? status : 500)
      .type("html")
      .end(page.text);
  };
}
