import type { ErrorRequestHandler, Express, Request, RequestHandler, Response } from "express";
import type { Logger } from "pino";
import { sendText } from "#api/http/answer.ts";
import { databaseRefusal } from "#api/http/failures.ts";
import { type Limiter, limitPages } from "#api/http/limit.ts";
import { servePath } from "#api/http/mount.ts";
import { loggedPath, requestIdOf } from "#api/http/request.ts";
import { pageHeaders } from "#api/http/security.ts";
import * as account from "./account.ts";
import * as ownData from "./account.ts";
import { showKey } from "./key.ts";
import * as keys from "./keys.ts";
import { type Developers, refusalPage } from "./layout.ts";
import { afterProof } from "./reauthenticate.ts";
import * as factor from "./second-factor.ts";
import { developerHeaders, serveDeveloperPage, serveSignedIn } from "./serve-page.ts";
import { showSignIn, submitCode, submitSignIn } from "./sign-in.ts";
import * as link from "./sign-up.ts";
import { showConfirm, submitConfirm } from "./sign-up.ts";
import { developerStyle } from "./style.ts";

/** The favicon: a key. */
const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#0b57d0"/><g fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round"><circle cx="11.5" cy="20.5" r="4.5"/><path d="M15 17 24 8m-4 4 3.5 3.5"/></g></svg>
`;

/** Optional behaviour of the pages: copy buttons, no double submit, reload without sending the form again. */
const script = `for (const button of document.querySelectorAll("[data-copy]")) {
  const source = document.getElementById(button.dataset.copy);
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(source.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(source);
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
}
for (const form of document.querySelectorAll("form")) {
  form.addEventListener("submit", (event) => {
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "yes";
    // The page stays when a file answers: no other one will release the form.
    if ("downloads" in form.dataset) setTimeout(() => { delete form.dataset.sent; }, 2000);
  });
}
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form")) delete form.dataset.sent;
});
if (document.body.dataset.home) history.replaceState(null, "", document.body.dataset.home);
`;

/** Pages for everybody. */
const openPages = [
  ["/developers/sign-in", showSignIn, submitSignIn],
  ["/developers/sign-up", link.showSignUp, link.submitSignUp],
  ["/developers/forgot", link.showForgot, link.submitForgot],
  ["/developers/confirm", showConfirm, submitConfirm],
] as const;

/** Pages for signed-in users. */
const pages = [
  ["/developers", keys.showKeys],
  ["/developers/keys/{id}", showKey],
  ["/developers/account", account.showAccount],
] as const;

const forms = [
  ["/developers/sign-out", account.submitSignOut],
  ["/developers/keys", afterProof(keys.submitKey)],
  ["/developers/keys/{id}/rotate", afterProof(keys.submitRotation)],
  ["/developers/keys/{id}/revoke", keys.submitRevocation],
  ["/developers/client-key", afterProof(keys.submitClientKey)],
  ["/developers/client-key/revoke", keys.submitClientKeyRevocation],
  ["/developers/tokens/{id}/revoke", keys.submitTokenRevocation],
  ["/developers/account/password", account.submitPassword],
  ["/developers/account/second-factor", afterProof(factor.submitSecondFactor)],
  ["/developers/account/second-factor/confirm", afterProof(factor.submitFirstCode)],
  ["/developers/account/second-factor/end", afterProof(factor.submitSecondFactorEnd)],
  ["/developers/account/second-factor/recovery-codes", afterProof(factor.submitRecoveryCodes)],
  ["/developers/account/export", afterProof(ownData.submitExport, { downloads: true })],
  ["/developers/account/delete", afterProof(ownData.submitDeletion)],
  ["/developers/sessions/{id}/end", account.submitSessionEnd],
  ["/developers/sessions/end-others", account.submitOtherSessionsEnd],
] as const;

const assets = [
  ["/developers/style.css", "text/css; charset=utf-8", developerStyle],
  ["/developers/script.js", "text/javascript; charset=utf-8", script],
  ["/developers/icon.svg", "image/svg+xml", icon],
] as const;

/** Mounts the developer pages: accounts, their keys and their sessions. */
export function mountDevelopers(
  app: Express,
  developers: Developers,
  { logger, limiter }: { readonly logger: Logger; readonly limiter?: Limiter | undefined },
): void {
  if (limiter !== undefined) app.use("/developers", limitPages(limiter, sendLimitedPage));
  for (const [path, get, post] of openPages)
    serveDeveloperPage(app, developers, path, { get, post });
  serveDeveloperPage(app, developers, "/developers/sign-in/code", { post: submitCode });
  for (const [path, get] of pages) serveSignedIn(app, developers, path, { get });
  for (const [path, post] of forms) serveSignedIn(app, developers, path, { post });
  for (const [path, type, text] of assets) {
    servePath(app, path, { get: [pageHeaders, fixed(type, text)] });
  }
  const errors = [handleOutage(logger), handleErrors(logger)];
  app.use("/developers", developerHeaders, handleUnknownPage, ...errors);
}

function sendLimitedPage(request: Request, response: Response): void {
  developerHeaders(request, response, () =>
    response.status(429).type("html").end(limitedPage.text),
  );
}

const limitedPage = refusalPage(
  "Too many requests",
  "Too many pages were requested from this address. Wait a minute.",
);

function fixed(type: string, text: string): RequestHandler {
  return (request, response) =>
    sendText(request, response, { type, text, cacheControl: "no-cache" });
}

const handleUnknownPage: RequestHandler = (_request, response) => {
  const page = refusalPage("Page not found", "There is no such developer page.");
  response.status(404).type("html").end(page.text);
};

const unavailable = refusalPage(
  "Unavailable at present",
  "The database cannot be reached. Try again in a few seconds.",
);

function handleOutage(logger: Logger): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    const refusal = databaseRefusal(error, { request, response, logger });
    if (refusal === undefined || response.headersSent) next(error);
    else response.status(503).type("html").end(unavailable.text);
  };
}

/** Errors of a page are answered with a page. */
function handleErrors(logger: Logger): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    if (response.headersSent) {
      next(error);
      return;
    }
    const status = error instanceof Error && "status" in error ? Number(error.status) : 500;
    const isClientError = status >= 400 && status < 500;
    const requestId = requestIdOf(response);
    if (!isClientError) {
      const { method } = request;
      const path = loggedPath(request);
      logger.error({ err: error, requestId, method, path }, "request failed");
    }
    const page = isClientError
      ? refusalPage("Invalid form", "The form is too large or malformed.")
      : refusalPage("Internal error", `Try again. Request id: ${requestId}`);
    response
      .status(isClientError ? status : 500)
      .type("html")
      .end(page.text);
  };
}
