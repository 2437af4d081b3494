import type { Express, Request, RequestHandler, Response } from "express";
import type { Logger } from "pino";
import { type Limiter, limitPages } from "#api/http/limit.ts";
import { answerFaults, mountAssets, sendHtml, sharedAsset } from "../kit/serve-website.ts";
import * as account from "./account.ts";
import * as ownData from "./account.ts";
import { showKey } from "./key.ts";
import * as keys from "./keys.ts";
import { type Developers, developerSite, refusalPage } from "./layout.ts";
import { submitNewPasskey, submitPasskey, submitPasskeyRemoval } from "./passkeys.ts";
import { afterProof } from "./reauthenticate.ts";
import * as factor from "./second-factor.ts";
import { developerHeaders, serveDeveloperPage, serveSignedIn } from "./serve-page.ts";
import { showSignIn, submitCode, submitSignIn, submitWalletSignIn } from "./sign-in.ts";
import * as link from "./sign-up.ts";
import { showConfirm, submitConfirm } from "./sign-up.ts";
import * as wallets from "./wallets.ts";
import * as webhook from "./webhook.ts";
import { showWebhooks, submitWebhook } from "./webhooks.ts";

/** The favicon: a key. */
const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#0b57d0"/><g fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round"><circle cx="11.5" cy="20.5" r="4.5"/><path d="M15 17 24 8m-4 4 3.5 3.5"/></g></svg>
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
  ["/developers/webhooks", showWebhooks],
  ["/developers/webhooks/{id}", webhook.showWebhook],
  ["/developers/account", account.showAccount],
] as const;

const forms = [
  ["/developers/sign-out", account.submitSignOut],
  ["/developers/keys", afterProof(keys.submitKey)],
  ["/developers/keys/{id}/rotate", afterProof(keys.submitRotation)],
  ["/developers/keys/{id}/revoke", keys.submitRevocation],
  ["/developers/new-webhook", afterProof(submitWebhook)],
  ["/developers/webhooks/{id}/test", webhook.submitWebhookTest],
  ["/developers/webhooks/{id}/change", webhook.submitWebhookChange],
  ["/developers/webhooks/{id}/replay", webhook.submitWebhookReplay],
  ["/developers/webhooks/{id}/enable", webhook.submitWebhookEnabling],
  ["/developers/webhooks/{id}/disable", webhook.submitWebhookDisabling],
  ["/developers/webhooks/{id}/rotate", afterProof(webhook.submitWebhookRotation)],
  ["/developers/webhooks/{id}/delete", webhook.submitWebhookDeletion],
  ["/developers/client-key", afterProof(keys.submitClientKey)],
  ["/developers/client-key/revoke", keys.submitClientKeyRevocation],
  ["/developers/tokens/{id}/revoke", keys.submitTokenRevocation],
  ["/developers/account/password", account.submitPassword],
  ["/developers/account/second-factor", afterProof(factor.submitSecondFactor)],
  ["/developers/account/second-factor/confirm", afterProof(factor.submitFirstCode)],
  ["/developers/account/second-factor/end", afterProof(factor.submitSecondFactorEnd)],
  ["/developers/account/second-factor/recovery-codes", afterProof(factor.submitRecoveryCodes)],
  ["/developers/account/passkeys", afterProof(submitPasskey)],
  ["/developers/account/passkeys/confirm", afterProof(submitNewPasskey)],
  ["/developers/account/passkeys/{id}/remove", afterProof(submitPasskeyRemoval, { always: true })],
  ["/developers/account/wallets", afterProof(wallets.submitWallet)],
  ["/developers/account/wallets/{id}/unlink", afterProof(wallets.submitUnlinking)],
  ["/developers/account/export", afterProof(ownData.submitExport, { downloads: true })],
  ["/developers/account/delete", afterProof(ownData.submitDeletion)],
  ["/developers/sessions/{id}/end", account.submitSessionEnd],
  ["/developers/sessions/end-others", account.submitOtherSessionsEnd],
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
  serveDeveloperPage(app, developers, "/developers/sign-in/wallet", { post: submitWalletSignIn });
  for (const [path, get] of pages) serveSignedIn(app, developers, path, { get });
  for (const [path, post] of forms) serveSignedIn(app, developers, path, { post });
  const files = {
    icon,
    styles: ["base.css", "developers.css"].map(sharedAsset),
    script: sharedAsset("developers.js"),
    modules: ["copy.js", "passkey.js", "wallet-sign-in.js", "client.js"],
  };
  mountAssets(app, developerSite, files, developerHeaders);
  const faults = answerFaults(logger, (_request, response, { title, why, status }) =>
    sendHtml(response, refusalPage(title, why), status),
  );
  app.use("/developers", developerHeaders, handleUnknownPage, faults);
}

function sendLimitedPage(request: Request, response: Response): void {
  developerHeaders(request, response, () => sendHtml(response, limitedPage, 429));
}

const limitedPage = refusalPage(
  "Too many requests",
  "Too many pages were requested from this address. Wait a minute.",
);

const unknownPage = refusalPage("Page not found", "There is no such developer page.");

const handleUnknownPage: RequestHandler = (_request, response) =>
  sendHtml(response, unknownPage, 404);
